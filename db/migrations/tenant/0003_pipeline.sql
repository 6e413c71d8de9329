-- +goose Up

-- The pipeline's door to tenant data. herald_worker has no grant on any tenant
-- table; it calls these functions, which run as herald_pipeline, take arrays of
-- (tenant, target, version, ...) and match every part. Locks are always taken
-- posts first, then targets, each in key order, so that groups cannot deadlock.

-- Their plans are cached while the tables are small and must still be right when
-- they are large, so every function is held to index look-ups: it is given keys,
-- and each table has an index that begins with them. What runs often is plpgsql,
-- which keeps its plans; an SQL function is parsed and planned at every call.

GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- One judged target of a claim.
CREATE TYPE tenant.judgement AS (
	tenant_id bigint, target_id bigint, version_id bigint, post_id bigint, account_id bigint,
	owner uuid, verdict text, reason text, say text, retry_at timestamptz, attempt_no integer, straight boolean
);

-- claim_targets runs the guards in order and claims what passes, all in one
-- statement for targets of any number of workspaces. verdict is
--   claimed    the attempt row exists; state in_flight if the network's format is
--              among p_straight (nothing to prepare), else preparing. Asked again
--              by the same owner, whose answer was lost, it answers the same
--   obsolete   another version is approved, or the target moved on: do nothing
--   early      it was moved to later: do nothing, a newer dispatch row exists
--   busy       another holds the claim or the guard: do nothing
--   refresh    the token runs out within p_refresh: refresh, then claim again
--   postponed  moved to retry_scheduled, with an outbox event for retry_at
--   refused    moved to failed or needs_reconnect
-- +goose StatementBegin
CREATE FUNCTION tenant.claim_targets(
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
			       t.state, t.version_id AS has_version, t.seq AS has_seq, coalesce(t.next_at, t.due_at) AS at, t.due_at, t.post_id, t.account_id,
			       t.owner AS holder, t.attempt_no, t.needs_scopes, t.needs_media, cardinality(t.media_ids) AS files,
			       (t.network || '/' || t.format) = ANY (p_straight) AS straight,
			       p.approved_version_id AS approved,
			       w.suspended_at, w.paused_at IS NOT NULL AS workspace_paused, w.posts_a_month,
			       c.paused_at IS NOT NULL AS client_paused, coalesce(c.late_cutoff, p_late) AS late_cutoff,
			       ac.state AS account_state, ac.paused_at IS NOT NULL AS account_paused, ac.token_expires, ac.refresh_token IS NOT NULL AS renewable,
			       ac.refresh_owner IS NULL AND ac.refresh_until > p_now AS renewal_failed,
			       ac.scopes, ac.closed_until,
			       l.state IN ('waiting', 'rate_limited') AS resume,
			       g.taken_at AS guarded_at,
			       m.known AS files_known, m.gone AS files_gone, m.late AS files_late,
			       u.used, ar.spent_to
			  FROM unnest(p_tenants, p_targets, p_versions, p_seqs, p_owners) AS a(tenant_id, target_id, version_id, seq, owner)
			  LEFT JOIN tenant.targets t ON t.tenant_id = a.tenant_id AND t.id = a.target_id
			  LEFT JOIN tenant.posts p ON p.tenant_id = t.tenant_id AND p.id = t.post_id
			  LEFT JOIN tenant.tenants w ON w.tenant_id = t.tenant_id
			  LEFT JOIN tenant.clients c ON c.tenant_id = t.tenant_id AND c.id = t.client_id
			  LEFT JOIN tenant.accounts ac ON ac.tenant_id = t.tenant_id AND ac.id = t.account_id
			  LEFT JOIN tenant.account_rates ar ON ar.tenant_id = t.tenant_id AND ar.account_id = t.account_id
			  LEFT JOIN tenant.publish_guards g ON g.tenant_id = t.tenant_id AND g.post_id = t.post_id AND g.account_id = t.account_id
			  LEFT JOIN tenant.attempts l ON l.tenant_id = t.tenant_id AND l.target_id = t.id AND l.version_id = t.version_id AND l.attempt_no = t.attempt_no
			  LEFT JOIN LATERAL (
				SELECT count(*) AS known,
				       count(*) FILTER (WHERE md.state IN ('refused', 'quarantined', 'deleted')) AS gone,
				       count(*) FILTER (WHERE md.state IN ('uploading', 'scanning')) AS late
				  FROM unnest(t.media_ids) AS wanted(id) JOIN tenant.media md ON md.tenant_id = t.tenant_id AND md.id = wanted.id) m ON true
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
	       (SELECT jsonb_agg(jsonb_build_object('id', md.id, 'kind', md.kind, 'type', md.type, 'name', md.name, 'path', md.path, 'bytes', md.bytes,
	               'width', md.width, 'height', md.height, 'duration_ms', md.duration_ms))
	          FROM tenant.media md WHERE md.tenant_id = t.tenant_id AND md.id = ANY (t.media_ids) AND cardinality(t.media_ids) > 0),
	       at.handles
	  FROM unnest(judged) j
	  LEFT JOIN tenant.targets t ON t.tenant_id = j.tenant_id AND t.id = j.target_id AND j.verdict IN ('claimed', 'again')
	  LEFT JOIN tenant.accounts ac ON ac.tenant_id = t.tenant_id AND ac.id = t.account_id
	  LEFT JOIN tenant.post_versions v ON v.tenant_id = t.tenant_id AND v.id = j.version_id AND j.verdict IN ('claimed', 'again')
	  LEFT JOIN tenant.attempts at ON at.tenant_id = t.tenant_id AND at.target_id = t.id AND at.version_id = j.version_id AND at.attempt_no = j.attempt_no;
END $$;
-- +goose StatementEnd

-- begin_commits marks attempts in flight. owner must still hold the claim; what
-- comes back may call the network, nothing else may. An owner whose answer was
-- lost asks again and is told the same.
-- +goose StatementBegin
CREATE FUNCTION tenant.begin_commits(p_tenants bigint[], p_targets bigint[], p_versions bigint[], p_attempts integer[], p_owners uuid[], p_handles jsonb[], p_now timestamptz)
RETURNS TABLE (tenant_id bigint, target_id bigint) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY
	WITH held AS (
		SELECT a.*, t.post_id, t.account_id
		  FROM unnest(p_tenants, p_targets, p_versions, p_attempts, p_owners, p_handles) AS a(tenant_id, target_id, version_id, attempt_no, owner, handles)
		  JOIN tenant.targets t ON t.tenant_id = a.tenant_id AND t.id = a.target_id AND t.version_id = a.version_id AND t.owner = a.owner
		  JOIN tenant.publish_guards g ON g.tenant_id = t.tenant_id AND g.post_id = t.post_id AND g.account_id = t.account_id AND g.owner = a.owner
		 ORDER BY t.tenant_id, t.id FOR NO KEY UPDATE OF t, g
	), fresh AS (
		UPDATE tenant.publish_guards g SET taken_at = p_now
		  FROM held h WHERE g.tenant_id = h.tenant_id AND g.post_id = h.post_id AND g.account_id = h.account_id AND g.owner = h.owner
	)
	UPDATE tenant.attempts at SET state = 'in_flight', flown_at = p_now, handles = at.handles || h.handles
	  FROM held h
	 WHERE at.tenant_id = h.tenant_id AND at.target_id = h.target_id AND at.version_id = h.version_id AND at.attempt_no = h.attempt_no
	   AND at.state IN ('preparing', 'in_flight') AND at.owner = h.owner
	RETURNING at.tenant_id, at.target_id;
END $$;
-- +goose StatementEnd

-- save_handles keeps what a network handed out, while owner holds the claim or
-- after the end (follow-ups).
-- +goose StatementBegin
CREATE FUNCTION tenant.save_handles(p_tenants bigint[], p_targets bigint[], p_versions bigint[], p_attempts integer[], p_owners uuid[], p_handles jsonb[])
RETURNS TABLE (tenant_id bigint, target_id bigint) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY
	UPDATE tenant.attempts at SET handles = at.handles || a.handles
	  FROM unnest(p_tenants, p_targets, p_versions, p_attempts, p_owners, p_handles) AS a(tenant_id, target_id, version_id, attempt_no, owner, handles)
	 WHERE at.tenant_id = a.tenant_id AND at.target_id = a.target_id AND at.version_id = a.version_id AND at.attempt_no = a.attempt_no
	   AND (at.owner = a.owner OR (at.ended_at IS NOT NULL AND a.owner IS NULL))
	RETURNING at.tenant_id, at.target_id;
END $$;
-- +goose StatementEnd

-- finish_targets writes results. The caller has decided what each outcome means
-- (p_states: where the target goes); the function sees to it that only the
-- holder of the claim may say so, and that everything which follows from it is
-- written in the same transaction.
-- +goose StatementBegin
CREATE FUNCTION tenant.finish_targets(
	p_tenants bigint[], p_targets bigint[], p_versions bigint[], p_attempts integer[], p_owners uuid[],
	p_states text[], p_results text[], p_reasons text[], p_says text[], p_next timestamptz[], p_used integer[],
	p_codes text[], p_statuses integer[], p_request_ids text[], p_external_ids text[], p_permalinks text[],
	p_follow boolean[], p_close timestamptz[], p_calls jsonb[], p_handles jsonb[], p_now timestamptz
) RETURNS TABLE (tenant_id bigint, target_id bigint, version_id bigint, seq bigint) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
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

	RETURN QUERY
	WITH input AS (
		SELECT * FROM unnest(p_tenants, p_targets, p_versions, p_attempts, p_owners, p_states, p_results, p_reasons, p_says, p_next, p_used,
		                     p_codes, p_statuses, p_request_ids, p_external_ids, p_permalinks, p_follow, p_close, p_calls, p_handles)
		       AS a(tenant_id, target_id, version_id, attempt_no, owner, state, result, reason, say, next_at, used,
		            code, status, request_id, external_id, permalink, follow, close_until, calls, handles)
	), moved AS (
		UPDATE tenant.targets t
		   SET state = i.state, reason = i.reason, say = i.say, owner = NULL, claimed_at = NULL,
		       next_at = i.next_at, seq = t.seq + (i.next_at IS NOT NULL OR i.follow)::int,
		       attempts_used = t.attempts_used + i.used,
		       limited_since = CASE WHEN i.result = 'rate_limited' THEN coalesce(t.limited_since, p_now) WHEN i.result = 'waiting' THEN t.limited_since END,
		       external_id = CASE WHEN i.external_id <> '' THEN i.external_id ELSE t.external_id END,
		       permalink = CASE WHEN i.permalink <> '' THEN i.permalink ELSE t.permalink END,
		       published_at = CASE WHEN i.state = 'published' THEN p_now END,
		       looks = CASE WHEN i.state = 'unknown_outcome' THEN 0 ELSE t.looks END,
		       updated_at = p_now
		  FROM input i
		 -- an owner is there exactly while it is publishing; saying so would let the
		 -- planner walk everything in flight instead of the keys
		 WHERE t.tenant_id = i.tenant_id AND t.id = i.target_id AND t.version_id = i.version_id
		   AND t.owner = i.owner AND t.attempt_no = i.attempt_no
		RETURNING t.tenant_id, t.id, t.version_id, t.post_id, t.account_id, t.seq, i.state AS to_state, i.next_at, i.follow, i.owner, i.attempt_no,
		          i.result, i.code, i.status, i.request_id, i.say, i.calls, i.handles, i.close_until
	), tried AS (
		UPDATE tenant.attempts at
		   SET state = m.result, code = m.code, status = m.status, request_id = m.request_id, say = m.say,
		       calls = CASE WHEN jsonb_array_length(at.calls) < 200 THEN at.calls || m.calls ELSE at.calls END,
		       handles = at.handles || m.handles, ended_at = p_now
		  FROM moved m
		 WHERE at.tenant_id = m.tenant_id AND at.target_id = m.id AND at.version_id = m.version_id AND at.attempt_no = m.attempt_no
	), freed AS (
		DELETE FROM tenant.publish_guards g USING moved m
		 WHERE g.tenant_id = m.tenant_id AND g.post_id = m.post_id AND g.account_id = m.account_id AND g.owner = m.owner
	), counted AS (
		INSERT INTO tenant.usage_months AS u (tenant_id, month, published)
		SELECT m.tenant_id, date_trunc('month', p_now AT TIME ZONE 'UTC')::date, count(*) FROM moved m
		 WHERE m.to_state = 'published' GROUP BY 1 ORDER BY 1
		ON CONFLICT (tenant_id, month) DO UPDATE SET published = u.published + excluded.published
	), owed AS (
		INSERT INTO tenant.outbox (tenant_id, key, kind, target_id, version_id, seq, due_at, made_at)
		SELECT m.tenant_id, 'publish:' || m.id || ':' || m.seq, 'target.publish', m.id, m.version_id, m.seq, m.next_at, p_now
		  FROM moved m WHERE m.to_state = 'retry_scheduled'
		UNION ALL
		SELECT m.tenant_id, 'reconcile:' || m.id || ':' || m.seq, 'target.reconcile', m.id, m.version_id, m.seq, m.next_at, p_now
		  FROM moved m WHERE m.to_state = 'unknown_outcome'
		UNION ALL
		SELECT m.tenant_id, 'follow_up:' || m.id || ':' || m.seq, 'target.follow_up', m.id, m.version_id, m.seq, p_now, p_now
		  FROM moved m WHERE m.to_state = 'published' AND m.follow
		UNION ALL
		SELECT m.tenant_id, 'notice:' || m.id || ':' || m.seq || ':' || m.attempt_no, 'notice.target', m.id, m.version_id, m.seq, NULL, p_now
		  FROM moved m WHERE m.to_state IN ('failed', 'needs_reconnect')
		ON CONFLICT DO NOTHING
	), closed AS (
		UPDATE tenant.accounts ac SET closed_until = greatest(ac.closed_until, m.close_until)
		  FROM (SELECT tenant_id, account_id, max(close_until) AS close_until FROM moved WHERE close_until IS NOT NULL GROUP BY 1, 2) m
		 WHERE ac.tenant_id = m.tenant_id AND ac.id = m.account_id
	)
	SELECT m.tenant_id, m.id, m.version_id, m.seq FROM moved m;

	IF p_results && ARRAY['auth', 'permission'] THEN
		PERFORM tenant.account_faults(p_tenants, p_targets, p_states, p_results, p_says, p_now);
	END IF;
	PERFORM tenant.recompute_posts(array_agg(t.tenant_id), array_agg(t.post_id))
	   FROM unnest(p_tenants, p_targets) AS a(tenant_id, target_id)
	   JOIN tenant.targets t ON t.tenant_id = a.tenant_id AND t.id = a.target_id;
END $$;
-- +goose StatementEnd

-- account_faults marks accounts whose credential died (told once, by the one
-- statement that takes it out of active) or whose right is missing.
-- +goose StatementBegin
CREATE FUNCTION tenant.account_faults(p_tenants bigint[], p_targets bigint[], p_states text[], p_results text[], p_says text[], p_now timestamptz)
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	WITH bad AS (
		SELECT DISTINCT ON (t.tenant_id, t.account_id) t.tenant_id, t.account_id, a.result, a.say
		  FROM unnest(p_tenants, p_targets, p_states, p_results, p_says) AS a(tenant_id, target_id, state, result, say)
		  JOIN tenant.targets t ON t.tenant_id = a.tenant_id AND t.id = a.target_id AND t.state = a.state
		 WHERE a.result IN ('auth', 'permission')
		 ORDER BY t.tenant_id, t.account_id, a.result
	), dead AS (
		UPDATE tenant.accounts ac SET state = 'needs_reconnect', last_error = b.say, last_error_at = p_now, revision = ac.revision + 1
		  FROM bad b WHERE ac.tenant_id = b.tenant_id AND ac.id = b.account_id AND b.result = 'auth' AND ac.state = 'active'
		RETURNING ac.tenant_id, ac.id, ac.revision
	), flagged AS (
		UPDATE tenant.accounts ac SET last_error = b.say, last_error_at = p_now
		  FROM bad b WHERE ac.tenant_id = b.tenant_id AND ac.id = b.account_id AND b.result = 'permission'
	)
	INSERT INTO tenant.outbox (tenant_id, key, kind, account_id, made_at)
	SELECT d.tenant_id, 'account:' || d.id || ':' || d.revision, 'notice.account', d.id, p_now FROM dead d
	ON CONFLICT DO NOTHING
$$;
-- +goose StatementEnd

-- take_outbox hands out unrelayed events, oldest first, and keeps them locked
-- until the caller's transaction ends, so that two relays share the work. A
-- second relay may overtake the first; the sequence on each event sees to it
-- that an older one never overrides a newer.
-- +goose StatementBegin
CREATE FUNCTION tenant.take_outbox(p_limit integer)
RETURNS TABLE (tenant_id bigint, id bigint, kind text, target_id bigint, version_id bigint, account_id bigint, seq bigint, due_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY
	SELECT o.tenant_id, o.id, o.kind, o.target_id, o.version_id, o.account_id, o.seq, o.due_at
	  FROM tenant.outbox o WHERE o.relayed_at IS NULL
	 ORDER BY o.id LIMIT p_limit FOR UPDATE SKIP LOCKED;
END $$;
CREATE FUNCTION tenant.mark_relayed(p_tenants bigint[], p_ids bigint[], p_now timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
	UPDATE tenant.outbox o SET relayed_at = p_now
	  FROM unnest(p_tenants, p_ids) AS a(tenant_id, id) WHERE o.tenant_id = a.tenant_id AND o.id = a.id AND o.relayed_at IS NULL;
END $$;
-- +goose StatementEnd

-- load_target reads what a look-up or a follow-up needs. Nothing is claimed.
-- +goose StatementBegin
CREATE FUNCTION tenant.load_target(p_tenant bigint, p_target bigint, p_version bigint)
RETURNS TABLE (state text, post_id bigint, client_id bigint, account_id bigint, network text, format text, seq bigint, next_at timestamptz,
	attempt_no integer, attempts_used integer, looks integer, due_at timestamptz, external_id text, permalink text,
	handle text, remote_id text, address text, settings jsonb, scopes text[], token bytea, refresh_token bytea, token_expires timestamptz, account_state text,
	content bytea, media jsonb, handles jsonb, first_flown timestamptz, last_ended timestamptz, taken text[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY
	SELECT t.state, t.post_id, t.client_id, t.account_id, t.network, t.format, t.seq, t.next_at,
	       t.attempt_no, t.attempts_used, t.looks, t.due_at, t.external_id, t.permalink,
	       ac.handle, ac.remote_id, ac.address, ac.settings, ac.scopes, ac.token, ac.refresh_token, ac.token_expires, ac.state,
	       v.content,
	       (SELECT jsonb_agg(jsonb_build_object('id', md.id, 'kind', md.kind, 'type', md.type, 'name', md.name, 'path', md.path, 'bytes', md.bytes,
	               'width', md.width, 'height', md.height, 'duration_ms', md.duration_ms))
	          FROM tenant.media md WHERE md.tenant_id = t.tenant_id AND md.id = ANY (t.media_ids)),
	       coalesce(at.handles, '{}'),
	       (SELECT min(f.flown_at) FROM tenant.attempts f WHERE f.tenant_id = t.tenant_id AND f.target_id = t.id AND f.version_id = t.version_id),
	       at.ended_at,
	       ARRAY(SELECT o.external_id FROM tenant.targets o WHERE o.tenant_id = t.tenant_id AND o.account_id = t.account_id AND o.id <> t.id
	              AND o.external_id <> '' AND o.published_at > p.created_at)
	  FROM tenant.targets t
	  JOIN tenant.posts p ON p.tenant_id = t.tenant_id AND p.id = t.post_id
	  JOIN tenant.accounts ac ON ac.tenant_id = t.tenant_id AND ac.id = t.account_id
	  JOIN tenant.post_versions v ON v.tenant_id = t.tenant_id AND v.id = t.version_id
	  LEFT JOIN tenant.attempts at ON at.tenant_id = t.tenant_id AND at.target_id = t.id AND at.version_id = t.version_id AND at.attempt_no = t.attempt_no
	 WHERE t.tenant_id = p_tenant AND t.id = p_target AND t.version_id = p_version;
END $$;
-- +goose StatementEnd

-- record_finding writes what a look-up proved and moves the target on it:
-- found -> published; absent for good -> retry_scheduled at p_next; otherwise it
-- stays with another look at p_next, or goes to failed for a person.
-- +goose StatementBegin
CREATE FUNCTION tenant.record_finding(p_tenant bigint, p_target bigint, p_version bigint, p_seq bigint, p_attempt integer,
	p_verdict text, p_say text, p_external_id text, p_permalink text, p_calls jsonb, p_to text, p_reason text, p_next timestamptz, p_follow boolean, p_now timestamptz)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	r record;
BEGIN
	PERFORM 1 FROM tenant.posts p JOIN tenant.targets t ON t.tenant_id = p.tenant_id AND t.post_id = p.id
	  WHERE t.tenant_id = p_tenant AND t.id = p_target FOR NO KEY UPDATE OF p;
	UPDATE tenant.targets t
	   SET state = p_to, reason = p_reason, say = p_say, next_at = p_next,
	       looks = CASE WHEN p_verdict = 'absent' THEN t.looks + 1 ELSE t.looks END,
	       seq = t.seq + (p_next IS NOT NULL OR p_follow)::int,
	       external_id = CASE WHEN p_external_id <> '' THEN p_external_id ELSE t.external_id END,
	       permalink = CASE WHEN p_permalink <> '' THEN p_permalink ELSE t.permalink END,
	       published_at = CASE WHEN p_to = 'published' THEN p_now END,
	       updated_at = p_now
	 WHERE t.tenant_id = p_tenant AND t.id = p_target AND t.version_id = p_version AND t.seq = p_seq AND t.state = 'unknown_outcome'
	RETURNING t.* INTO r;
	IF NOT FOUND THEN RETURN false; END IF;
	INSERT INTO tenant.findings (tenant_id, target_id, attempt_no, verdict, say, external_id, calls, at)
	VALUES (p_tenant, p_target, p_attempt, p_verdict, p_say, p_external_id, p_calls, p_now);
	UPDATE tenant.attempts SET state = CASE p_to WHEN 'published' THEN 'published' WHEN 'retry_scheduled' THEN 'absent' ELSE state END
	 WHERE tenant_id = p_tenant AND target_id = p_target AND version_id = p_version AND attempt_no = p_attempt AND state = 'unknown';
	IF p_to = 'published' THEN
		INSERT INTO tenant.usage_months AS u (tenant_id, month, published) VALUES (p_tenant, date_trunc('month', p_now AT TIME ZONE 'UTC')::date, 1)
		ON CONFLICT (tenant_id, month) DO UPDATE SET published = u.published + 1;
	END IF;
	INSERT INTO tenant.outbox (tenant_id, key, kind, target_id, version_id, seq, due_at, made_at)
	SELECT p_tenant, k.kind || ':' || p_target || ':' || r.seq || ':' || p_attempt, k.full_kind, p_target, p_version, r.seq, k.due, p_now
	  FROM (VALUES
		('publish', 'target.publish', p_next, p_to = 'retry_scheduled'),
		('reconcile', 'target.reconcile', p_next, p_to = 'unknown_outcome' AND p_next IS NOT NULL),
		('follow_up', 'target.follow_up', p_now, p_to = 'published' AND p_follow),
		('notice', 'notice.target', NULL::timestamptz, p_to = 'failed')) AS k(kind, full_kind, due, wanted)
	 WHERE k.wanted ON CONFLICT DO NOTHING;
	PERFORM tenant.recompute_posts(ARRAY[p_tenant], ARRAY[r.post_id::bigint]);
	RETURN true;
END $$;
-- +goose StatementEnd

-- save_receipt keeps what a follow-up learned. A published target stays one.
-- +goose StatementBegin
CREATE FUNCTION tenant.save_receipt(p_tenant bigint, p_target bigint, p_permalink text, p_external_id text, p_calls jsonb, p_say text, p_now timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	WITH t AS (
		UPDATE tenant.targets SET permalink = CASE WHEN p_permalink <> '' THEN p_permalink ELSE permalink END,
		       external_id = CASE WHEN p_external_id <> '' THEN p_external_id ELSE external_id END, say = p_say, updated_at = p_now
		 WHERE tenant_id = p_tenant AND id = p_target AND state = 'published' RETURNING *
	)
	UPDATE tenant.attempts a SET calls = CASE WHEN jsonb_array_length(a.calls) < 200 THEN a.calls || p_calls ELSE a.calls END
	  FROM t WHERE a.tenant_id = t.tenant_id AND a.target_id = t.id AND a.version_id = t.version_id AND a.attempt_no = t.attempt_no
$$;
-- +goose StatementEnd

-- lease_refresh gives one caller at a time the right to renew a token.
-- +goose StatementBegin
CREATE FUNCTION tenant.lease_refresh(p_tenant bigint, p_account bigint, p_owner uuid, p_ahead interval, p_now timestamptz, p_until timestamptz)
RETURNS TABLE (network text, handle text, remote_id text, address text, settings jsonb, scopes text[], token bytea, refresh_token bytea, token_expires timestamptz)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	UPDATE tenant.accounts a SET refresh_owner = p_owner, refresh_until = p_until
	 WHERE a.tenant_id = p_tenant AND a.id = p_account AND a.state = 'active' AND a.refresh_token IS NOT NULL
	   AND a.token_expires < p_now + p_ahead
	   AND (a.refresh_until IS NULL OR a.refresh_until <= p_now)
	RETURNING a.network, a.handle, a.remote_id, a.address, a.settings, a.scopes, a.token, a.refresh_token, a.token_expires
$$;
CREATE FUNCTION tenant.save_tokens(p_tenant bigint, p_account bigint, p_owner uuid, p_token bytea, p_refresh bytea, p_expires timestamptz, p_scopes text[]) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	WITH done AS (
		UPDATE tenant.accounts a SET token = p_token, refresh_token = coalesce(p_refresh, a.refresh_token), token_expires = p_expires,
		       scopes = coalesce(p_scopes, a.scopes), refresh_owner = NULL, refresh_until = NULL
		 WHERE a.tenant_id = p_tenant AND a.id = p_account AND a.refresh_owner = p_owner RETURNING 1)
	SELECT EXISTS (SELECT FROM done)
$$;
-- drop_refresh gives the lease back after a failure. Until p_again nobody tries
-- to renew: claims are postponed meanwhile.
CREATE FUNCTION tenant.drop_refresh(p_tenant bigint, p_account bigint, p_owner uuid, p_dead boolean, p_again timestamptz, p_say text, p_now timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	WITH freed AS (
		UPDATE tenant.accounts a SET refresh_owner = NULL, refresh_until = CASE WHEN p_dead THEN NULL ELSE p_again END,
		       state = CASE WHEN p_dead THEN 'needs_reconnect' ELSE a.state END,
		       revision = a.revision + p_dead::int, last_error = p_say, last_error_at = p_now
		 WHERE a.tenant_id = p_tenant AND a.id = p_account AND a.refresh_owner = p_owner AND a.state = 'active'
		RETURNING a.tenant_id, a.id, a.revision)
	INSERT INTO tenant.outbox (tenant_id, key, kind, account_id, made_at)
	SELECT f.tenant_id, 'account:' || f.id || ':' || f.revision, 'notice.account', f.id, p_now FROM freed f WHERE p_dead
	ON CONFLICT DO NOTHING
$$;
-- +goose StatementEnd

-- The sweeper's questions. Each answers with what it changed.

-- sweep_claims: claims older than p_stale. In flight -> unknown_outcome, since
-- the call may have been made; still preparing -> retry, since it was not.
-- +goose StatementBegin
CREATE FUNCTION tenant.sweep_claims(p_stale interval, p_now timestamptz, p_reconcile_at timestamptz, p_retry_at timestamptz, p_limit integer)
RETURNS TABLE (tenant_id bigint, target_id bigint, to_state text) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
	stale tenant.judgement[];
BEGIN
	SELECT array_agg(ROW(s.tenant_id, s.id, s.version_id, s.post_id, s.account_id, s.owner, s.verdict, '', '', NULL, s.attempt_no, false)::tenant.judgement)
	  INTO stale
	  FROM (SELECT t.*, CASE WHEN a.state = 'in_flight' THEN 'unknown_outcome' ELSE 'retry_scheduled' END AS verdict
	          FROM tenant.targets t
	          LEFT JOIN tenant.attempts a ON a.tenant_id = t.tenant_id AND a.target_id = t.id AND a.version_id = t.version_id AND a.attempt_no = t.attempt_no
	         WHERE t.state = 'publishing' AND t.claimed_at < p_now - p_stale
	         ORDER BY t.tenant_id, t.post_id, t.id LIMIT p_limit) s;
	IF stale IS NULL THEN RETURN; END IF;
	PERFORM 1 FROM tenant.posts p JOIN (SELECT DISTINCT tenant_id, post_id FROM unnest(stale)) x ON p.tenant_id = x.tenant_id AND p.id = x.post_id
	 ORDER BY p.tenant_id, p.id FOR NO KEY UPDATE OF p;
	-- Only what is still held by the same owner and still in the same step moves.
	RETURN QUERY
	WITH ended AS (
		UPDATE tenant.attempts a SET state = CASE WHEN a.state = 'in_flight' THEN 'unknown' ELSE 'abandoned' END, ended_at = p_now,
		       say = CASE WHEN a.state = 'in_flight' THEN 'The worker stopped during the call; its outcome is not known.'
		                  ELSE 'The worker stopped before the call that publishes.' END
		  FROM unnest(stale) s
		 WHERE a.tenant_id = s.tenant_id AND a.target_id = s.target_id AND a.version_id = s.version_id AND a.attempt_no = s.attempt_no
		   AND a.owner = s.owner AND a.state IN ('preparing', 'in_flight') AND (a.state = 'in_flight') = (s.verdict = 'unknown_outcome')
		RETURNING a.tenant_id, a.target_id, a.owner
	), moved AS (
		UPDATE tenant.targets t
		   SET state = s.verdict, owner = NULL, claimed_at = NULL, seq = t.seq + 1, looks = 0, updated_at = p_now,
		       reason = 'worker_lost', say = 'The worker that published this stopped half-way.',
		       next_at = CASE WHEN s.verdict = 'unknown_outcome' THEN p_reconcile_at ELSE p_retry_at END
		  FROM unnest(stale) s JOIN ended e ON e.owner = s.owner
		 WHERE t.tenant_id = s.tenant_id AND t.id = s.target_id AND t.owner = s.owner AND t.state = 'publishing'
		RETURNING t.tenant_id, t.id, t.post_id, t.account_id, t.version_id, t.seq, t.next_at, t.state, s.owner AS was
	), freed AS (
		DELETE FROM tenant.publish_guards g USING moved m WHERE g.tenant_id = m.tenant_id AND g.post_id = m.post_id AND g.account_id = m.account_id AND g.owner = m.was
	), owed AS (
		INSERT INTO tenant.outbox (tenant_id, key, kind, target_id, version_id, seq, due_at, made_at)
		SELECT m.tenant_id, CASE m.state WHEN 'unknown_outcome' THEN 'reconcile:' ELSE 'publish:' END || m.id || ':' || m.seq,
		       CASE m.state WHEN 'unknown_outcome' THEN 'target.reconcile' ELSE 'target.publish' END, m.id, m.version_id, m.seq, m.next_at, p_now
		  FROM moved m
	)
	SELECT m.tenant_id, m.id, m.state FROM moved m;
	PERFORM tenant.recompute_posts(array_agg(s.tenant_id), array_agg(s.post_id)) FROM unnest(stale) s;
END $$;
-- +goose StatementEnd

-- owed_targets: targets whose time has passed by p_late and that nothing brought
-- back. The caller compares them with the dispatch index and, for those it does
-- not know, asks for their event again.
-- +goose StatementBegin
CREATE FUNCTION tenant.owed_targets(p_before timestamptz, p_limit integer)
RETURNS TABLE (tenant_id bigint, target_id bigint, version_id bigint, seq bigint, task text, due_at timestamptz)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	SELECT t.tenant_id, t.id, t.version_id, t.seq, CASE t.state WHEN 'unknown_outcome' THEN 'reconcile' ELSE 'publish' END, t.next_at
	  FROM tenant.targets t
	 WHERE t.state IN ('scheduled', 'queued', 'retry_scheduled', 'unknown_outcome') AND t.next_at < p_before
	 ORDER BY t.next_at LIMIT p_limit
$$;
CREATE FUNCTION tenant.sweep_outbox(p_before timestamptz, p_limit integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	WITH gone AS (
		DELETE FROM tenant.outbox o USING (SELECT tenant_id, id FROM tenant.outbox WHERE relayed_at < p_before LIMIT p_limit) x
		 WHERE o.tenant_id = x.tenant_id AND o.id = x.id RETURNING 1)
	SELECT count(*)::integer FROM gone
$$;
-- +goose StatementEnd

-- Mail: take what is due under a lease, then say how it went.
-- +goose StatementBegin
CREATE FUNCTION tenant.take_mails(p_now timestamptz, p_lease timestamptz, p_limit integer)
RETURNS TABLE (tenant_id bigint, id bigint, key text, kind text, to_email text, to_name text, content jsonb, sealed bytea, tries integer, slug text, workspace text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY
	WITH due AS (
		SELECT m.tenant_id, m.id FROM tenant.mails m WHERE m.sent_at IS NULL AND NOT m.given_up AND m.next_at <= p_now
		 ORDER BY m.next_at LIMIT p_limit FOR UPDATE SKIP LOCKED)
	UPDATE tenant.mails m SET next_at = p_lease, tries = m.tries + 1
	  FROM due, tenant.tenants w WHERE m.tenant_id = due.tenant_id AND m.id = due.id AND w.tenant_id = m.tenant_id
	RETURNING m.tenant_id, m.id, m.key, m.kind, m.to_email, m.to_name, m.content, m.sealed, m.tries, w.slug, w.name;
END $$;
CREATE FUNCTION tenant.finish_mail(p_tenant bigint, p_id bigint, p_sent boolean, p_error text, p_next timestamptz, p_give_up boolean, p_now timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	UPDATE tenant.mails SET sent_at = CASE WHEN p_sent THEN p_now END, sealed = CASE WHEN p_sent OR p_give_up THEN NULL ELSE sealed END,
	       last_error = p_error, next_at = coalesce(p_next, next_at), given_up = p_give_up
	 WHERE tenant_id = p_tenant AND id = p_id AND sent_at IS NULL
$$;
CREATE FUNCTION tenant.add_mail(p_tenant bigint, p_key text, p_kind text, p_email text, p_name text, p_content jsonb, p_now timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	INSERT INTO tenant.mails (tenant_id, key, kind, to_email, to_name, content, next_at, made_at)
	VALUES (p_tenant, p_key, p_kind, p_email, p_name, p_content, p_now, p_now) ON CONFLICT DO NOTHING
$$;
-- notice_facts: what a notice about a target or an account says.
CREATE FUNCTION tenant.notice_facts(p_tenant bigint, p_target bigint, p_account bigint)
RETURNS TABLE (workspace text, slug text, client_id bigint, client text, account text, network text, excerpt text, state text, reason text, say text,
	due_at timestamptz, zone text, created_by bigint, connected_by bigint, client_users bigint[], account_id bigint, affected bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	SELECT w.name, w.slug, c.id, c.name, ac.handle, ac.network, coalesce(p.excerpt, ''), coalesce(t.state, ac.state), coalesce(t.reason, ''),
	       coalesce(nullif(t.say, ''), ac.last_error, ''), t.due_at, coalesce(t.zone, c.zone), p.created_by, ac.connected_by,
	       ARRAY(SELECT ca.user_id FROM tenant.client_access ca WHERE ca.tenant_id = p_tenant AND ca.client_id = c.id AND 'posts.schedule' = ANY (ca.permissions)),
	       ac.id,
	       (SELECT count(*) FROM tenant.targets x WHERE x.tenant_id = p_tenant AND x.account_id = ac.id
	         AND x.state IN ('scheduled', 'retry_scheduled', 'needs_reconnect'))
	  FROM tenant.accounts ac
	  JOIN tenant.clients c ON c.tenant_id = ac.tenant_id AND c.id = ac.client_id
	  JOIN tenant.tenants w ON w.tenant_id = ac.tenant_id
	  LEFT JOIN tenant.targets t ON t.tenant_id = ac.tenant_id AND t.id = p_target
	  LEFT JOIN tenant.posts p ON p.tenant_id = t.tenant_id AND p.id = t.post_id
	 WHERE ac.tenant_id = p_tenant AND ac.id = coalesce(t.account_id, p_account)
	   AND (p_target IS NULL OR t.id IS NOT NULL)
$$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE f regprocedure;
BEGIN
	EXECUTE format('GRANT herald_pipeline TO %I', current_user);
	FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace AND p.prosecdef LOOP
		EXECUTE format('ALTER FUNCTION %s OWNER TO herald_pipeline', f);
		EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO herald_worker', f);
	END LOOP;
END $$;
-- +goose StatementEnd
REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
