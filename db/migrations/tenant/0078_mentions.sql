-- +goose Up

-- Whom an internal comment names, and with which words: they are told by mail, once.
CREATE TABLE tenant.comment_mentions (
	tenant_id  bigint NOT NULL,
	comment_id bigint NOT NULL,
	user_id    bigint NOT NULL,
	words      text NOT NULL,                            -- as they stand after the @
	told       boolean NOT NULL,                         -- they may see the post, so they got a mail
	PRIMARY KEY (tenant_id, comment_id, user_id),
	CONSTRAINT comment_mentions_of_comment FOREIGN KEY (tenant_id, comment_id) REFERENCES tenant.comments
);

ALTER TABLE tenant.comment_mentions ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.comment_mentions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.comment_mentions TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
CREATE POLICY pipeline ON tenant.comment_mentions TO herald_pipeline USING (true) WITH CHECK (true);
CREATE POLICY reviewer_nothing_internal ON tenant.comment_mentions AS RESTRICTIVE FOR SELECT TO herald_app
	USING ((SELECT tenant.current_reviewer()) IS NULL);
GRANT SELECT ON tenant.comment_mentions TO herald_app, herald_pipeline;
GRANT INSERT ON tenant.comment_mentions TO herald_app;
