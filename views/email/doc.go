// Package email draws the mails: a subject, an HTML part and a plain text part
// that say the same, because both are made of one Letter. A kind of mail is one
// function that makes its Letter.
//
// A mail fetches nothing and tells nobody that it was read. It links to pages
// and never to a decision. Names and texts come from people: whatever they hold,
// a subject stays one line and the HTML part shows text as text.
//
// Start with Letter in letter.go; approval.go and notice.go have the kinds.
package email
