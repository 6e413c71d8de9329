// Package jobs is the pipeline that brings a scheduled target onto its network
// exactly once:
//
//	relay      outbox events of every shard -> the dispatch index
//	dispatch   due rows of the index        -> publish tasks, two seconds ahead
//	publish    hold, guards and claim       -> Prepare, Commit, result
//	reconcile  unknown outcomes             -> ask the network what became of them
//	follow_up  permalink, first comment     -> never turns a success into a failure
//	sweep      whatever was lost on the way -> back onto it
//
// Postgres holds the truth; a task is a reminder that carries ids, may run twice
// and may vanish. Each asynq face decodes and calls a verb that takes plain
// arguments, and the verbs are what tests call. Start with publish.go.
package jobs
