// Package mastodon publishes to Mastodon, and to servers that speak its API, at
// the address that each account names. The server is chosen by a user, so every
// call goes through the guarded client.
//
// Commit call: POST /api/v1/statuses, with an Idempotency-Key that is the same
// over all attempts of a job. The server honours it for an hour; look-alikes may
// not, so nothing here rests on it alone: from 55 minutes after the first
// commit, Prepare looks for the post before another one is made.
//
// Handles: media_N (uploaded, being processed) with
// media_N_since, media_N_ready (may be attached), absent_at (when a look-up
// proved that there is no post), live (a post of ours that Prepare came upon),
// part_N of a thread and comment, each with _began. Those of files are noted, and
// first_commit (when the key began to count) is kept with the move to in flight, so
// that a post waits for nothing else.
//
// What a look-up can prove: see Find. Start with Prepare, then Commit.
package mastodon
