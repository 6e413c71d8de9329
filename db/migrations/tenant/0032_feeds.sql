-- +goose Up

-- A secret address at which calendar programs read what is planned: what a person
-- may see, or of that one client alone.
CREATE TABLE tenant.feeds (
	tenant_id  bigint NOT NULL,
	id         bigint GENERATED ALWAYS AS IDENTITY,
	user_id    bigint NOT NULL,                          -- whose rights it reads with
	client_id  bigint,                                   -- null: every client that the person may see
	token_hash bytea NOT NULL CONSTRAINT feeds_token_is_hashed CHECK (octet_length(token_hash) = 32),
	created_at timestamptz NOT NULL,
	revoked_at timestamptz,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT feeds_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients
);
CREATE UNIQUE INDEX feeds_by_token ON tenant.feeds (tenant_id, token_hash);
CREATE UNIQUE INDEX feeds_one_each ON tenant.feeds (tenant_id, user_id, coalesce(client_id, 0)) WHERE revoked_at IS NULL;

ALTER TABLE tenant.feeds ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.feeds FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.feeds TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
CREATE POLICY pipeline ON tenant.feeds TO herald_pipeline USING (true) WITH CHECK (true);
GRANT SELECT ON tenant.feeds TO herald_app, herald_pipeline;
GRANT INSERT, UPDATE ON tenant.feeds TO herald_app;
