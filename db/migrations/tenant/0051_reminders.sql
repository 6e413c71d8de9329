-- +goose Up

-- Whoever is asked is reminded until the decision, and members of the agency are told
-- when that helps nothing, as the client's workflow says.

ALTER TABLE tenant.approval_requests ADD COLUMN stage_since timestamptz; -- since when its stage decides; null: since it was asked

-- The reader's own zone, if the person chose one on the page; null: the client's.
ALTER TABLE tenant.approvers ADD COLUMN zone text;

-- One person's reminder of one request at its stage. It goes when the stage is decided,
-- or the person has decided.
CREATE TABLE tenant.reminders (
	tenant_id   bigint NOT NULL,
	id          bigint GENERATED ALWAYS AS IDENTITY,
	request_id  bigint NOT NULL,
	kind        text NOT NULL CONSTRAINT reminders_kind_known CHECK (kind IN ('remind', 'escalate')),
	user_id     bigint,
	approver_id bigint,
	next_at     timestamptz,                             -- null: nothing more comes
	last_at     timestamptz,
	sent        integer NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT reminders_of_request FOREIGN KEY (tenant_id, request_id) REFERENCES tenant.approval_requests,
	CONSTRAINT reminders_approver FOREIGN KEY (tenant_id, approver_id) REFERENCES tenant.approvers,
	CONSTRAINT reminders_one_person CHECK (num_nonnulls(user_id, approver_id) = 1)
);
CREATE UNIQUE INDEX reminders_once ON tenant.reminders (tenant_id, request_id, kind, coalesce(user_id, 0), coalesce(approver_id, 0));
CREATE INDEX reminders_due ON tenant.reminders (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX reminders_of_user ON tenant.reminders (tenant_id, user_id, kind) WHERE user_id IS NOT NULL;
CREATE INDEX reminders_of_approver ON tenant.reminders (tenant_id, approver_id) WHERE approver_id IS NOT NULL;

ALTER TABLE tenant.reminders ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.reminders FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.reminders TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
CREATE POLICY pipeline ON tenant.reminders TO herald_pipeline USING (true) WITH CHECK (true);
GRANT SELECT, UPDATE ON tenant.reminders TO herald_app, herald_pipeline;
GRANT INSERT, DELETE ON tenant.reminders TO herald_app;
CREATE INDEX mails_reminding ON tenant.mails (tenant_id, to_email) WHERE kind IN ('reminder', 'review_reminder', 'escalation') AND sent_at IS NULL AND NOT given_up;

-- plan_reminders makes those of a request at its stage, for who has not decided, and
-- moves those that are there to what the workflow says today.
-- +goose StatementBegin
CREATE FUNCTION tenant.plan_reminders(p_tenant bigint, p_request bigint) RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
	INSERT INTO tenant.reminders AS m (tenant_id, request_id, kind, user_id, approver_id, next_at)
	SELECT r.tenant_id, r.id, x.kind, nullif(x.user_id, 0), nullif(x.approver_id, 0), coalesce(r.stage_since, r.asked_at) + x.after
	  FROM tenant.approval_requests r
	  JOIN tenant.clients c ON c.tenant_id = r.tenant_id AND c.id = r.client_id
	 CROSS JOIN LATERAL (
		SELECT 'remind' AS kind, coalesce((p ->> 'user')::bigint, 0) AS user_id, coalesce((p ->> 'approver')::bigint, 0) AS approver_id, c.remind_after AS after
		  FROM jsonb_array_elements(r.stages -> (r.stage - 1) -> 'people') p
		UNION ALL
		SELECT 'escalate', e.user_id, 0, c.escalate_after FROM tenant.escalation_people e WHERE e.tenant_id = r.tenant_id AND e.client_id = r.client_id) x
	 WHERE r.tenant_id = p_tenant AND r.id = p_request AND r.state = 'open' AND x.after IS NOT NULL
	   AND NOT (x.kind = 'remind' AND EXISTS (SELECT FROM tenant.decisions d WHERE d.tenant_id = r.tenant_id AND d.request_id = r.id AND d.stage = r.stage
	                                            AND coalesce(d.user_id, 0) = x.user_id AND coalesce(d.approver_id, 0) = x.approver_id))
	ON CONFLICT (tenant_id, request_id, kind, coalesce(user_id, 0), coalesce(approver_id, 0)) DO UPDATE SET next_at = CASE
		WHEN m.sent = 0 THEN excluded.next_at
		WHEN m.kind = 'remind' THEN m.last_at + (SELECT c.remind_every FROM tenant.approval_requests r JOIN tenant.clients c ON c.tenant_id = r.tenant_id AND c.id = r.client_id WHERE r.tenant_id = p_tenant AND r.id = p_request) END
$$;
-- replan_reminders does that for the open requests of a client whose workflow changed.
CREATE FUNCTION tenant.replan_reminders(p_tenant bigint, p_client bigint) RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
	DELETE FROM tenant.reminders m USING tenant.approval_requests r, tenant.clients c
	 WHERE m.tenant_id = p_tenant AND r.tenant_id = m.tenant_id AND r.id = m.request_id AND r.client_id = p_client AND c.tenant_id = r.tenant_id AND c.id = r.client_id
	   AND (m.kind = 'remind' AND c.remind_after IS NULL
	        OR m.kind = 'escalate' AND (c.escalate_after IS NULL
	           OR NOT EXISTS (SELECT FROM tenant.escalation_people e WHERE e.tenant_id = m.tenant_id AND e.client_id = p_client AND e.user_id = m.user_id)));
	SELECT tenant.plan_reminders(r.tenant_id, r.id) FROM tenant.approval_requests r WHERE r.tenant_id = p_tenant AND r.client_id = p_client AND r.state = 'open';
$$;
-- forget_reminders takes away the reminders of a request, or one person's of them, and
-- what mails that have not left would say about it.
CREATE FUNCTION tenant.forget_reminders(p_tenant bigint, p_request bigint, p_user bigint, p_approver bigint) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	DELETE FROM tenant.reminders m WHERE m.tenant_id = p_tenant AND m.request_id = p_request
	   AND (p_user IS NULL AND p_approver IS NULL OR m.kind = 'remind' AND m.user_id IS NOT DISTINCT FROM p_user AND m.approver_id IS NOT DISTINCT FROM p_approver);
	UPDATE tenant.mails m
	   SET content = jsonb_set(m.content, '{posts}', x.posts), given_up = x.posts = '[]', sealed = CASE WHEN x.posts <> '[]' THEN m.sealed END,
	       last_error = CASE WHEN x.posts = '[]' THEN 'decided before it left' ELSE m.last_error END
	  FROM tenant.mails f CROSS JOIN LATERAL (
		SELECT coalesce(jsonb_agg(p ORDER BY n), '[]') AS posts FROM jsonb_array_elements(f.content -> 'posts') WITH ORDINALITY a(p, n)
		 WHERE (p ->> 'request')::bigint IS DISTINCT FROM p_request) x
	 WHERE f.tenant_id = p_tenant AND f.kind IN ('reminder', 'review_reminder', 'escalation') AND f.sent_at IS NULL AND NOT f.given_up
	   AND f.content -> 'posts' @> jsonb_build_array(jsonb_build_object('request', p_request))
	   AND (p_user IS NULL AND p_approver IS NULL OR f.kind = 'reminder' AND (f.content ->> 'user')::bigint = p_user OR f.kind = 'review_reminder' AND (f.content ->> 'approver')::bigint = p_approver)
	   AND m.tenant_id = f.tenant_id AND m.id = f.id;
END $$;

CREATE FUNCTION tenant.reminders_follow_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'UPDATE' THEN
		PERFORM tenant.forget_reminders(NEW.tenant_id, NEW.id, NULL, NULL);
	END IF;
	PERFORM tenant.plan_reminders(NEW.tenant_id, NEW.id);
	RETURN NULL;
END $$;
CREATE FUNCTION tenant.reminders_follow_decision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM tenant.forget_reminders(NEW.tenant_id, NEW.request_id, NEW.user_id, NEW.approver_id);
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER approval_requests_begin_reminders AFTER INSERT ON tenant.approval_requests FOR EACH ROW EXECUTE FUNCTION tenant.reminders_follow_request();
CREATE TRIGGER approval_requests_move_reminders AFTER UPDATE ON tenant.approval_requests FOR EACH ROW
	WHEN (NEW.state <> OLD.state OR NEW.stage <> OLD.stage) EXECUTE FUNCTION tenant.reminders_follow_request();
CREATE TRIGGER decisions_end_reminders AFTER INSERT ON tenant.decisions FOR EACH ROW EXECUTE FUNCTION tenant.reminders_follow_decision();

-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- take_reminders leases the due reminders of some people, and says for each of them
-- all that waits there. Only one takes at a time, so that a person is one's alone.
-- +goose StatementBegin
CREATE FUNCTION tenant.take_reminders(p_now timestamptz, p_lease timestamptz, p_limit integer)
RETURNS TABLE (tenant_id bigint, workspace text, slug text, kind text, user_id bigint, approver_id bigint, email text, name text, zone text, waits jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
	IF NOT pg_try_advisory_xact_lock(hashtext('tenant.take_reminders')) THEN RETURN; END IF;
	RETURN QUERY
	WITH due AS MATERIALIZED (
		SELECT m.tenant_id, m.kind, m.user_id, m.approver_id FROM tenant.reminders m WHERE m.next_at <= p_now ORDER BY m.next_at LIMIT p_limit
	), people AS MATERIALIZED (
		SELECT DISTINCT d.tenant_id, d.kind, coalesce(d.user_id, 0) AS user_id, coalesce(d.approver_id, 0) AS approver_id FROM due d
	), theirs AS MATERIALIZED (
		SELECT m.*, m.next_at IS NOT NULL AND m.next_at <= p_now AS is_due FROM people p JOIN tenant.reminders m
		    ON p.user_id <> 0 AND m.tenant_id = p.tenant_id AND m.user_id = p.user_id AND m.kind = p.kind
		UNION ALL
		SELECT m.*, m.next_at IS NOT NULL AND m.next_at <= p_now FROM people p JOIN tenant.reminders m
		    ON p.approver_id <> 0 AND m.tenant_id = p.tenant_id AND m.approver_id = p.approver_id AND m.kind = p.kind
	), leased AS (
		UPDATE tenant.reminders m SET next_at = p_lease FROM theirs t WHERE t.is_due AND m.tenant_id = t.tenant_id AND m.id = t.id AND m.next_at <= p_now
	)
	SELECT t.tenant_id, w.name, w.slug, t.kind, coalesce(t.user_id, 0), coalesce(t.approver_id, 0), coalesce(min(a.email), ''), coalesce(min(a.name), ''),
	       coalesce(min(a.zone), min(c.zone)),
	       jsonb_agg(jsonb_build_object('id', t.id, 'due', t.is_due, 'request', r.id, 'post', r.post_id, 'client', c.name, 'zone', c.zone, 'due_at', r.due_at,
	                 'stage', r.stages -> (r.stage - 1) ->> 'name', 'since', coalesce(r.stage_since, r.asked_at), 'asked_by', r.asked_by,
	                 'words', (SELECT tenant.words_of(v.content, coalesce(n.networks[1], '')) FROM tenant.post_versions v WHERE v.tenant_id = r.tenant_id AND v.id = r.version_id),
	                 'networks', coalesce(n.networks, '{}'), 'may', coalesce(g.may, false),
	                 'owing', (SELECT coalesce(jsonb_agg(p ->> 'name'), '[]') FROM jsonb_array_elements(r.stages -> (r.stage - 1) -> 'people') p
	                            WHERE NOT EXISTS (SELECT FROM tenant.decisions d WHERE d.tenant_id = r.tenant_id AND d.request_id = r.id AND d.stage = r.stage
	                                                AND coalesce(d.user_id, 0) = coalesce((p ->> 'user')::bigint, 0) AND coalesce(d.approver_id, 0) = coalesce((p ->> 'approver')::bigint, 0))))
	                 ORDER BY r.due_at NULLS LAST, r.id)
	  FROM theirs t
	  JOIN tenant.approval_requests r ON r.tenant_id = t.tenant_id AND r.id = t.request_id AND r.closed_at IS NULL
	  JOIN tenant.clients c ON c.tenant_id = r.tenant_id AND c.id = r.client_id
	  JOIN tenant.tenants w ON w.tenant_id = t.tenant_id
	  LEFT JOIN tenant.approvers a ON a.tenant_id = t.tenant_id AND a.id = t.approver_id AND a.revoked_at IS NULL
	  LEFT JOIN LATERAL (SELECT array_agg(DISTINCT x.network) AS networks FROM tenant.targets x
	                      WHERE x.tenant_id = r.tenant_id AND x.post_id = r.post_id AND x.version_id = r.version_id AND x.client_id = r.client_id AND x.state <> 'cancelled') n ON true
	  LEFT JOIN LATERAL (SELECT CASE t.kind WHEN 'remind' THEN 'posts.approve' ELSE 'posts.view' END = ANY (x.permissions) AS may FROM tenant.client_access x
	                      WHERE x.tenant_id = t.tenant_id AND x.user_id = t.user_id AND x.client_id = r.client_id) g ON true
	 GROUP BY t.tenant_id, w.name, w.slug, t.kind, coalesce(t.user_id, 0), coalesce(t.approver_id, 0);
END $$;
-- put_off_reminders moves leased ones to another time, or ends them with none.
CREATE FUNCTION tenant.put_off_reminders(p_tenant bigint, p_ids bigint[], p_lease timestamptz, p_at timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	UPDATE tenant.reminders SET next_at = p_at WHERE tenant_id = p_tenant AND id = ANY (p_ids) AND next_at = p_lease
$$;
-- send_reminder owes one person's mail and plans the next, if all that it speaks of
-- still waits and the lease holds; false if not. An approver's carries a new link.
CREATE FUNCTION tenant.send_reminder(p_tenant bigint, p_ids bigint[], p_lease timestamptz, p_now timestamptz, p_key text, p_kind text, p_email text, p_name text,
	p_content jsonb, p_sealed bytea, p_approver bigint, p_token_hash bytea, p_until timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	held integer;
	due integer;
	link bigint;
BEGIN
	SELECT count(*), count(*) FILTER (WHERE x.next_at = p_lease) INTO held, due FROM (
		SELECT m.next_at FROM tenant.reminders m WHERE m.tenant_id = p_tenant AND m.id = ANY (p_ids) ORDER BY m.id FOR UPDATE) x;
	IF held <> cardinality(p_ids) OR due = 0 THEN RETURN false; END IF;
	UPDATE tenant.reminders m SET sent = m.sent + 1, last_at = p_now, next_at = CASE WHEN m.kind = 'remind' THEN p_now + c.remind_every END
	  FROM tenant.approval_requests r JOIN tenant.clients c ON c.tenant_id = r.tenant_id AND c.id = r.client_id
	 WHERE m.tenant_id = p_tenant AND m.id = ANY (p_ids) AND r.tenant_id = m.tenant_id AND r.id = m.request_id;
	IF p_approver IS NOT NULL THEN
		INSERT INTO tenant.review_links (tenant_id, token_hash, approver_id, expires_at, created_at) VALUES (p_tenant, p_token_hash, p_approver, p_until, p_now) RETURNING id INTO link;
		INSERT INTO tenant.review_link_requests (tenant_id, link_id, request_id) SELECT p_tenant, link, m.request_id FROM tenant.reminders m WHERE m.tenant_id = p_tenant AND m.id = ANY (p_ids);
	END IF;
	INSERT INTO tenant.mails (tenant_id, key, kind, to_email, to_name, content, sealed, next_at, made_at)
	VALUES (p_tenant, p_key, p_kind, p_email, p_name, p_content, p_sealed, p_now, p_now);
	RETURN true;
END $$;
-- +goose StatementEnd

-- finish_mail as in 0033, but for what was given up while it was on its way: that stays so.
-- +goose StatementBegin
DO $$
DECLARE
	have text;
	want text;
BEGIN
	SELECT pg_get_functiondef(p.oid) INTO STRICT have FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace AND p.proname = 'finish_mail';
	want := replace(have, 'next_at = coalesce(p_next, next_at), given_up = p_give_up', 'next_at = coalesce(p_next, next_at), given_up = NOT p_sent AND (given_up OR p_give_up)');
	IF want = have THEN RAISE EXCEPTION 'finish_mail is not as 0051 knows it'; END IF;
	EXECUTE want;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE f regprocedure;
BEGIN
	FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace AND p.proname IN ('take_reminders', 'put_off_reminders', 'send_reminder') LOOP
		EXECUTE format('ALTER FUNCTION %s OWNER TO herald_pipeline', f);
		EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO herald_worker', f);
	END LOOP;
	FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace AND p.proname IN ('plan_reminders', 'replan_reminders', 'forget_reminders') LOOP
		EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO herald_app', f);
	END LOOP;
END $$;
-- +goose StatementEnd
REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('REVOKE herald_pipeline FROM %I', current_user); END $$;
-- +goose StatementEnd
