-- +goose Up

-- What a pause holds back waits for its end, and costs little until then; and an
-- account's own cap is counted under its lock.

CREATE INDEX targets_held ON tenant.targets (tenant_id, id)
	WHERE state = 'retry_scheduled' AND reason IN ('workspace_suspended', 'workspace_paused', 'client_paused', 'account_paused');

-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
GRANT CREATE ON SCHEMA tenant TO herald_pipeline;
GRANT UPDATE (tenant_id) ON tenant.clients TO herald_pipeline; -- to lock a row; the foreign keys forbid a change

-- hold_paused puts what a pause holds back off for long: whoever ends the pause lets
-- it go (Scope.release), and only if that is lost is the claim asked again, sixty times
-- as late as for anything else. The lock keeps a pause from ending between this and
-- the commit, so that whoever ends it sees what it held; and a claim never waits for a
-- lock, since whoever ends a pause waits for targets: a pause that is being changed, or is
-- over, is asked about again soon.
-- +goose StatementBegin
CREATE FUNCTION tenant.hold_paused(p_judged tenant.judgement[], p_now timestamptz, p_hold interval, p_grace interval) RETURNS tenant.judgement[]
LANGUAGE sql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	WITH w AS MATERIALIZED (
		SELECT t.tenant_id, t.suspended_at FROM tenant.tenants t
		 WHERE t.tenant_id IN (SELECT j.tenant_id FROM unnest(p_judged) j WHERE j.reason IN ('workspace_suspended', 'workspace_paused'))
		   AND (t.suspended_at IS NOT NULL OR t.paused_at IS NOT NULL) FOR SHARE SKIP LOCKED
	), c AS MATERIALIZED (
		SELECT k.tenant_id, k.id FROM tenant.clients k
		 WHERE (k.tenant_id, k.id) IN (SELECT t.tenant_id, t.client_id FROM unnest(p_judged) j
		         JOIN tenant.targets t ON t.tenant_id = j.tenant_id AND t.id = j.target_id WHERE j.reason = 'client_paused')
		   AND k.paused_at IS NOT NULL FOR SHARE SKIP LOCKED
	), a AS MATERIALIZED (
		SELECT k.tenant_id, k.id FROM tenant.accounts k
		 WHERE (k.tenant_id, k.id) IN (SELECT j.tenant_id, j.account_id FROM unnest(p_judged) j WHERE j.reason = 'account_paused')
		   AND k.paused_at IS NOT NULL FOR SHARE SKIP LOCKED
	)
	SELECT array_agg(ROW(j.tenant_id, j.target_id, j.version_id, j.post_id, j.account_id, j.owner, j.verdict, j.reason, j.say,
	       CASE WHEN j.reason = 'workspace_suspended' AND w.suspended_at IS NOT NULL THEN least(w.suspended_at + p_grace + p_hold, p_now + 60 * p_hold)
	            WHEN j.reason = 'workspace_paused' AND w.tenant_id IS NOT NULL OR j.reason = 'client_paused' AND c.id IS NOT NULL
	                 OR j.reason = 'account_paused' AND a.id IS NOT NULL THEN p_now + 60 * p_hold
	            ELSE j.retry_at END, j.attempt_no, j.straight)::tenant.judgement)
	  FROM unnest(p_judged) j
	  LEFT JOIN tenant.targets t ON t.tenant_id = j.tenant_id AND t.id = j.target_id
	  LEFT JOIN w ON w.tenant_id = j.tenant_id
	  LEFT JOIN c ON c.tenant_id = j.tenant_id AND c.id = t.client_id
	  LEFT JOIN a ON a.tenant_id = j.tenant_id AND a.id = j.account_id
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION tenant.hold_paused FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenant.hold_paused TO herald_pipeline;

-- claim_targets as it is, but for two things. What a pause holds is put off by
-- hold_paused. And the room of an account is taken before anything is claimed, and only
-- as far as there is any under the row's lock: of two groups that both saw the last of it,
-- the later one waits.
-- +goose StatementBegin
DO $patch$
DECLARE
	have text;
	want text;
	counted text := $old$
	IF p_account_cap > 0 AND 'claimed' = ANY (verdicts) THEN
		INSERT INTO tenant.account_rates AS r (tenant_id, account_id, spent_to)
		SELECT j.tenant_id, j.account_id, p_now - p_account_window + p_account_window / nullif(p_account_cap, 0) * count(*)
		  FROM unnest(judged) j WHERE j.verdict = 'claimed' GROUP BY 1, 2 ORDER BY 1, 2
		ON CONFLICT (tenant_id, account_id) DO UPDATE
		   SET spent_to = greatest(r.spent_to, p_now - p_account_window) + (excluded.spent_to - (p_now - p_account_window));
	END IF;
$old$;
	taken text := $new$
	IF p_account_cap > 0 THEN
		WITH wanted AS (
			SELECT j.tenant_id, j.account_id, p_account_window / nullif(p_account_cap, 0) * count(*) AS cost
			  FROM unnest(judged) j WHERE j.verdict = 'claimed' GROUP BY 1, 2
		), spent AS (
			INSERT INTO tenant.account_rates AS r (tenant_id, account_id, spent_to)
			SELECT w.tenant_id, w.account_id, p_now - p_account_window + w.cost FROM wanted w ORDER BY 1, 2
			ON CONFLICT (tenant_id, account_id) DO UPDATE
			   SET spent_to = greatest(r.spent_to, p_now - p_account_window) + (excluded.spent_to - (p_now - p_account_window))
			 WHERE greatest(r.spent_to, p_now - p_account_window) + (excluded.spent_to - (p_now - p_account_window)) <= p_now
			RETURNING r.tenant_id, r.account_id
		)
		SELECT array_agg(w.tenant_id), array_agg(w.account_id) INTO full_tenants, full_accounts
		  FROM wanted w LEFT JOIN spent s ON s.tenant_id = w.tenant_id AND s.account_id = w.account_id WHERE s.account_id IS NULL;
		IF full_accounts IS NOT NULL THEN
			DELETE FROM tenant.publish_guards g USING unnest(judged) j
			  JOIN unnest(full_tenants, full_accounts) AS f(tenant_id, account_id) ON f.tenant_id = j.tenant_id AND f.account_id = j.account_id
			 WHERE j.verdict = 'claimed' AND g.tenant_id = j.tenant_id AND g.post_id = j.post_id AND g.account_id = j.account_id AND g.owner = j.owner;
			SELECT array_agg(CASE WHEN j.verdict = 'claimed' AND f.account_id IS NOT NULL
			       THEN ROW(j.tenant_id, j.target_id, j.version_id, j.post_id, j.account_id, j.owner, 'postponed', 'account_rate', '',
			                p_now + p_account_window / nullif(p_account_cap, 0), j.attempt_no, j.straight)::tenant.judgement ELSE j END)
			  INTO judged
			  FROM unnest(judged) j LEFT JOIN unnest(full_tenants, full_accounts) AS f(tenant_id, account_id) ON f.tenant_id = j.tenant_id AND f.account_id = j.account_id;
		END IF;
	END IF;

	verdicts := ARRAY(SELECT DISTINCT j.verdict FROM unnest(judged) j);
$new$;
	held text := $new$
	IF judged IS NULL THEN RETURN; END IF;
	IF EXISTS (SELECT FROM unnest(judged) j WHERE j.reason IN ('workspace_suspended', 'workspace_paused', 'client_paused', 'account_paused')) THEN
		judged := tenant.hold_paused(judged, p_now, p_hold, p_grace);
	END IF;
$new$;
BEGIN
	SELECT pg_get_functiondef(p.oid) INTO STRICT have FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace AND p.proname = 'claim_targets';
	want := replace(have, counted, '');
	want := replace(want, E'\n\tverdicts := ARRAY(SELECT DISTINCT j.verdict FROM unnest(judged) j);\n', taken);
	want := replace(want, E'\n\tIF judged IS NULL THEN RETURN; END IF;\n', held);
	want := replace(want, E'\tverdicts text[];\n', E'\tverdicts text[];\n\tfull_tenants bigint[];\n\tfull_accounts bigint[];\n');
	IF position(counted IN have) = 0 OR position(taken IN want) = 0 OR position(held IN want) = 0 OR position('full_accounts bigint[];' IN want) = 0 THEN
		RAISE EXCEPTION 'claim_targets is not as 0034 knows it';
	END IF;
	EXECUTE want;
END $patch$;
-- +goose StatementEnd

REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('REVOKE herald_pipeline FROM %I', current_user); END $$;
-- +goose StatementEnd
