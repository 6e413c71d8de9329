-- +goose Up

-- What people are told in time: that an approved post is planned and not scheduled,
-- and of one post's failures in one mail.

-- A post that still has to be approved only keeps its time in mind. Whoever chose the
-- time is told, with the writer, while it is approved and nobody schedules it.
ALTER TABLE tenant.targets ADD COLUMN planned_by bigint;    -- who chose the time that it has in mind
ALTER TABLE tenant.targets ADD COLUMN remind_at timestamptz; -- when its people are told next; null: they were told all
CREATE INDEX targets_unscheduled ON tenant.targets (remind_at) WHERE state = 'ready' AND remind_at IS NOT NULL;

-- A day before the time; a plan made or approved later than that is spoken of two
-- hours before, and one of the last three hours only once its time has passed.
-- +goose StatementBegin
CREATE FUNCTION tenant.remind_of_plan() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.remind_at := CASE
		WHEN NEW.due_at - interval '24 hours' > NEW.updated_at THEN NEW.due_at - interval '24 hours'
		WHEN NEW.due_at - interval '3 hours' > NEW.updated_at THEN NEW.due_at - interval '2 hours'
		ELSE NEW.due_at END;
	RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER targets_remind BEFORE UPDATE ON tenant.targets FOR EACH ROW
	WHEN (NEW.state = 'ready' AND (OLD.state <> 'ready' OR NEW.due_at IS DISTINCT FROM OLD.due_at))
	EXECUTE FUNCTION tenant.remind_of_plan();

-- A mail that tells of one thing may be carried by another to the same person about
-- the same post, which then says both. What is carried waits for its carrier.
ALTER TABLE tenant.mails ADD COLUMN about text NOT NULL DEFAULT '';  -- what it may carry more of: post:7; empty: nothing
ALTER TABLE tenant.mails ADD COLUMN carried_by bigint;
ALTER TABLE tenant.mails ADD CONSTRAINT mails_carrier FOREIGN KEY (tenant_id, carried_by) REFERENCES tenant.mails;
CREATE INDEX mails_gathering ON tenant.mails (tenant_id, to_email, kind, about) WHERE about <> '' AND carried_by IS NULL AND sent_at IS NULL AND NOT given_up;
CREATE INDEX mails_carried ON tenant.mails (tenant_id, carried_by) WHERE carried_by IS NOT NULL;

-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- unscheduled_plans: posts that are approved and planned, that nobody has scheduled,
-- and whose people are to be told now. access is who may see or schedule for their clients.
-- +goose StatementBegin
CREATE FUNCTION tenant.unscheduled_plans(p_now timestamptz, p_limit integer)
RETURNS TABLE (tenant_id bigint, post_id bigint, due_at timestamptz, workspace text, slug text, written_by bigint, targets jsonb, access jsonb)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	WITH plans AS (
		SELECT DISTINCT d.tenant_id, d.post_id, d.due_at
		  FROM (SELECT t.tenant_id, t.post_id, t.due_at FROM tenant.targets t
		         WHERE t.state = 'ready' AND t.remind_at IS NOT NULL AND t.remind_at <= p_now ORDER BY t.remind_at LIMIT p_limit) d)
	SELECT d.tenant_id, d.post_id, d.due_at, w.name, w.slug, x.written_by, x.targets,
	       (SELECT coalesce(jsonb_agg(jsonb_build_object('user', a.user_id, 'client', a.client_id, 'may', a.permissions)), '[]') FROM tenant.client_access a
	         WHERE a.tenant_id = d.tenant_id AND a.client_id = ANY (x.clients))
	  FROM plans d
	  JOIN tenant.tenants w ON w.tenant_id = d.tenant_id
	 CROSS JOIN LATERAL (
		SELECT max(v.created_by) AS written_by, array_agg(t.client_id) AS clients,
		       jsonb_agg(jsonb_build_object('client', c.id, 'name', c.name, 'zone', c.zone, 'network', t.network,
		                                    'words', tenant.words_of(v.content, t.network), 'planned_by', coalesce(t.planned_by, 0)) ORDER BY t.id) AS targets
		  FROM tenant.targets t
		  JOIN tenant.clients c ON c.tenant_id = t.tenant_id AND c.id = t.client_id
		  JOIN tenant.post_versions v ON v.tenant_id = t.tenant_id AND v.id = t.version_id
		 WHERE t.tenant_id = d.tenant_id AND t.post_id = d.post_id AND t.state = 'ready' AND t.due_at = d.due_at) x
	 WHERE x.targets IS NOT NULL
$$;
-- told_unscheduled says that the people of those plans were told. What lies ahead is
-- spoken of once more, when its time has passed.
CREATE FUNCTION tenant.told_unscheduled(p_tenants bigint[], p_posts bigint[], p_dues timestamptz[], p_now timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	UPDATE tenant.targets t SET remind_at = CASE WHEN t.due_at > p_now THEN t.due_at END
	  FROM unnest(p_tenants, p_posts, p_dues) AS d(tenant_id, post_id, due_at)
	 WHERE t.tenant_id = d.tenant_id AND t.post_id = d.post_id AND t.state = 'ready' AND t.due_at = d.due_at
$$;
-- +goose StatementEnd

-- add_notice owes a mail that waits until p_at for more about the same; what comes
-- meanwhile it carries.
-- +goose StatementBegin
CREATE FUNCTION tenant.add_notice(p_tenant bigint, p_key text, p_kind text, p_email text, p_name text, p_content jsonb, p_about text, p_now timestamptz, p_at timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	carrier bigint;
BEGIN
	PERFORM pg_advisory_xact_lock(hashtextextended(p_tenant || ' ' || p_email || ' ' || p_kind || ' ' || p_about, 0));
	SELECT m.id INTO carrier FROM tenant.mails m
	 WHERE m.tenant_id = p_tenant AND m.to_email = p_email AND m.kind = p_kind AND m.about = p_about AND m.about <> '' AND m.carried_by IS NULL
	   AND m.sent_at IS NULL AND NOT m.given_up AND m.tries = 0 AND m.next_at > p_now
	 LIMIT 1 FOR NO KEY UPDATE;
	INSERT INTO tenant.mails (tenant_id, key, kind, to_email, to_name, content, next_at, made_at, about, carried_by)
	VALUES (p_tenant, p_key, p_kind, p_email, p_name, p_content, CASE WHEN carrier IS NULL THEN p_at ELSE 'infinity' END, p_now, p_about, carrier)
	ON CONFLICT DO NOTHING;
END $$;
-- +goose StatementEnd

-- take_mails and finish_mail as in 0003, with what a mail carries.
DROP FUNCTION tenant.take_mails(timestamptz, timestamptz, integer);
-- +goose StatementBegin
CREATE FUNCTION tenant.take_mails(p_now timestamptz, p_lease timestamptz, p_limit integer)
RETURNS TABLE (tenant_id bigint, id bigint, key text, kind text, to_email text, to_name text, content jsonb, sealed bytea, tries integer, slug text, workspace text, carried jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY
	WITH due AS (
		SELECT m.tenant_id, m.id FROM tenant.mails m WHERE m.sent_at IS NULL AND NOT m.given_up AND m.next_at <= p_now
		 ORDER BY m.next_at LIMIT p_limit FOR UPDATE SKIP LOCKED)
	UPDATE tenant.mails m SET next_at = p_lease, tries = m.tries + 1
	  FROM due, tenant.tenants w WHERE m.tenant_id = due.tenant_id AND m.id = due.id AND w.tenant_id = m.tenant_id
	RETURNING m.tenant_id, m.id, m.key, m.kind, m.to_email, m.to_name, m.content, m.sealed, m.tries, w.slug, w.name,
	          (SELECT coalesce(jsonb_agg(c.content ORDER BY c.id), '[]') FROM tenant.mails c WHERE c.tenant_id = m.tenant_id AND c.carried_by = m.id);
END $$;
CREATE OR REPLACE FUNCTION tenant.finish_mail(p_tenant bigint, p_id bigint, p_sent boolean, p_error text, p_next timestamptz, p_give_up boolean, p_now timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	UPDATE tenant.mails SET sent_at = CASE WHEN p_sent THEN p_now END, sealed = CASE WHEN p_sent OR p_give_up THEN NULL ELSE sealed END,
	       last_error = p_error, next_at = coalesce(p_next, next_at), given_up = p_give_up
	 WHERE tenant_id = p_tenant AND id = p_id AND sent_at IS NULL;
	UPDATE tenant.mails SET sent_at = CASE WHEN p_sent THEN p_now END, last_error = p_error, given_up = p_give_up
	 WHERE tenant_id = p_tenant AND carried_by = p_id AND sent_at IS NULL AND (p_sent OR p_give_up);
$$;
-- +goose StatementEnd

-- notice_facts as in 0016, with the post.
DROP FUNCTION tenant.notice_facts(bigint, bigint, bigint);
-- +goose StatementBegin
CREATE FUNCTION tenant.notice_facts(p_tenant bigint, p_target bigint, p_account bigint)
RETURNS TABLE (workspace text, slug text, client_id bigint, client text, account text, network text, excerpt text, state text, reason text, say text,
	due_at timestamptz, zone text, created_by bigint, connected_by bigint, client_users bigint[], account_id bigint, affected bigint, post_id bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	SELECT w.name, w.slug, c.id, c.name, ac.handle, ac.network, coalesce(tenant.words_of(v.content, t.network), ''), coalesce(t.state, ac.state), coalesce(t.reason, ''),
	       coalesce(nullif(t.say, ''), ac.last_error, ''), t.due_at, coalesce(t.zone, c.zone), p.created_by, ac.connected_by,
	       ARRAY(SELECT ca.user_id FROM tenant.client_access ca WHERE ca.tenant_id = p_tenant AND ca.client_id = c.id AND 'posts.schedule' = ANY (ca.permissions)),
	       ac.id,
	       (SELECT count(*) FROM tenant.targets x WHERE x.tenant_id = p_tenant AND x.account_id = ac.id
	         AND x.state IN ('scheduled', 'retry_scheduled', 'needs_reconnect')),
	       p.id
	  FROM tenant.accounts ac
	  JOIN tenant.clients c ON c.tenant_id = ac.tenant_id AND c.id = ac.client_id
	  JOIN tenant.tenants w ON w.tenant_id = ac.tenant_id
	  LEFT JOIN tenant.targets t ON t.tenant_id = ac.tenant_id AND t.id = p_target
	  LEFT JOIN tenant.posts p ON p.tenant_id = t.tenant_id AND p.id = t.post_id
	  LEFT JOIN tenant.post_versions v ON v.tenant_id = t.tenant_id AND v.id = t.version_id
	 WHERE ac.tenant_id = p_tenant AND ac.id = coalesce(t.account_id, p_account)
	   AND (p_target IS NULL OR t.id IS NOT NULL)
$$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE f regprocedure;
BEGIN
	FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace
	          AND p.proname IN ('unscheduled_plans', 'told_unscheduled', 'add_notice', 'take_mails', 'notice_facts') LOOP
		EXECUTE format('ALTER FUNCTION %s OWNER TO herald_pipeline', f);
		EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO herald_worker', f);
	END LOOP;
END $$;
-- +goose StatementEnd

-- Plans of today are spoken of as well; what passed before is not.
SET ROLE herald_pipeline;
UPDATE tenant.targets SET remind_at = CASE WHEN due_at - interval '24 hours' > now() THEN due_at - interval '24 hours' ELSE due_at END
 WHERE state = 'ready' AND due_at > now();
RESET ROLE;

REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('REVOKE herald_pipeline FROM %I', current_user); END $$;
-- +goose StatementEnd
