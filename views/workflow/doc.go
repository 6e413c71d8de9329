// Package workflow draws the list of clients with how their posts are approved, and
// the editor of one. Start with workflow.templ.
package workflow
