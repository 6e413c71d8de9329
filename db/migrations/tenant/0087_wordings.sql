-- +goose Up

-- What a workspace writes again and again: groups of hashtags, snippets of text,
-- and templates that a post starts from. They are copied when they are used, so
-- that a change of one never reaches a post.
CREATE TABLE tenant.wordings (
	tenant_id  bigint NOT NULL REFERENCES tenant.tenants,
	id         bigint GENERATED ALWAYS AS IDENTITY,
	client_id  bigint,                                   -- null: of the whole workspace
	kind       text NOT NULL CONSTRAINT wordings_kind_known CHECK (kind IN ('hashtags', 'snippet', 'template')),
	name       text NOT NULL CONSTRAINT wordings_name_bounded CHECK (name = btrim(name) AND char_length(name) BETWEEN 1 AND 60),
	content    jsonb NOT NULL CONSTRAINT wordings_content_bounded CHECK (octet_length(content::text) <= 4000000),
	revision   integer NOT NULL DEFAULT 1,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT wordings_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients
);
CREATE UNIQUE INDEX wordings_name_once ON tenant.wordings (tenant_id, kind, coalesce(client_id, 0), lower(name));

ALTER TABLE tenant.wordings ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.wordings FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.wordings TO herald_app USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
-- They are the agency's own: who comes by a review link reads none.
CREATE POLICY reviewer_none ON tenant.wordings AS RESTRICTIVE FOR SELECT TO herald_app USING ((SELECT tenant.current_reviewer()) IS NULL);
GRANT SELECT, INSERT, UPDATE, DELETE ON tenant.wordings TO herald_app;
