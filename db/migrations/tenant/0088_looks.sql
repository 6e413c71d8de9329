-- +goose Up

-- How review pages and their mails look: the workspace's, and what a client has of its
-- own over it. What is empty is taken from the workspace's.
CREATE TABLE tenant.looks (
	tenant_id bigint NOT NULL,
	id        bigint GENERATED ALWAYS AS IDENTITY,
	client_id bigint,                                    -- null: the workspace's
	name      text NOT NULL DEFAULT '',                  -- in place of the workspace's
	accent    text NOT NULL DEFAULT '' CONSTRAINT looks_accent_is_colour CHECK (accent ~ '^(#[0-9a-f]{6})?$'),
	logo_id   bigint,                                    -- a picture of a client's library
	revision  integer NOT NULL DEFAULT 1,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT looks_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients,
	CONSTRAINT looks_logo FOREIGN KEY (tenant_id, logo_id) REFERENCES tenant.media
);
CREATE UNIQUE INDEX looks_once ON tenant.looks (tenant_id, coalesce(client_id, 0));

ALTER TABLE tenant.looks ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.looks FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.looks TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
CREATE POLICY pipeline ON tenant.looks TO herald_pipeline USING (true) WITH CHECK (true);
CREATE POLICY reviewer_own_client ON tenant.looks AS RESTRICTIVE FOR SELECT TO herald_app
	USING ((SELECT tenant.current_reviewer()) IS NULL OR client_id IS NULL OR client_id = (SELECT tenant.current_reviewer()));
GRANT SELECT ON tenant.looks TO herald_app, herald_pipeline;
GRANT INSERT, UPDATE ON tenant.looks TO herald_app;

-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- mail_look is how a mail about an approval request looks.
-- +goose StatementBegin
CREATE FUNCTION tenant.mail_look(p_tenant bigint, p_request bigint)
RETURNS TABLE (client_id bigint, name text, accent text, logo text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT r.client_id, coalesce(nullif(own.name, ''), house.name, ''), coalesce(nullif(own.accent, ''), house.accent, ''), coalesce(m.thumb_path, '')
	  FROM tenant.approval_requests r
	  LEFT JOIN tenant.looks own ON own.tenant_id = r.tenant_id AND own.client_id = r.client_id
	  LEFT JOIN tenant.looks house ON house.tenant_id = r.tenant_id AND house.client_id IS NULL
	  LEFT JOIN tenant.media m ON m.tenant_id = r.tenant_id AND m.id = coalesce(own.logo_id, house.logo_id) AND m.state = 'ready'
	 WHERE r.tenant_id = p_tenant AND r.id = p_request
$$;
-- +goose StatementEnd
ALTER FUNCTION tenant.mail_look(bigint, bigint) OWNER TO herald_pipeline;
REVOKE ALL ON FUNCTION tenant.mail_look(bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenant.mail_look(bigint, bigint) TO herald_worker;

REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('REVOKE herald_pipeline FROM %I', current_user); END $$;
-- +goose StatementEnd
