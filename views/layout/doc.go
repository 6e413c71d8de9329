// Package layout holds the two page shells: Shell for people at work in a
// workspace, Plain for everyone else (sign-in, review links, problems). They own
// the document head, the landmarks, the navigation and the notices region, and
// nothing about any one page. A handler gives them words, addresses and counts.
//
// Every page works without script. The head loads one style sheet, htmx and the
// behaviours of static/js; a page names further modules of its own in Modules.
package layout
