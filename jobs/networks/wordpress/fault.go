package wordpress

import (
	"encoding/json"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

const (
	reconnect = "The site no longer accepts the login and its application password. Make a new one there and reconnect the account."
	mayNot    = "The site does not let this login do that. Give it the role of an author or an editor there."
	refused   = "The site did not take the post."
	upload    = "The site did not take the picture."
	noAPI     = "The site's API is not where Herald looks for it. Check the account's address, and that no plugin shuts the REST API."
)

// table is what WordPress' refusals mean.
var table = rest.Table{Network: "The site", Read: read, Rows: []rest.Row{
	{Status: 401, Kind: fault.Auth, Name: "unauthorized", Say: reconnect},
	{Status: 401, Code: "rest_cannot_create", Kind: fault.Auth, Say: "The site does not see Herald's password: a proxy or a plugin takes the Authorization header away. Ask whoever hosts the site, then reconnect the account."},
	{Code: "rest_not_logged_in", Kind: fault.Auth, Say: reconnect},
	{Code: "invalid_username", Kind: fault.Auth, Say: reconnect},
	{Code: "invalid_email", Kind: fault.Auth, Say: reconnect},
	{Code: "incorrect_password", Kind: fault.Auth, Say: reconnect},
	{Code: "application_passwords_disabled", Kind: fault.Auth, Say: "The site no longer allows application passwords. Have them allowed there, then reconnect the account."},
	{Status: 403, Kind: fault.Permission, Name: "forbidden", Say: mayNot},
	{Code: "rest_cannot_publish", Kind: fault.Permission, Say: mayNot},
	{Code: "rest_cannot_edit", Kind: fault.Permission, Say: mayNot},
	{Code: "rest_cannot_assign_term", Kind: fault.Permission, Say: mayNot},
	{Code: "rest_forbidden", Kind: fault.Permission, Say: mayNot},
	{Status: 400, Kind: fault.Validation, Name: "bad_request", Quote: true, Say: refused},
	{Code: "rest_invalid_param", Kind: fault.Validation, Quote: true, Say: refused},
	{Code: "rest_missing_callback_param", Kind: fault.Validation, Quote: true, Say: refused},
	{Code: "rest_invalid_json", Kind: fault.Validation, Quote: true, Say: refused},
	{Code: "rest_post_exists", Kind: fault.Validation, Quote: true, Say: refused},
	{Code: "term_exists", Kind: fault.Validation, Say: "The site has the tag already, under another spelling."},
	{Code: "rest_upload_no_data", Kind: fault.Validation, Say: upload},
	{Code: "rest_upload_no_content_type", Kind: fault.Validation, Say: upload},
	{Code: "rest_upload_no_content_disposition", Kind: fault.Validation, Say: upload},
	{Code: "rest_upload_invalid_disposition", Kind: fault.Validation, Say: upload},
	{Code: "rest_no_route", Kind: fault.Validation, Say: noAPI},
	{Code: "rest_post_invalid_id", Kind: fault.Validation, Say: "The site no longer has the draft."},
	{Code: "rest_upload_hash_mismatch", Kind: fault.Transient, Say: "The picture was damaged on its way."},
	{Status: 413, Kind: fault.Validation, Name: "too_large", Say: "The picture is larger than the site takes. Make it smaller."},
	{Code: "rest_upload_file_error", Kind: fault.Transient, Say: upload},
	{Code: "rest_upload_sideload_error", Kind: fault.Transient, Say: upload},
	{Code: "rest_upload_unknown_error", Kind: fault.Transient, Say: upload},
	{Code: "rest_upload_unknown_error", Words: []string{"not allowed to upload this file type"}, Kind: fault.Validation, Name: "file_type", Say: "The site does not take files of this type. Use a JPEG or a PNG."},
}}

// read reads the refusal of an answer. A page of HTML, whatever its status, comes
// from a host or a plugin in front, and is none.
func read(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	if a.OK() || json.Unmarshal(a.Body, &body) != nil || body.Code == "" {
		return rest.Problem{}, a.Status == 413
	}
	return rest.Problem{Code: body.Code, Message: body.Message}, true
}
