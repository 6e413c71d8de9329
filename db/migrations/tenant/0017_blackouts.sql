-- +goose Up

-- A blackout holds for what was planned before it was declared: the claim puts
-- such a target off to the blackout's end, and from there its lateness counts.

-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- claim_targets as in 0014, with that guard among the first.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tenant.claim_targets(
	p_tenants bigint[], p_targets bigint[], p_versions bigint[], p_seqs bigint[], p_owners uuid[],
	p_now timestamptz, p_straight text[], p_guard_stale interval, p_refresh interval, p_late interval, p_grace interval,
	p_hold interval, p_account_cap integer, p_account_window interval
) RETURNS TABLE (
	tenant_id bigint, target_id bigint, verdict text, reason text, retry_at timestamptz,
	post_id bigint, client_id bigint, account_id bigint, network text, format text,
	attempt_no integer, attempts_used integer, limited_since timestamptz, due_at timestamptz, in_flight boolean,
	handle text, remote_id text, address text, settings jsonb, scopes text[], token bytea, refresh_token bytea, token_expires timestamptz,
	content bytea, media jsonb, handles jsonb
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
	judged tenant.judgement[];
	verdicts text[];
BEGIN
	PERFORM 1 FROM tenant.posts p
	  JOIN (SELECT DISTINCT t.tenant_id, t.post_id
	          FROM unnest(p_tenants, p_targets) AS a(tenant_id, target_id)
	          JOIN tenant.targets t ON t.tenant_id = a.tenant_id AND t.id = a.target_id) x
	    ON p.tenant_id = x.tenant_id AND p.id = x.post_id
	 ORDER BY p.tenant_id, p.id FOR NO KEY UPDATE OF p;
	PERFORM 1 FROM tenant.targets t
	  JOIN unnest(p_tenants, p_targets) AS a(tenant_id, target_id) ON t.tenant_id = a.tenant_id AND t.id = a.target_id
	 ORDER BY t.tenant_id, t.id FOR NO KEY UPDATE OF t;
	-- Workspaces with a monthly limit are counted one group at a time.
	PERFORM 1 FROM tenant.tenants w WHERE w.tenant_id = ANY (p_tenants) AND w.posts_a_month IS NOT NULL
	 ORDER BY w.tenant_id FOR NO KEY UPDATE;

	SELECT array_agg(ROW(j.tenant_id, j.target_id, j.version_id, j.post_id, j.account_id, j.owner,
	       CASE WHEN j.why IS NULL THEN 'claimed' ELSE split_part(j.why, ':', 1) END,
	       CASE WHEN j.why IS NULL THEN '' ELSE split_part(j.why, ':', 2) END, '',
	       CASE split_part(j.why, ':', 2)
	         WHEN 'account_rate' THEN j.rate_free_at
	         WHEN 'network_rate' THEN j.closed_until
	         WHEN 'blackout' THEN j.silent_until
	         ELSE p_now + p_hold END,
	       CASE WHEN j.resume OR j.why = 'again' THEN j.attempt_no ELSE j.attempt_no + 1 END, j.straight)::tenant.judgement)
	  INTO judged
	  FROM (
		-- 2 and 8 count: room is taken only by what every other guard lets go, so
		-- that neither an old task nor a paused client uses up another's.
		SELECT y.*, coalesce(y.first_guards,
		       CASE WHEN y.used + count(*) FILTER (WHERE y.may_go AND y.has_room) OVER by_tenant + (NOT (y.may_go AND y.has_room))::int > y.posts_a_month
		         THEN 'refused:monthly_limit' END,
		       y.next_guards, CASE WHEN NOT y.has_room THEN 'postponed:account_rate' END, y.last_guards) AS why
		  FROM (
		SELECT z.*, coalesce(z.rate_free_at <= p_now, true) AS has_room
		  FROM (
		SELECT x.*, x.first_guards IS NULL AND x.next_guards IS NULL AND x.last_guards IS NULL AS may_go,
		       -- a leaky bucket: each publish spends window/cap of time, of which a whole window may be saved
		       greatest(x.spent_to, p_now - p_account_window) + p_account_window / nullif(p_account_cap, 0)
		         * (count(*) FILTER (WHERE x.first_guards IS NULL AND x.next_guards IS NULL AND x.last_guards IS NULL) OVER by_account
		            + (NOT (x.first_guards IS NULL AND x.next_guards IS NULL AND x.last_guards IS NULL))::int) AS rate_free_at
		  FROM (
		SELECT w.*,
		       CASE
		         WHEN w.state IS NULL OR w.has_version <> w.version_id OR w.approved IS DISTINCT FROM w.version_id
		              OR w.state NOT IN ('scheduled', 'retry_scheduled', 'queued', 'publishing') THEN 'obsolete'
		         WHEN w.state = 'publishing' AND w.holder = w.owner THEN 'again'
		         WHEN w.state = 'publishing' THEN 'busy'
		         WHEN w.has_seq > w.seq OR w.at > p_now THEN 'early'
		         -- 1 workspace, client and account run
		         WHEN w.suspended_at + p_grace < p_now THEN 'refused:suspended_too_long'
		         WHEN w.suspended_at IS NOT NULL THEN 'postponed:workspace_suspended'
		         WHEN w.workspace_paused THEN 'postponed:workspace_paused'
		         WHEN w.client_paused THEN 'postponed:client_paused'
		         WHEN w.account_paused THEN 'postponed:account_paused'
		         -- the client wants silence, declared perhaps after this was planned
		         WHEN w.silent_until IS NOT NULL THEN 'postponed:blackout'
		       END AS first_guards,
		       CASE
		         -- 5 the account works
		         WHEN w.account_state = 'disabled' THEN 'refused:account_disabled'
		         WHEN w.account_state = 'needs_reconnect' THEN 'refused:needs_reconnect'
		         WHEN w.token_expires < p_now + p_refresh AND w.renewable AND w.renewal_failed AND w.due_at + w.late_cutoff < p_now THEN 'refused:missed'
		         WHEN w.token_expires < p_now + p_refresh AND w.renewable AND w.renewal_failed THEN 'postponed:token_not_renewed'
		         WHEN w.token_expires < p_now + p_refresh AND w.renewable THEN 'refresh'
		         WHEN w.token_expires <= p_now THEN 'refused:needs_reconnect'
		         -- 6 capability
		         WHEN w.scopes IS NOT NULL AND EXISTS (SELECT FROM unnest(w.needs_scopes) n WHERE NOT string_to_array(n, '|') && w.scopes) THEN 'refused:missing_scope'
		         -- 7 media
		         WHEN w.needs_media AND w.files = 0 THEN 'refused:media_missing'
		         WHEN w.files_gone > 0 OR w.files_known < w.files THEN 'refused:media_gone'
		         WHEN w.files_unmade > 0 THEN 'refused:media_not_made'
		         WHEN w.files_late > 0 THEN 'postponed:media_not_ready'
		         -- 8 room at the network; the account's own cap is counted above
		         WHEN w.closed_until > p_now THEN 'postponed:network_rate'
		       END AS next_guards,
		       CASE
		         -- 9 not too late
		         WHEN w.due_at + w.late_cutoff < p_now THEN 'refused:missed'
		         -- the provider-call guard
		         WHEN EXISTS (SELECT FROM tenant.targets s WHERE s.tenant_id = w.tenant_id AND s.post_id = w.post_id AND s.account_id = w.account_id
		                         AND s.id <> w.target_id AND s.state = 'published') THEN 'refused:sibling_published'
		         WHEN w.guarded_at > p_now - p_guard_stale THEN 'busy'
		       END AS last_guards
		  FROM (
			SELECT a.tenant_id, a.target_id, a.version_id, a.seq, a.owner,
			       t.state, t.version_id AS has_version, t.seq AS has_seq, coalesce(t.next_at, t.due_at) AS at,
			       CASE t.reason WHEN 'blackout' THEN greatest(t.due_at, t.next_at) ELSE t.due_at END AS due_at, t.post_id, t.account_id,
			       t.owner AS holder, t.attempt_no, t.needs_scopes, t.needs_media, cardinality(t.media_ids) AS files,
			       (t.network || '/' || t.format) = ANY (p_straight) AS straight,
			       p.approved_version_id AS approved,
			       w.suspended_at, w.paused_at IS NOT NULL AS workspace_paused, w.posts_a_month,
			       c.paused_at IS NOT NULL AS client_paused, coalesce(c.late_cutoff, p_late) AS late_cutoff,
			       ac.state AS account_state, ac.paused_at IS NOT NULL AS account_paused, ac.token_expires, ac.refresh_token IS NOT NULL AS renewable,
			       ac.refresh_owner IS NULL AND ac.refresh_until > p_now AS renewal_failed,
			       ac.scopes, greatest(ac.closed_until, nl.closed_until) AS closed_until,
			       l.state IN ('waiting', 'rate_limited') AS resume,
			       g.taken_at AS guarded_at,
			       m.known AS files_known, m.gone AS files_gone, m.late AS files_late, m.unmade AS files_unmade,
			       u.used, ar.spent_to, q.silent_until
			  FROM unnest(p_tenants, p_targets, p_versions, p_seqs, p_owners) AS a(tenant_id, target_id, version_id, seq, owner)
			  LEFT JOIN tenant.targets t ON t.tenant_id = a.tenant_id AND t.id = a.target_id
			  LEFT JOIN tenant.posts p ON p.tenant_id = t.tenant_id AND p.id = t.post_id
			  LEFT JOIN tenant.tenants w ON w.tenant_id = t.tenant_id
			  LEFT JOIN tenant.clients c ON c.tenant_id = t.tenant_id AND c.id = t.client_id
			  LEFT JOIN tenant.accounts ac ON ac.tenant_id = t.tenant_id AND ac.id = t.account_id
			  LEFT JOIN tenant.network_limits nl ON nl.network = ac.network AND nl.publisher = ac.publisher
			  LEFT JOIN tenant.account_rates ar ON ar.tenant_id = t.tenant_id AND ar.account_id = t.account_id
			  LEFT JOIN tenant.publish_guards g ON g.tenant_id = t.tenant_id AND g.post_id = t.post_id AND g.account_id = t.account_id
			  LEFT JOIN tenant.attempts l ON l.tenant_id = t.tenant_id AND l.target_id = t.id AND l.version_id = t.version_id AND l.attempt_no = t.attempt_no
			  LEFT JOIN LATERAL (
				SELECT max(b.to_at) AS silent_until FROM tenant.blackouts b
				 WHERE b.tenant_id = t.tenant_id AND b.client_id = t.client_id AND b.to_at > p_now AND b.from_at <= p_now) q ON true
			  LEFT JOIN LATERAL (
				SELECT count(*) AS known,
				       count(*) FILTER (WHERE md.state IN ('refused', 'quarantined', 'deleted')) AS gone,
				       count(*) FILTER (WHERE r.state = 'failed') AS unmade,
				       count(*) FILTER (WHERE md.state IN ('uploading', 'scanning', 'processing') OR wanted.recipe <> '' AND r.state IS DISTINCT FROM 'ready') AS late
				  FROM unnest(t.media_ids, t.media_recipes) AS wanted(id, recipe)
				  JOIN tenant.media md ON md.tenant_id = t.tenant_id AND md.id = wanted.id
				  LEFT JOIN tenant.media_renditions r ON r.tenant_id = md.tenant_id AND r.media_id = md.id AND r.recipe = wanted.recipe) m ON true
			  LEFT JOIN LATERAL (
				SELECT coalesce((SELECT published FROM tenant.usage_months um WHERE um.tenant_id = w.tenant_id
				                  AND um.month = date_trunc('month', p_now AT TIME ZONE 'UTC')::date), 0)
				     + (SELECT count(*) FROM tenant.targets b WHERE b.tenant_id = w.tenant_id AND b.state IN ('publishing', 'unknown_outcome')) AS used
				 WHERE w.posts_a_month IS NOT NULL) u ON true
		  ) w
		  ) x
		WINDOW by_account AS (PARTITION BY x.tenant_id, x.account_id ORDER BY x.due_at, x.target_id)
		  ) z
		  ) y
		WINDOW by_tenant AS (PARTITION BY y.tenant_id ORDER BY y.due_at, y.target_id)
	  ) j;

	IF judged IS NULL THEN RETURN; END IF;

	-- Taking the guard may lose against another group: then the target is busy.
	WITH taken AS (
		INSERT INTO tenant.publish_guards AS g (tenant_id, post_id, account_id, owner, taken_at)
		SELECT j.tenant_id, j.post_id, j.account_id, j.owner, p_now FROM unnest(judged) j
		 WHERE j.verdict = 'claimed' ORDER BY j.tenant_id, j.post_id, j.account_id
		ON CONFLICT (tenant_id, post_id, account_id) DO UPDATE SET owner = excluded.owner, taken_at = excluded.taken_at
		   WHERE g.taken_at <= p_now - p_guard_stale
		RETURNING owner
	)
	SELECT array_agg(CASE WHEN j.verdict = 'claimed' AND t.owner IS NULL
	       THEN ROW(j.tenant_id, j.target_id, j.version_id, j.post_id, j.account_id, j.owner, 'busy', '', '', j.retry_at, j.attempt_no, j.straight)::tenant.judgement
	       ELSE ROW(j.tenant_id, j.target_id, j.version_id, j.post_id, j.account_id, j.owner, j.verdict, j.reason, j.say, j.retry_at, j.attempt_no, j.straight)::tenant.judgement END)
	  INTO judged
	  FROM unnest(judged) j LEFT JOIN taken t ON t.owner = j.owner;

	verdicts := ARRAY(SELECT DISTINCT j.verdict FROM unnest(judged) j);

	-- Into a worker's hands (queued) and on from there, in one statement: the
	-- trigger records, and checks, both moves.
	UPDATE tenant.targets t
	   SET state = CASE j.verdict WHEN 'claimed' THEN 'publishing' WHEN 'postponed' THEN 'retry_scheduled'
	                 ELSE CASE j.reason WHEN 'needs_reconnect' THEN 'needs_reconnect' ELSE 'failed' END END,
	       owner = CASE j.verdict WHEN 'claimed' THEN j.owner END,
	       claimed_at = CASE j.verdict WHEN 'claimed' THEN p_now END,
	       attempt_no = CASE j.verdict WHEN 'claimed' THEN j.attempt_no ELSE t.attempt_no END,
	       next_at = CASE j.verdict WHEN 'postponed' THEN j.retry_at END,
	       seq = t.seq + (j.verdict = 'postponed')::int,
	       reason = j.reason, say = '', updated_at = p_now
	  FROM unnest(judged) j
	 WHERE t.tenant_id = j.tenant_id AND t.id = j.target_id AND j.verdict IN ('claimed', 'postponed', 'refused');

	INSERT INTO tenant.attempts AS a (tenant_id, target_id, version_id, attempt_no, state, owner, handles, began_at, flown_at)
	SELECT j.tenant_id, j.target_id, j.version_id, j.attempt_no, CASE WHEN j.straight THEN 'in_flight' ELSE 'preparing' END, j.owner,
	       coalesce((SELECT l.handles FROM tenant.attempts l WHERE l.tenant_id = j.tenant_id AND l.target_id = j.target_id
	                  AND l.version_id = j.version_id AND l.attempt_no = j.attempt_no - 1), '{}'),
	       p_now, CASE WHEN j.straight THEN p_now END
	  FROM unnest(judged) j WHERE j.verdict = 'claimed'
	ON CONFLICT (tenant_id, target_id, version_id, attempt_no) DO UPDATE
	   SET state = excluded.state, owner = excluded.owner, flown_at = excluded.flown_at, ended_at = NULL
	 WHERE a.state IN ('waiting', 'rate_limited');

	IF p_account_cap > 0 AND 'claimed' = ANY (verdicts) THEN
		INSERT INTO tenant.account_rates AS r (tenant_id, account_id, spent_to)
		SELECT j.tenant_id, j.account_id, p_now - p_account_window + p_account_window / nullif(p_account_cap, 0) * count(*)
		  FROM unnest(judged) j WHERE j.verdict = 'claimed' GROUP BY 1, 2 ORDER BY 1, 2
		ON CONFLICT (tenant_id, account_id) DO UPDATE
		   SET spent_to = greatest(r.spent_to, p_now - p_account_window) + (excluded.spent_to - (p_now - p_account_window));
	END IF;

	-- An account found out of its token is marked and told of, once, as if the
	-- network had said it.
	IF 'refused' = ANY (verdicts) THEN
		PERFORM tenant.account_faults(array_agg(j.tenant_id), array_agg(j.target_id), array_agg('needs_reconnect'::text), array_agg('auth'::text),
		        array_agg('The connection ran out. Reconnect the account.'::text), p_now)
		   FROM unnest(judged) j WHERE j.verdict = 'refused' AND j.reason = 'needs_reconnect';
	END IF;

	-- What was postponed comes back here by an event; what was refused is told.
	IF verdicts && ARRAY['postponed', 'refused'] THEN
		INSERT INTO tenant.outbox (tenant_id, key, kind, target_id, version_id, seq, due_at, made_at)
		SELECT t.tenant_id, CASE j.verdict WHEN 'postponed' THEN 'publish:' || t.id || ':' || t.seq ELSE 'notice:' || t.id || ':' || t.seq || ':' || t.attempt_no END,
		       CASE j.verdict WHEN 'postponed' THEN 'target.publish' ELSE 'notice.target' END, t.id, t.version_id, t.seq, t.next_at, p_now
		  FROM unnest(judged) j JOIN tenant.targets t ON t.tenant_id = j.tenant_id AND t.id = j.target_id
		 WHERE j.verdict IN ('postponed', 'refused')
		ON CONFLICT DO NOTHING;
	END IF;

	PERFORM tenant.recompute_posts(array_agg(j.tenant_id), array_agg(j.post_id)) FROM unnest(judged) j WHERE j.verdict IN ('claimed', 'postponed', 'refused');

	RETURN QUERY
	SELECT j.tenant_id, j.target_id, CASE j.verdict WHEN 'again' THEN 'claimed' ELSE j.verdict END, j.reason, j.retry_at,
	       t.post_id, t.client_id, j.account_id, t.network, t.format,
	       j.attempt_no, t.attempts_used, t.limited_since, t.due_at, j.straight,
	       ac.handle, ac.remote_id, ac.address, ac.settings, ac.scopes, ac.token, ac.refresh_token, ac.token_expires,
	       v.content,
	       (SELECT jsonb_agg(jsonb_build_object('id', md.id, 'kind', md.kind, 'name', md.name, 'rendition', r.id, 'type', coalesce(r.type, md.type), 'path', coalesce(r.path, md.path),
	               'bytes', coalesce(r.bytes, md.bytes), 'width', coalesce(r.width, md.width), 'height', coalesce(r.height, md.height), 'duration_ms', coalesce(nullif(r.duration_ms, 0), md.duration_ms)))
	          FROM unnest(t.media_ids, t.media_recipes) AS wanted(id, recipe)
	          JOIN tenant.media md ON md.tenant_id = t.tenant_id AND md.id = wanted.id
	          LEFT JOIN tenant.media_renditions r ON r.tenant_id = md.tenant_id AND r.media_id = md.id AND r.recipe = wanted.recipe AND r.state = 'ready'),
	       at.handles
	  FROM unnest(judged) j
	  LEFT JOIN tenant.targets t ON t.tenant_id = j.tenant_id AND t.id = j.target_id AND j.verdict IN ('claimed', 'again')
	  LEFT JOIN tenant.accounts ac ON ac.tenant_id = t.tenant_id AND ac.id = t.account_id
	  LEFT JOIN tenant.post_versions v ON v.tenant_id = t.tenant_id AND v.id = j.version_id AND j.verdict IN ('claimed', 'again')
	  LEFT JOIN tenant.attempts at ON at.tenant_id = t.tenant_id AND at.target_id = t.id AND at.version_id = j.version_id AND at.attempt_no = j.attempt_no;
END $$;
-- +goose StatementEnd

REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('REVOKE herald_pipeline FROM %I', current_user); END $$;
-- +goose StatementEnd
