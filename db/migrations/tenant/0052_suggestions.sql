-- +goose Up

-- A text that a client's approver would rather have. Nothing changes by it: the writer
-- sees the difference, and takes it over as a new version or does not.
CREATE TABLE tenant.suggestions (
	tenant_id   bigint NOT NULL,
	id          bigint GENERATED ALWAYS AS IDENTITY,
	request_id  bigint NOT NULL,
	post_id     bigint NOT NULL,
	version_id  bigint NOT NULL,                         -- whose text it changes
	client_id   bigint NOT NULL,
	approver_id bigint NOT NULL,
	name        text NOT NULL,                           -- as it was then
	parts       jsonb NOT NULL,                          -- model.SuggestedPart: networks with the text before and after
	state       text NOT NULL DEFAULT 'open' CONSTRAINT suggestions_state_known CHECK (state IN ('open', 'taken', 'declined', 'replaced')),
	form_key    text NOT NULL CONSTRAINT suggestions_form_key_shape CHECK (form_key ~ '^[A-Za-z0-9_-]{16,64}$'),
	at          timestamptz NOT NULL,
	closed_at   timestamptz,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT suggestions_of_request FOREIGN KEY (tenant_id, request_id) REFERENCES tenant.approval_requests,
	CONSTRAINT suggestions_of_version FOREIGN KEY (tenant_id, post_id, version_id) REFERENCES tenant.post_versions (tenant_id, post_id, id),
	CONSTRAINT suggestions_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients,
	CONSTRAINT suggestions_approver FOREIGN KEY (tenant_id, approver_id) REFERENCES tenant.approvers
);
CREATE INDEX suggestions_by_request ON tenant.suggestions (tenant_id, request_id, id);
CREATE UNIQUE INDEX suggestions_form_once ON tenant.suggestions (tenant_id, approver_id, form_key);
CREATE INDEX suggestions_lately ON tenant.suggestions (tenant_id, approver_id, at);

ALTER TABLE tenant.suggestions ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.suggestions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.suggestions TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
CREATE POLICY pipeline ON tenant.suggestions TO herald_pipeline USING (true) WITH CHECK (true);
CREATE POLICY reviewer_own_client ON tenant.suggestions AS RESTRICTIVE FOR SELECT TO herald_app
	USING ((SELECT tenant.current_reviewer()) IS NULL OR client_id = (SELECT tenant.current_reviewer()));
GRANT SELECT ON tenant.suggestions TO herald_app, herald_pipeline;
GRANT INSERT, UPDATE ON tenant.suggestions TO herald_app;
