// Package find draws what answers to a few words: places, clients, posts and
// days, and the keys that lead to them. It is a page of its own and, where script
// runs, a dialog over any page. Start with find.templ.
package find
