// Package sim is every simulated network: HTTP servers that hold to the facts
// of the real ones, keep state, show it to people, and can be told to fail in
// every way that matters. They are written from the facts and share nothing
// with the adapters. Start with New; engine.go decides what a fault does,
// and each network is one set of files on top of it.
//
// # Addresses
//
// A network lives under /NETWORK, with its own path and version behind it:
// /facebook/v25.0/{page}/feed, /instagram/v25.0/{ig}/media,
// /mastodon/api/v1/statuses, POST /webhook/{account}. The control API is under
// /_control (see control.go); / and /NETWORK are pages for people.
//
// # Accounts
//
// AddAccount and POST /_control/accounts declare an account with its token.
// Unless Options.Closed is set, an account that nobody declared works too, with
// any token, so that demos and outside tests need no set-up:
//
//   - Facebook and Instagram take the id from the path. Any number or word is a
//     page or an Instagram user.
//   - Mastodon knows an account by its token. A token written "ID:anything"
//     belongs to account ID; any other token gets an account of its own, whose
//     id verify_credentials tells. Asking such a token for the statuses of an id
//     that nobody has makes that id a second name of its account.
//   - Bluesky calls an account by its DID, which is its id here, and knows it by
//     its token as Mastodon does. The token that it was declared with is also the
//     app password that a session is made with.
//   - YouTube and TikTok know an account by its token, as Mastodon does.
//   - Of Bundle.social a team is the account; its posts stand there under its own
//     name, whichever network they are for.
//   - Of Blotato a connected account is one, whatever its network, and its key is its
//     token.
//   - GoHighLevel is as Blotato is; a location is whatever the path says, and has one user.
//   - A Telegram account with a former number is a group that became a supergroup:
//     who calls it by that number is told the new one.
//   - A webhook account's secret is DefaultSecret unless it was declared.
//   - A token that begins with "expired" or "revoked" is answered as the network
//     answers such a token; one that begins with "noscope" may read and not write.
//
// A declared account takes only its own tokens.
//
// # Faults
//
// A Fault names a network and a kind, and may name an account (by id, handle or
// name) and a step. Without Times it stays until it is taken away. Without Step
// it counts for commit if the kind stores first or rejects late, for prepare if
// it is about asynchronous objects, for find if it is about lists, and for every
// step otherwise. After lets so many matching calls pass first. Status, Body and
// Headers replace what the network would have said. Delay is the wait before
// the answer; for rate_limit it is the wait that the answer asks for, for
// late_reject the time until the post vanishes, for list_lag how old a post must
// be to be listed.
//
// # Limits
//
// The simulators are stricter than the real networks: parameters nobody
// documented, wrong content types and texts over the limit in the network's own
// unit are refused. The number of calls is counted and shown in the usage
// headers, and refused only if Knobs.CallLimit says so. Mailchimp alone refuses by itself:
// calls of a key above ten at once. What a network takes in a day is in force.
package sim
