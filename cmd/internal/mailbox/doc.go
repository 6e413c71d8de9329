// Package mailbox is the demo's mail: a real SMTP server that takes every mail
// and delivers none, and a page where a person reads them. It listens on this
// machine only and forgets all but the newest 500; Open keeps those in a folder.
// Nothing else but the demo and tests use it.
//
// Start with Start in mailbox.go; page.go has what a browser and a test see,
// keep.go what outlives a run.
package mailbox
