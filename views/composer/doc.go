// Package composer draws the screen where a post is written, and the page of a
// post: its editor or, for who may not write, what its accounts get; where each
// target stands; its approval and its versions.
//
// The editor is one form that works without script. Buttons that change the form
// without saving anything post to Paths.Form and bring back the whole page, or,
// with htmx, the parts that can change: Parts, Media, When, Check, Foot and one
// client's Group each carry the id they are swapped by. Start with page.templ.
package composer
