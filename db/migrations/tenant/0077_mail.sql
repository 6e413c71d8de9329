-- +goose Up

-- Who wants no more reminders. What asks for a decision the first time, and what tells
-- of trouble, comes all the same.
CREATE TABLE tenant.mail_stops (
	tenant_id   bigint NOT NULL,
	id          bigint GENERATED ALWAYS AS IDENTITY,
	user_id     bigint,
	approver_id bigint,
	at          timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT mail_stops_one_person CHECK (num_nonnulls(user_id, approver_id) = 1),
	CONSTRAINT mail_stops_approver FOREIGN KEY (tenant_id, approver_id) REFERENCES tenant.approvers
);
CREATE UNIQUE INDEX mail_stops_once ON tenant.mail_stops (tenant_id, coalesce(user_id, 0), coalesce(approver_id, 0));

ALTER TABLE tenant.mail_stops ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.mail_stops FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.mail_stops TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
CREATE POLICY pipeline ON tenant.mail_stops TO herald_pipeline USING (true) WITH CHECK (true);
GRANT SELECT ON tenant.mail_stops TO herald_app, herald_pipeline;
GRANT INSERT, DELETE ON tenant.mail_stops TO herald_app;

-- plan_reminders as it is, but for who wants none.
-- +goose StatementBegin
DO $patch$
DECLARE
	have text;
	want text;
	given text := $old$AND x.after IS NOT NULL
$old$;
	asked text := $new$AND x.after IS NOT NULL
	   AND NOT (x.kind = 'remind' AND EXISTS (SELECT FROM tenant.mail_stops s WHERE s.tenant_id = r.tenant_id
	                                            AND coalesce(s.user_id, 0) = x.user_id AND coalesce(s.approver_id, 0) = x.approver_id))
$new$;
BEGIN
	SELECT pg_get_functiondef(p.oid) INTO STRICT have FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace AND p.proname = 'plan_reminders';
	want := replace(have, given, asked);
	IF want = have THEN RAISE EXCEPTION 'plan_reminders is not as 0077 knows it'; END IF;
	EXECUTE want;
END $patch$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- mail_pictures is the first file that a request's client would get, with what says its
-- alt text.
-- +goose StatementBegin
CREATE FUNCTION tenant.mail_pictures(p_tenant bigint, p_requests bigint[])
RETURNS TABLE (request_id bigint, path text, content bytea, network text, account_id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT DISTINCT ON (r.id) r.id, m.thumb_path, v.content, t.network, t.account_id
	  FROM tenant.approval_requests r
	  JOIN tenant.targets t ON t.tenant_id = r.tenant_id AND t.post_id = r.post_id AND t.version_id = r.version_id AND t.client_id = r.client_id AND t.state <> 'cancelled'
	  JOIN tenant.media m ON m.tenant_id = t.tenant_id AND m.id = t.media_ids[1] AND m.client_id = r.client_id AND m.state = 'ready' AND m.thumb_path <> ''
	  JOIN tenant.post_versions v ON v.tenant_id = r.tenant_id AND v.id = r.version_id
	 WHERE r.tenant_id = p_tenant AND r.id = ANY (p_requests) ORDER BY r.id, t.network, t.account_id
$$;
-- +goose StatementEnd
ALTER FUNCTION tenant.mail_pictures(bigint, bigint[]) OWNER TO herald_pipeline;
REVOKE ALL ON FUNCTION tenant.mail_pictures(bigint, bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenant.mail_pictures(bigint, bigint[]) TO herald_worker;

REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('REVOKE herald_pipeline FROM %I', current_user); END $$;
-- +goose StatementEnd
