// Package imports draws tables of posts that people bring along: the list of them,
// what each column means, how far one is, and what became of its rows. Start with
// imports.templ.
package imports
