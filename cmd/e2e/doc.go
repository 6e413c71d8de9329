// Package e2e is Herald in a browser: the whole app in this process, the web and
// the worker with its scheduler, on a real Postgres with two shards and a real
// Redis, with the simulated networks and a mailbox, and a headless Chromium in
// front. Every test has an agency of its own, so tests do not meet.
//
// A test fails if a page it visits breaks its own policy, throws, or logs an
// error. The window of a failed test is kept as a picture in shots/.
//
// Start with town_test.go, which is what runs, and agency_test.go, which is who
// there is; tab_test.go is how pages are used; story_test.go is the main story.
package e2e
