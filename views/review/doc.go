// Package review draws what a client's approver sees: one page behind an
// e-mailed link, made for a phone, complete without script. Start with
// review.templ.
package review
