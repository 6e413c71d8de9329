package db

import "slices"

// What a target shows in lists is one word made of its own state and the review
// of its post: a draft that is being approved shows that, and one that was
// approved says so. A worker's hand on it shows as publishing.
const targetShows = `
	CASE WHEN t.state IN ('draft', 'invalid') AND p.review IN ('in_review', 'changes_requested') THEN p.review
	     WHEN t.state = 'ready' THEN 'approved' WHEN t.state = 'queued' THEN 'publishing' ELSE t.state END`

// targetWords are the first words of the version that the target carries, which an
// edit after it was sent does not change. It needs calendarTables.
const targetWords = `
	CASE WHEN t.version_id = p.current_version_id THEN p.excerpt ELSE coalesce(tenant.words_of(ov.content, t.network), p.excerpt) END`

// Shown lists every word that a target may show, in the order in which people
// look for them: what needs somebody first.
func Shown() []string {
	return []string{"failed", "unknown_outcome", "needs_reconnect", "retry_scheduled", "changes_requested", "in_review", "invalid", "draft",
		"approved", "scheduled", "publishing", "published", "cancelled"}
}

// ShownTogether is the one word for several targets. Trouble is never hidden
// behind targets that went well or are still on their way.
func ShownTogether(shown []string) string {
	live := slices.DeleteFunc(slices.Clone(shown), func(s string) bool { return s == "cancelled" })
	if len(live) == 0 {
		if len(shown) > 0 {
			return "cancelled"
		}
		return "draft"
	}
	if slices.Equal(slices.Compact(slices.Sorted(slices.Values(live))), live[:1]) {
		return live[0]
	}
	has := func(s string) bool { return slices.Contains(live, s) }
	switch {
	case has("unknown_outcome"):
		return "unknown_outcome"
	case (has("failed") || has("needs_reconnect")) && !slices.ContainsFunc(live, func(s string) bool { return s != "failed" && s != "needs_reconnect" }):
		return "failed"
	case has("failed") || has("needs_reconnect"):
		return "partially_failed"
	case has("publishing") || has("published"):
		return "publishing"
	}
	for _, s := range []string{"retry_scheduled", "scheduled", "invalid", "changes_requested", "in_review", "draft"} {
		if has(s) {
			return s
		}
	}
	return live[0]
}
