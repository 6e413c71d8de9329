// Package delivery draws how posts went out: on time, late or not at all, and how
// long approvals took. Every picture has a table beside it that says the same. Start
// with delivery.templ.
package delivery
