-- +goose Up

-- Bulk actions that were done, by the key of their form: the same form again is
-- answered from here. They are kept for a day.
CREATE TABLE tenant.acts (
	tenant_id bigint NOT NULL REFERENCES tenant.tenants,
	user_id   bigint NOT NULL,
	form_key  text NOT NULL CONSTRAINT acts_form_key_shape CHECK (form_key ~ '^[A-Za-z0-9_-]{16,64}$'),
	at        timestamptz NOT NULL,
	outcome   jsonb,
	PRIMARY KEY (tenant_id, user_id, form_key)
);

ALTER TABLE tenant.acts ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.acts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.acts TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON tenant.acts TO herald_app;
