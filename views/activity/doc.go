// Package activity draws what people did in a workspace, a sentence a line, by
// day. The handler has made the sentences; start with Page.
package activity
