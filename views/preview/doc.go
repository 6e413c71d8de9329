// Package preview draws a post as the readers of its network will see it: laid
// out, cropped and folded as that network does, in Herald's own ink. Composer,
// approvals, review and the pages of posts all draw the same component, Post.
//
// Where a network folds and what it makes a link of are facts of the catalogue
// (network.Look); a template knows its layout alone. Networks that look alike share
// a family, one file each. Start with props.go, then post.templ.
package preview
