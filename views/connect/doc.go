// Package connect draws what somebody of a client sees who was sent a link to connect
// accounts: pages for a phone, complete without script, on which nothing else of the
// workspace shows. Start with connect.templ.
package connect
