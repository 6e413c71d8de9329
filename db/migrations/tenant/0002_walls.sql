-- +goose Up

-- The walls between workspaces, and the rules that no code path can get round.

-- The workspace of this transaction; null, and so nothing, when none was set.
CREATE FUNCTION tenant.current_tenant() RETURNS bigint
	LANGUAGE sql STABLE PARALLEL SAFE
	RETURN nullif(current_setting('herald.tenant', true), '')::bigint;

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
	FOR t IN SELECT c.relname FROM pg_class c
	          WHERE c.relnamespace = 'tenant'::regnamespace AND c.relkind = 'r'
	            AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped)
	LOOP
		EXECUTE format('ALTER TABLE tenant.%I ENABLE ROW LEVEL SECURITY', t);
		EXECUTE format('ALTER TABLE tenant.%I FORCE ROW LEVEL SECURITY', t);
		EXECUTE format('CREATE POLICY own_workspace ON tenant.%I TO herald_app
			USING (tenant_id = (SELECT tenant.current_tenant()))
			WITH CHECK (tenant_id = (SELECT tenant.current_tenant()))', t);
		-- The pipeline's functions act for many workspaces and match tenant_id themselves.
		EXECUTE format('CREATE POLICY pipeline ON tenant.%I TO herald_pipeline USING (true) WITH CHECK (true)', t);
	END LOOP;
END $$;
-- +goose StatementEnd

GRANT USAGE ON SCHEMA tenant TO herald_app, herald_worker, herald_pipeline;
GRANT SELECT ON ALL TABLES IN SCHEMA tenant TO herald_app, herald_pipeline;
GRANT INSERT ON ALL TABLES IN SCHEMA tenant TO herald_app, herald_pipeline;
REVOKE INSERT ON tenant.target_moves FROM herald_app, herald_pipeline;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA tenant TO herald_app, herald_pipeline;

-- Insert-only for everyone: versions, moves, decisions, findings, audit. The
-- app may not touch attempts at all; the pipeline writes their results.
GRANT UPDATE ON tenant.tenants, tenant.clients, tenant.client_access, tenant.approvers, tenant.stages, tenant.accounts,
	tenant.media, tenant.posts, tenant.targets, tenant.approval_requests, tenant.review_links, tenant.mails, tenant.blackouts TO herald_app;
GRANT DELETE ON tenant.client_access, tenant.stages, tenant.stage_people, tenant.blackouts, tenant.slots TO herald_app;
REVOKE INSERT ON tenant.attempts, tenant.publish_guards, tenant.account_rates, tenant.usage_months FROM herald_app;
GRANT UPDATE ON tenant.posts, tenant.targets, tenant.accounts, tenant.attempts, tenant.publish_guards, tenant.account_rates,
	tenant.usage_months, tenant.outbox, tenant.mails TO herald_pipeline;
GRANT UPDATE (tenant_id) ON tenant.tenants TO herald_pipeline; -- to lock a row; the foreign keys forbid a change
GRANT DELETE ON tenant.publish_guards, tenant.outbox, tenant.mails TO herald_pipeline;

-- +goose StatementBegin
CREATE FUNCTION tenant.refuse_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION '% rows are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_TABLE_NAME || '_immutable';
END $$;
-- +goose StatementEnd

CREATE TRIGGER post_versions_immutable BEFORE UPDATE OR DELETE ON tenant.post_versions FOR EACH ROW EXECUTE FUNCTION tenant.refuse_update();
CREATE TRIGGER target_changes_immutable BEFORE UPDATE OR DELETE ON tenant.target_changes FOR EACH ROW EXECUTE FUNCTION tenant.refuse_update();
CREATE TRIGGER decisions_immutable BEFORE UPDATE OR DELETE ON tenant.decisions FOR EACH ROW EXECUTE FUNCTION tenant.refuse_update();
CREATE TRIGGER findings_immutable BEFORE UPDATE OR DELETE ON tenant.findings FOR EACH ROW EXECUTE FUNCTION tenant.refuse_update();
CREATE TRIGGER audit_immutable BEFORE UPDATE OR DELETE ON tenant.audit FOR EACH ROW EXECUTE FUNCTION tenant.refuse_update();

-- Every move leaves a row, and one that is no edge is refused, whoever asks. One
-- statement of many rows costs one check and one insert. herald.user names the
-- person. The pipeline's claim takes a target through queued in one statement:
-- for its role alone that is two moves, each of them an edge, each recorded.
-- +goose StatementBegin
CREATE FUNCTION tenant.record_target_moves() RETURNS trigger LANGUAGE plpgsql SET enable_hashjoin = on SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	wrong text;
BEGIN
	WITH moved AS (
		SELECT n.tenant_id, n.id, o.state AS was, n.state AS is_now, n.reason, n.updated_at,
		       current_user = 'herald_pipeline' AND o.state IN ('scheduled', 'retry_scheduled') AND n.state <> 'queued' AS passing
		  FROM new_rows n JOIN old_rows o ON o.tenant_id = n.tenant_id AND o.id = n.id
		 WHERE o.state <> n.state
	), steps AS (
		SELECT tenant_id, id, CASE WHEN passing THEN 'queued' ELSE was END AS was, is_now, reason, updated_at, 2 AS nth FROM moved
		UNION ALL
		SELECT tenant_id, id, was, 'queued', '', updated_at, 1 FROM moved WHERE passing
	), wrote AS (
		INSERT INTO tenant.target_changes (tenant_id, target_id, from_state, to_state, reason, user_id, at)
		SELECT s.tenant_id, s.id, s.was, s.is_now, s.reason, nullif(current_setting('herald.user', true), '')::bigint, s.updated_at
		  FROM steps s ORDER BY s.tenant_id, s.id, s.nth
	)
	SELECT s.was || ' -> ' || s.is_now INTO wrong FROM steps s
	 WHERE NOT EXISTS (SELECT FROM tenant.target_moves m WHERE m.from_state = s.was AND m.to_state = s.is_now)
	 LIMIT 1;
	IF wrong IS NOT NULL THEN
		RAISE EXCEPTION 'a target cannot move %', wrong USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'target_changes_legal';
	END IF;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER targets_record_moves AFTER UPDATE ON tenant.targets
	REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
	FOR EACH STATEMENT EXECUTE FUNCTION tenant.record_target_moves();

-- A target starts as a draft, and never changes what it is a target of.
-- +goose StatementBegin
CREATE FUNCTION tenant.guard_target() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'INSERT' THEN
		IF NEW.state NOT IN ('draft', 'invalid', 'ready') THEN
			RAISE EXCEPTION 'a target cannot start as %', NEW.state USING ERRCODE = 'check_violation', CONSTRAINT = 'targets_start_editable';
		END IF;
	ELSIF (NEW.tenant_id, NEW.id, NEW.post_id, NEW.account_id, NEW.client_id) IS DISTINCT FROM (OLD.tenant_id, OLD.id, OLD.post_id, OLD.account_id, OLD.client_id) THEN
		RAISE EXCEPTION 'a target keeps its post and account' USING ERRCODE = 'check_violation', CONSTRAINT = 'targets_keep_identity';
	ELSIF OLD.state IN ('published', 'cancelled') AND NEW.version_id <> OLD.version_id THEN
		RAISE EXCEPTION 'a target that has ended keeps its version' USING ERRCODE = 'check_violation', CONSTRAINT = 'targets_keep_history';
	END IF;
	RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER targets_guard_insert BEFORE INSERT ON tenant.targets FOR EACH ROW EXECUTE FUNCTION tenant.guard_target();
CREATE TRIGGER targets_guard_update BEFORE UPDATE ON tenant.targets FOR EACH ROW
	WHEN (NEW.tenant_id <> OLD.tenant_id OR NEW.id <> OLD.id OR NEW.post_id <> OLD.post_id OR NEW.account_id <> OLD.account_id OR NEW.client_id <> OLD.client_id
	      OR (NEW.version_id <> OLD.version_id AND OLD.state IN ('published', 'cancelled')))
	EXECUTE FUNCTION tenant.guard_target();

-- The aggregate of a post: what its targets say, else what its review says.
-- +goose StatementBegin
CREATE FUNCTION tenant.recompute_posts(p_tenants bigint[], p_posts bigint[]) RETURNS void LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	WITH asked AS (
		SELECT DISTINCT tenant_id, id FROM unnest(p_tenants, p_posts) AS a(tenant_id, id)
	), told AS (
		SELECT p.tenant_id, p.id,
		       CASE
		         WHEN p.archived_at IS NOT NULL THEN 'cancelled'
		         WHEN s.going THEN 'publishing'
		         WHEN s.waiting > 0 AND s.ended > 0 THEN 'publishing'
		         WHEN s.waiting > 0 THEN 'scheduled'
		         WHEN s.editable = 0 AND s.published > 0 AND s.published = s.live THEN 'published'
		         WHEN s.editable = 0 AND s.published > 0 THEN 'partially_failed'
		         WHEN s.editable = 0 AND s.live > 0 THEN 'failed'
		         WHEN s.live = 0 AND s.cancelled > 0 THEN 'cancelled'
		         WHEN p.review = 'approved' AND s.invalid = 0 THEN 'approved'
		         WHEN p.review IN ('in_review', 'changes_requested') THEN p.review
		         WHEN s.invalid > 0 THEN 'invalid'
		         ELSE 'draft'
		       END AS state
		  FROM asked
		  JOIN tenant.posts p ON p.tenant_id = asked.tenant_id AND p.id = asked.id
		  CROSS JOIN LATERAL (
			SELECT coalesce(bool_or(t.state IN ('queued', 'publishing', 'unknown_outcome')), false) AS going,
			       count(*) FILTER (WHERE t.state IN ('scheduled', 'retry_scheduled')) AS waiting,
			       count(*) FILTER (WHERE t.state IN ('published', 'failed', 'needs_reconnect')) AS ended,
			       count(*) FILTER (WHERE t.state = 'published') AS published,
			       count(*) FILTER (WHERE t.state IN ('draft', 'invalid', 'ready')) AS editable,
			       count(*) FILTER (WHERE t.state = 'invalid') AS invalid,
			       count(*) FILTER (WHERE t.state = 'cancelled') AS cancelled,
			       count(*) FILTER (WHERE t.state <> 'cancelled') AS live
			  FROM tenant.targets t
			 WHERE t.tenant_id = p.tenant_id AND t.post_id = p.id) s
	)
	UPDATE tenant.posts p SET state = told.state
	  FROM told
	 WHERE p.tenant_id = told.tenant_id AND p.id = told.id AND p.state <> told.state;
END $$;
-- +goose StatementEnd
GRANT EXECUTE ON FUNCTION tenant.recompute_posts TO herald_app, herald_pipeline;
GRANT EXECUTE ON FUNCTION tenant.current_tenant TO herald_app, herald_pipeline, herald_worker;
