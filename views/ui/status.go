package ui

// A look is how a state shows: its word, its colour role and its shape. Each
// of the three is enough to tell it from its neighbours.
type look struct {
	word  string
	hue   string // role in tokens.css: --state-<hue>
	shape string // symbol in static/img/marks.svg: state-<shape>
}

// looks covers the states of targets and posts first, then those of approval
// requests and links, accounts, attempts, findings and media. A state that is
// not here shows as plain words.
var looks = map[string]look{
	"draft":             {"Draft", "draft", "draft"},
	"invalid":           {"Needs fixing", "invalid", "invalid"},
	"ready":             {"Ready", "ready", "ready"},
	"in_review":         {"Awaiting approval", "awaiting", "awaiting"},
	"changes_requested": {"Changes requested", "changes", "changes"},
	"approved":          {"Approved", "approved", "approved"},
	"scheduled":         {"Scheduled", "scheduled", "scheduled"},
	"queued":            {"Queued", "scheduled", "queued"},
	"publishing":        {"Publishing", "publishing", "publishing"},
	"published":         {"Published", "published", "published"},
	"partially_failed":  {"Partly failed", "partial", "partial"},
	"retry_scheduled":   {"Will retry", "retry", "retry"},
	"unknown_outcome":   {"Outcome unknown", "unknown", "unknown"},
	"needs_reconnect":   {"Needs reconnecting", "reconnect", "reconnect"},
	"failed":            {"Failed", "failed", "failed"},
	"held":              {"On hold", "changes", "paused"},
	"cancelled":         {"Cancelled", "cancelled", "cancelled"},

	"open":       {"Waiting", "awaiting", "awaiting"},
	"waiting":    {"Waiting", "awaiting", "awaiting"},
	"pending":    {"Waiting", "awaiting", "awaiting"},
	"rejected":   {"Rejected", "failed", "failed"},
	"superseded": {"Superseded", "cancelled", "cancelled"},
	"expired":    {"Expired", "cancelled", "cancelled"},
	"revoked":    {"Revoked", "cancelled", "cancelled"},

	"active":       {"Connected", "published", "published"},
	"ending":       {"Ends soon", "changes", "reconnect"},
	"paused":       {"Paused", "draft", "paused"},
	"suspended":    {"Suspended", "changes", "paused"},
	"disconnected": {"Disconnected", "cancelled", "reconnect"},
	"disabled":     {"Disabled", "cancelled", "cancelled"},

	"preparing":    {"Preparing", "publishing", "queued"},
	"in_flight":    {"In flight", "publishing", "publishing"},
	"transient":    {"Temporary failure", "retry", "retry"},
	"rate_limited": {"Asked to wait", "retry", "paused"},
	"auth":         {"Access refused", "reconnect", "reconnect"},
	"permission":   {"Permission missing", "failed", "failed"},
	"validation":   {"Not accepted", "failed", "failed"},
	"unknown":      {"Outcome unknown", "unknown", "unknown"},
	"abandoned":    {"Never sent", "cancelled", "cancelled"},

	"found":     {"Found", "published", "published"},
	"absent":    {"Not there", "retry", "retry"},
	"cant_tell": {"Can't tell", "unknown", "unknown"},
	"live":      {"Is live", "published", "published"},
	"not_live":  {"Is not live", "retry", "retry"},

	"uploading":   {"Uploading", "publishing", "queued"},
	"scanning":    {"Being checked", "publishing", "queued"},
	"processing":  {"Being prepared", "publishing", "publishing"},
	"making":      {"Being made", "publishing", "publishing"},
	"refused":     {"Refused", "failed", "failed"},
	"quarantined": {"Quarantined", "failed", "failed"},
}

func lookOf(state string) look {
	if l, ok := looks[state]; ok {
		return l
	}
	return look{humanise(state), "draft", "plain"}
}

// StatusWord is the word that people read for a state.
func StatusWord(state string) string { return lookOf(state).word }

// StatusHue is the colour role of a state, for data-hue on an element of the
// caller's own: a card, a bar, a row. CSS then finds --state, --state-soft and
// --state-ink set there.
func StatusHue(state string) string { return lookOf(state).hue }

// StatusShape is the mark of a state.
func StatusShape(state string) string { return "state-" + lookOf(state).shape }
