package declare

// keys are what each kind of thing may say. A test holds example.yaml to this
// table.
var keys = map[string][]string{
	"file":      {"plans", "users", "workspaces"},
	"plan":      {"name", "posts_a_month", "media_bytes"},
	"user":      {"email", "name", "zone", "password", "password_hash", "disabled"},
	"workspace": {"slug", "name", "zone", "plan", "shard", "state", "paused", "members", "labels", "notes", "clients"},
	"member":    {"user", "role", "clients", "remove"},
	"client": {"slug", "name", "zone", "late_cutoff", "time_is_material", "auto_schedule", "remind_after", "remind_every", "escalate_after", "escalate_to",
		"apart", "holidays", "paused", "archived", "labels", "notes", "approvers", "stages", "blackouts", "accounts"},
	"approver": {"email", "name", "remove"},
	"label":    {"name", "kind", "colour", "remove"},
	"note":     {"day", "words", "remove"},
	"stage":    {"name", "rule", "people"},
	"blackout": {"from", "to", "reason"},
	"account": {"slug", "network", "publisher", "handle", "remote_id", "address", "scopes", "settings", "token", "refresh_token", "token_expires",
		"state", "paused", "slots"},
}
