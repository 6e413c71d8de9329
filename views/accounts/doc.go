// Package accounts draws where a client's posts go: the list of accounts with
// their state, the page of one with its forms, and the form that adds one. It
// never holds a token but once, in Secret, right after Herald made it. Start with
// Page in accounts.templ.
package accounts
