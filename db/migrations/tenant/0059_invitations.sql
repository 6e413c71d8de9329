-- +goose Up

-- Somebody who was asked by mail to join the workspace. Only the hash of the link's
-- token is kept, and the link works once.
CREATE TABLE tenant.invitations (
	tenant_id   bigint NOT NULL REFERENCES tenant.tenants,
	id          bigint GENERATED ALWAYS AS IDENTITY,
	email       text NOT NULL CHECK (email = lower(email)),
	role        text NOT NULL CONSTRAINT invitations_role_known CHECK (role IN ('owner', 'admin', 'manager', 'editor', 'viewer')),
	access      jsonb NOT NULL DEFAULT '{}',             -- permissions by the short name of a client
	token_hash  bytea NOT NULL CONSTRAINT invitations_token_is_hashed CHECK (octet_length(token_hash) = 32),
	invited_by  bigint NOT NULL,
	inviter     text NOT NULL,                           -- by name, as it was then
	created_at  timestamptz NOT NULL,
	expires_at  timestamptz NOT NULL,
	accepted_at timestamptz,
	revoked_at  timestamptz,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT invitations_token_once UNIQUE (tenant_id, token_hash)
);
CREATE UNIQUE INDEX invitations_open_once ON tenant.invitations (tenant_id, email) WHERE accepted_at IS NULL AND revoked_at IS NULL;

ALTER TABLE tenant.invitations ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.invitations FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.invitations TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
CREATE POLICY pipeline ON tenant.invitations TO herald_pipeline USING (true) WITH CHECK (true);
GRANT SELECT ON tenant.invitations TO herald_app, herald_pipeline;
GRANT INSERT, UPDATE ON tenant.invitations TO herald_app;
