-- +goose Up

-- Which clients a person worked on, when last, and which one the lists are of now.
CREATE TABLE tenant.client_uses (
	tenant_id bigint NOT NULL,
	user_id   bigint NOT NULL,
	client_id bigint NOT NULL,
	used_at   timestamptz NOT NULL,
	chosen    boolean NOT NULL,
	PRIMARY KEY (tenant_id, user_id, client_id),
	CONSTRAINT client_uses_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients ON DELETE CASCADE
);
CREATE UNIQUE INDEX client_uses_one_chosen ON tenant.client_uses (tenant_id, user_id) WHERE chosen;

ALTER TABLE tenant.client_uses ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.client_uses FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.client_uses TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
GRANT SELECT, INSERT, UPDATE ON tenant.client_uses TO herald_app;
