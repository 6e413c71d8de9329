package linkedin

import (
	"cmp"
	"encoding/json"
	"regexp"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

const (
	duplicateCode = "DUPLICATE_POST"
	refused       = "{network} did not take a part of the post."
	reconnect     = "{network} no longer accepts this connection. Reconnect the account."
	twin          = "{network} says that this author posted the same a short while ago. Change the text."
	outdated      = "Herald speaks a version of {network}'s API that has ended. The operator has to set HERALD_LINKEDIN_VERSION to a newer one."
)

// table is what LinkedIn's refusals mean.
var table = rest.Table{Network: "LinkedIn", Read: read, Rows: []rest.Row{
	{Code: "FIELD_LENGTH_TOO_LONG", Kind: fault.Validation, Say: "The text is longer than {network} takes: 3,000 characters, of which brackets and the other signs of its markup count twice. Shorten it."},
	{Code: "MISSING_FIELD", Kind: fault.Validation, Quote: true, Say: refused},
	{Code: "INVALID_VALUE_FOR_FIELD", Kind: fault.Validation, Quote: true, Say: refused},
	{Code: "INVALID_VALUE_BLANK_FIELD", Kind: fault.Validation, Quote: true, Say: refused},
	{Code: "INVALID_URN_TYPE", Kind: fault.Validation, Quote: true, Say: refused},
	{Code: "INVALID_URN_ID", Kind: fault.Validation, Quote: true, Say: refused},
	{Code: "VERSION_MISSING", Kind: fault.Validation, Say: outdated},
	{Code: "EXPIRED_UPLOAD_URL", Kind: fault.Transient, Say: "The upload to {network} took too long; Herald begins it anew."},
	{Code: "MEDIA_ASSET_WAITING_UPLOAD", Kind: fault.Transient, Say: "{network} is still working on the media, and nothing was published; Herald tries again."},
	{Code: "MEDIA_ASSET_PROCESSING_FAILED", Kind: fault.Validation, Say: "{network} could not work on a file. Export it anew, videos as MP4, pictures as JPEG or PNG and documents as PDF."},
	{Status: 401, Kind: fault.Auth, Say: reconnect, Name: "unauthorized"},
	{Code: "EMPTY_ACCESS_TOKEN", Kind: fault.Auth, Say: reconnect},
	{Code: "REVOKED_ACCESS_TOKEN", Kind: fault.Auth, Say: reconnect},
	{Code: "EXPIRED_ACCESS_TOKEN", Kind: fault.Auth, Say: reconnect},
	{Status: 403, Kind: fault.Permission, Name: "ACCESS_DENIED", Say: "{network} does not let this connection do that. Reconnect the account as a member who may post for it, and grant everything that is asked."},
	{Status: 404, Kind: fault.Validation, Name: "NOT_FOUND", Say: "{network} does not find what the post refers to."},
	{Status: 409, Kind: fault.Transient, Commit: fault.Unknown, Name: "CONFLICT", Say: "{network} was busy with the same post."},
	{Code: duplicateCode, Kind: fault.Validation, Duplicate: true, Say: twin},
	{Status: 422, Words: []string{"duplicate of urn:li:"}, Kind: fault.Validation, Duplicate: true, Name: duplicateCode, Say: twin},
	{Status: 422, Kind: fault.Validation, Quote: true, Name: "UNPROCESSABLE_ENTITY", Say: refused},
	{Status: 426, Kind: fault.RateLimited, Everyone: true, Wait: time.Hour, Name: "NONEXISTENT_VERSION", Say: outdated},
	{Status: 429, Kind: fault.RateLimited, Until: tomorrow, Name: "TOO_MANY_REQUESTS", Say: "The day's limit of calls to {network} is used up; the post goes out after midnight UTC."},
	{Words: []string{"unable to obtain activity"}, Kind: fault.Transient, Commit: fault.Unknown, Name: "no_activity", Say: "{network} had a problem of its own."},
}}

// tomorrow is when LinkedIn's quotas begin anew.
func tomorrow(now time.Time) time.Duration {
	return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
}

// read reads the refusal of an answer.
func read(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		Message string `json:"message"`
		Code    string `json:"code"`
		Status  int    `json:"status"`
		Details struct {
			Errors []struct {
				Code        string `json:"code"`
				Description string `json:"description"`
			} `json:"inputErrors"`
		} `json:"errorDetails"`
	}
	if a.OK() || json.Unmarshal(a.Body, &body) != nil || body.Message == "" && body.Code == "" && body.Status == 0 {
		return rest.Problem{}, false
	}
	p := rest.Problem{Code: body.Code, Message: body.Message}
	if list := body.Details.Errors; len(list) > 0 {
		p.Code, p.Message = list[0].Code, cmp.Or(p.Message, list[0].Description)
	}
	return p, true
}

var postURN = regexp.MustCompile(`urn:li:(share|ugcPost|activity):[0-9]{1,25}`)

// postNamed is the post that a refusal names, or "".
func postNamed(body []byte) string { return string(postURN.Find(body)) }
