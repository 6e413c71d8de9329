-- +goose Up

-- When a zone's rule changes, the instants of what is planned are worked out
-- again from the intent: a person who chose nine o'clock gets nine o'clock.

GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- planned_times hands out the plans that lie ahead, page by page in key order.
-- +goose StatementBegin
CREATE FUNCTION tenant.planned_times(p_after timestamptz, p_tenant bigint, p_target bigint, p_limit integer)
RETURNS TABLE (tenant_id bigint, target_id bigint, due_at timestamptz, local_at timestamp, zone text, occurrence text)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT t.tenant_id, t.id, t.due_at, t.local_at, t.zone, t.occurrence FROM tenant.targets t
	 WHERE (t.tenant_id, t.id) > (p_tenant, p_target) AND t.due_at > p_after AND t.state IN ('draft', 'invalid', 'ready', 'scheduled')
	 ORDER BY t.tenant_id, t.id LIMIT p_limit
$$;
-- retime_targets moves plans whose instant is still p_from to p_to, and tells
-- the dispatch index of those that are scheduled.
CREATE FUNCTION tenant.retime_targets(p_tenants bigint[], p_targets bigint[], p_from timestamptz[], p_to timestamptz[], p_now timestamptz) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH moved AS (
		UPDATE tenant.targets t
		   SET due_at = a.to_at, next_at = CASE WHEN t.state = 'scheduled' THEN a.to_at ELSE t.next_at END,
		       seq = t.seq + (t.state = 'scheduled')::int, revision = t.revision + 1, updated_at = p_now
		  FROM unnest(p_tenants, p_targets, p_from, p_to) AS a(tenant_id, target_id, from_at, to_at)
		 WHERE t.tenant_id = a.tenant_id AND t.id = a.target_id AND t.due_at = a.from_at AND t.state IN ('draft', 'invalid', 'ready', 'scheduled')
		RETURNING t.tenant_id, t.id, t.version_id, t.seq, t.due_at, t.state
	), told AS (
		INSERT INTO tenant.outbox (tenant_id, key, kind, target_id, version_id, seq, due_at, made_at)
		SELECT tenant_id, 'publish:' || id || ':' || seq, 'target.publish', id, version_id, seq, due_at, p_now FROM moved WHERE state = 'scheduled'
	)
	SELECT count(*)::integer FROM moved
$$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE f regprocedure;
BEGIN
	FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace AND p.proname IN ('planned_times', 'retime_targets') LOOP
		EXECUTE format('ALTER FUNCTION %s OWNER TO herald_pipeline', f);
		EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO herald_worker', f);
	END LOOP;
END $$;
-- +goose StatementEnd
REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
