// Package calendar draws what is planned: the month, the list by day, and the
// list of posts, with the filters they share. A handler has chosen zone, words
// and addresses; every link holds view, date and filters, so that a page can be
// kept, sent and gone back to. On a phone the month becomes a list of the days
// that have something. Start with month.templ and filter.templ.
package calendar
