// Package library draws a workspace's pictures and videos: the page that finds
// them, one of them with all that is known of it, the forms that change them, and
// where files are put. Cards are drawn alike wherever they come from, so that a
// part that is fetched again cannot differ from the page. Start with Page in
// page.templ.
package library
