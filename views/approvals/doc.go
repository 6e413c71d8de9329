// Package approvals draws the approval inbox, and the parts that the review page
// shares with it: what each account would get, what changed, and comments.
// Start with approvals.templ; parts.templ has what is shared.
package approvals
