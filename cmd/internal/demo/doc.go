// Package demo is herald demo: all of Herald in one process, with a Postgres and
// a Redis of its own, simulated networks, a mailbox page, and an agency with a
// month of work.
//
// It promises that the data stays in its folder and is there again after any end,
// a kill included; that two demos never share a folder; and that it touches
// nothing in a folder that is not its own. The past month is not painted on: the
// demo's people do their work by a clock that begins 16 days ago and moves to
// now, what falls due meanwhile goes through the real pipeline to the simulated
// networks, and the mails go out at their times.
//
// Start with Start in demo.go; history.go moves the clock; agency.yaml and
// posts.yaml say who there is and what they wrote.
package demo
