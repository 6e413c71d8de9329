package slack

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

const (
	refused = "{network} did not take the post."
	shut    = "{network} does not let the app post in this channel. Invite it there, or choose another channel."
	dead    = "The webhook or its channel is gone from {network}, or shut. Make a new one and reconnect the account."
	slow    = "{network} asked us to slow down; the post goes out later."
	broken  = "{network} had a problem of its own."
)

// table is what the Web API's refusals mean. They come as a 200, too.
var table = rest.Table{Network: "Slack", Inside: true, Read: read, Rows: append(
	rows(
		meaning{fault.Auth, "{network} no longer accepts this connection. Reconnect the account.", "not_authed invalid_auth account_inactive token_revoked token_expired two_factor_setup_required"},
		meaning{fault.Permission, shut, "not_in_channel channel_not_found is_archived restricted_action restricted_action_read_only_channel restricted_action_thread_only_channel " +
			"restricted_action_thread_locked restricted_action_non_threadable_channel no_permission not_allowed_token_type ekm_access_denied access_denied team_access_not_granted " +
			"org_login_required team_not_found app_access_restricted messages_tab_disabled send_on_behalf_not_allowed posting_to_general_channel_denied"},
		meaning{fault.Permission, "The connection lacks a permission at {network}. Reconnect the account and grant everything that is asked.", "missing_scope"},
		meaning{fault.Permission, "The workspace's plan at {network} takes no more messages.", "message_limit_exceeded"},
		meaning{fault.Validation, "There is nothing to post yet: write a text, or add a picture.", "no_text"},
		meaning{fault.Validation, "The text is longer than {network} takes. Shorten it.", "msg_too_long msg_blocks_too_long"},
		meaning{fault.Validation, refused, "invalid_blocks invalid_blocks_format too_many_attachments invalid_arg_name invalid_arguments invalid_json json_not_object markdown_text_conflict " +
			"metadata_too_large invalid_metadata_format invalid_metadata_schema metadata_must_be_sent_from_app cannot_reply_to_message missing_file_data attachment_payload_limit_exceeded " +
			"too_many_contact_cards slack_connect_file_link_sharing_blocked slack_connect_canvas_sharing_blocked slack_connect_lists_sharing_blocked"},
		meaning{fault.Transient, broken, "service_unavailable team_added_to_org"},
	),
	rest.Row{Code: "ratelimited", Kind: fault.RateLimited, Wait: time.Minute, Say: slow},
	rest.Row{Code: "rate_limited", Kind: fault.RateLimited, Wait: time.Minute, Say: slow},
	rest.Row{Status: 429, Kind: fault.RateLimited, Wait: time.Minute, Name: "ratelimited", Say: slow},
	rest.Row{Code: "fatal_error", Kind: fault.Transient, Commit: fault.Unknown, Say: broken},
	rest.Row{Code: "internal_error", Kind: fault.Transient, Commit: fault.Unknown, Say: broken},
	rest.Row{Code: "request_timeout", Kind: fault.Transient, Commit: fault.Unknown, Say: broken},
)}

// hookTable is what a webhook's refusals mean, which are words alone.
var hookTable = rest.Table{Network: "Slack", Read: readHook, Rows: append(
	rows(
		meaning{fault.Validation, refused, "invalid_payload no_text user_not_found too_many_attachments invalid_blocks invalid_blocks_format"},
		meaning{fault.Permission, dead, "action_prohibited invalid_token posting_to_general_channel_denied channel_not_found no_service no_service_id no_team team_disabled channel_is_archived"},
	),
	rest.Row{Status: 403, Kind: fault.Permission, Name: "forbidden", Say: dead},
	rest.Row{Status: 404, Kind: fault.Permission, Name: "not_found", Say: dead},
	rest.Row{Status: 410, Kind: fault.Permission, Name: "gone", Say: dead},
	rest.Row{Status: 429, Kind: fault.RateLimited, Wait: time.Minute, Name: "ratelimited", Say: slow},
	rest.Row{Code: "rollup_error", Kind: fault.Transient, Commit: fault.Unknown, Say: broken},
)}

// meaning is what several codes have in common.
type meaning struct {
	kind  fault.Kind
	say   string
	codes string
}

func rows(list ...meaning) (all []rest.Row) {
	for _, m := range list {
		for code := range strings.FieldsSeq(m.codes) {
			all = append(all, rest.Row{Code: code, Kind: m.kind, Say: m.say})
		}
	}
	return all
}

// read finds the refusal that any answer may hold. An answer without "ok" is none
// of Slack's.
func read(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		OK    *bool  `json:"ok"`
		Error string `json:"error"`
	}
	if json.Unmarshal(a.Body, &body) != nil || body.OK == nil {
		return rest.Problem{}, a.OK()
	}
	return rest.Problem{Code: body.Error}, !*body.OK
}

var word = regexp.MustCompile(`^[a-z_]{2,60}$`)

func readHook(a *httpx.Answer) (rest.Problem, bool) {
	said := strings.TrimSpace(string(a.Body[:min(len(a.Body), 100)]))
	switch {
	case a.OK():
		return rest.Problem{}, said != "ok"
	case word.MatchString(said):
		return rest.Problem{Code: said}, true
	}
	return rest.Problem{}, a.Status == http.StatusTooManyRequests
}
