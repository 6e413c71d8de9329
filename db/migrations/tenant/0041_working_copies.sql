-- +goose Up

-- What somebody has typed and not saved: one for each form of theirs, of a post or
-- of a new one. It is no version, and nobody else sees it.
CREATE TABLE tenant.working_copies (
	tenant_id bigint NOT NULL,
	user_id   bigint NOT NULL,
	form_key  text NOT NULL CONSTRAINT working_copies_form_key_shape CHECK (form_key ~ '^[A-Za-z0-9_-]{16,64}$'),
	post_id   bigint,                                    -- null: a new one
	seen      integer NOT NULL,                          -- the revision of the post that it began from
	words     text NOT NULL,                             -- its first ones
	fields    text NOT NULL CONSTRAINT working_copies_bounded CHECK (octet_length(fields) <= 1048576), -- of the form, as a query
	kept_at   timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, user_id, form_key),
	CONSTRAINT working_copies_of_post FOREIGN KEY (tenant_id, post_id) REFERENCES tenant.posts
);
CREATE INDEX working_copies_by_age ON tenant.working_copies (tenant_id, kept_at);
CREATE INDEX working_copies_by_post ON tenant.working_copies (tenant_id, post_id, kept_at);

ALTER TABLE tenant.working_copies ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.working_copies FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.working_copies TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
CREATE POLICY pipeline ON tenant.working_copies TO herald_pipeline USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON tenant.working_copies TO herald_app;
GRANT SELECT ON tenant.working_copies TO herald_pipeline;
