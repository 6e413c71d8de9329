package bluesky

import (
	"encoding/json"
	"strconv"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// Codes that the adapter itself goes by.
const (
	blobGone   = "BlobNotFound"
	recordGone = "RecordNotFound"
)

// table is what the refusals of a server and of the video service mean. The name
// of an error decides.
var table = rest.Table{Network: "Bluesky", Read: read, Rows: []rest.Row{
	{Code: "InvalidRequest", Kind: fault.Validation, Quote: true, Say: "Bluesky did not take the post."},
	{Code: "InvalidRequest", Words: []string{"could not find blob"}, Kind: fault.Transient, Name: blobGone, Say: lost},
	{Code: "InvalidRequest", Words: []string{"could not find repo"}, Kind: fault.Permission, Name: "RepoNotFound", Say: "This server does not have the account. Correct the server's address, or reconnect the account."},
	{Code: "InvalidSwap", Kind: fault.Validation, Commit: fault.Unknown, Say: "Bluesky has another post at the place that was chosen for this one."},
	{Code: recordGone, Kind: fault.Validation, Say: "Bluesky does not find the post."},
	{Code: blobGone, Kind: fault.Transient, Say: lost},
	{Code: "BlobTooLarge", Kind: fault.Validation, Say: large},
	{Code: "PayloadTooLarge", Kind: fault.Validation, Say: large},
	{Code: "InvalidMimeType", Kind: fault.Validation, Say: "A file is not of a type that Bluesky takes. Save it as JPEG, PNG or WebP, or a video as MP4."},
	{Code: "ExpiredToken", Kind: fault.Auth, Say: dead},
	{Code: "InvalidToken", Kind: fault.Auth, Say: dead},
	{Code: "AuthMissing", Kind: fault.Auth, Say: dead},
	{Code: "AuthenticationRequired", Kind: fault.Auth, Say: "Bluesky does not accept the app password. Make a new one in Bluesky's settings and reconnect the account."},
	{Code: "AuthFactorTokenRequired", Kind: fault.Auth, Say: "Bluesky wants a code from an e-mail with this password. Make an app password in Bluesky's settings and reconnect the account with it."},
	{Code: "AccountTakedown", Kind: fault.Auth, Say: blocked},
	{Code: "AccountSuspended", Kind: fault.Auth, Say: blocked},
	{Code: "AccountDeactivated", Kind: fault.Auth, Say: "This Bluesky account was switched off. Switch it on in Bluesky, then reconnect it."},
	{Code: "use_dpop_nonce", Kind: fault.Transient, Say: "Bluesky asks for the call to be repeated."},
	{Status: 403, Kind: fault.Permission, Say: "This connection may not publish. Reconnect the account and grant everything that is asked."},
	{Status: 409, Kind: fault.Transient, Say: "Bluesky is still busy with the same video."},
	{Code: "RateLimitExceeded", Kind: fault.RateLimited, Say: "Bluesky asked us to slow down; the post goes out later."},
	{Code: "InternalServerError", Kind: fault.Transient, Commit: fault.Unknown, Say: broken},
	{Code: "UpstreamFailure", Kind: fault.Transient, Commit: fault.Unknown, Say: broken},
	{Code: "UpstreamTimeout", Kind: fault.Transient, Commit: fault.Unknown, Say: broken},
	{Code: "NotEnoughResources", Kind: fault.Transient, Commit: fault.Unknown, Say: broken},
	{Code: "MethodNotImplemented", Kind: fault.Validation, Say: "The server at this address is no Bluesky server. Correct the address in the account's settings."},
}}

const (
	lost    = "Bluesky no longer has an uploaded file; Herald uploads it again."
	large   = "A file is too large for Bluesky. Use a smaller one."
	dead    = "Bluesky no longer accepts the connection. Reconnect the account."
	blocked = "Bluesky has locked this account. Look for a notice in the account itself, then reconnect it."
	broken  = "Bluesky had a problem of its own."
)

// read reads the error of an answer: a name and words. What an answer asks to
// wait stands in its headers, as an instant where Retry-After is left out.
func read(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		Error   string `json:"error"`
		Message string `json:"message"`
	}
	if a.OK() || json.Unmarshal(a.Body, &body) != nil || body.Error == "" {
		return rest.Problem{}, false
	}
	p := rest.Problem{Code: httpx.SafeText(body.Error), Message: body.Message}
	if seconds, err := strconv.ParseInt(a.Header.Get("RateLimit-Reset"), 10, 64); err == nil && a.Header.Get("Retry-After") == "" {
		p.Wait = httpx.CapWait(time.Unix(seconds, 0).Sub(a.At))
	}
	return p, true
}
