package db

import "slices"

// What a target shows in lists is one word made of its own state and the review
// of its post: a draft that is being approved shows that, and one that was
// approved says so. A worker's hand on it shows as publishing, and what somebody holds
// as held, whether its time has come or not.
const targetShows = `
	CASE WHEN t.state IN ` + holdable + ` AND EXISTS (SELECT FROM tenant.post_holds ph WHERE ph.tenant_id = t.tenant_id AND ph.post_id = t.post_id AND ph.client_id = t.client_id AND ph.ended_at IS NULL) THEN 'held'
	     WHEN t.state IN ('draft', 'invalid') AND p.review IN ('in_review', 'changes_requested') THEN p.review
	     WHEN t.state = 'ready' THEN 'approved' WHEN t.state = 'queued' THEN 'publishing' ELSE t.state END`

// targetWords are the first words of the version that the target carries, which an
// edit after it was sent does not change. Where all clients are asked for ($2), a
// target of the newest version is spoken of in the post's own words, which cost
// nothing to read; else they may be another client's alone. It needs calendarTables.
const targetWords = `
	CASE WHEN $2 AND ov.content IS NULL THEN p.excerpt ELSE coalesce(tenant.words_of(ov.content, t.network), '') END`

// postWords and postWordsOf are the words of a post p in lists, for who sees all
// clients or only some of them: what the targets that they see carry. What nobody is
// asked to publish is its writer's. They go around the two arguments that say so:
// `CASE WHEN $2 THEN` + postWords + `$3` + postWordsOf.
const (
	postWords = ` p.excerpt WHEN EXISTS (SELECT FROM tenant.targets wt WHERE wt.tenant_id = p.tenant_id AND wt.post_id = p.id) THEN coalesce((
		SELECT string_agg(DISTINCT tenant.words_of(wv.content, wt.network), ' / ')
		  FROM tenant.targets wt JOIN tenant.post_versions wv ON wv.tenant_id = wt.tenant_id AND wv.id = wt.version_id
		 WHERE wt.tenant_id = p.tenant_id AND wt.post_id = p.id AND (wt.state <> 'cancelled' OR wt.version_id = p.current_version_id)
		   AND wt.client_id = ANY (`
	postWordsOf = `)), '') ELSE p.excerpt END`
)

// Shown lists every word that a target may show, in the order in which people
// look for them: what needs somebody first.
func Shown() []string {
	return []string{"failed", "unknown_outcome", "needs_reconnect", "held", "retry_scheduled", "changes_requested", "in_review", "invalid", "draft",
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
	for _, s := range []string{"held", "retry_scheduled", "scheduled", "invalid", "changes_requested", "in_review", "draft"} {
		if has(s) {
			return s
		}
	}
	return live[0]
}
