// Package review answers a client's approver, who has a link and no account.
// No session exists here and no Scope: a ReviewScope is all a handler gets.
// Start with routes.go.
package review
