-- +goose Up

-- How many minutes apart the posts of one account should be; closer ones are
-- warned of. 0 warns of none.
ALTER TABLE tenant.clients ADD COLUMN apart integer NOT NULL DEFAULT 15 CONSTRAINT clients_apart_bounded CHECK (apart BETWEEN 0 AND 1440);

-- What a version says on an account, as a hash: the same words on the same account
-- are warned of. Of versions from before this table nothing is known.
CREATE TABLE tenant.version_texts (
	tenant_id  bigint NOT NULL,
	version_id bigint NOT NULL,
	account_id bigint NOT NULL,
	post_id    bigint NOT NULL,
	text_hash  bytea NOT NULL,
	PRIMARY KEY (tenant_id, version_id, account_id),
	CONSTRAINT version_texts_version FOREIGN KEY (tenant_id, version_id) REFERENCES tenant.post_versions,
	CONSTRAINT version_texts_account FOREIGN KEY (tenant_id, account_id) REFERENCES tenant.accounts,
	CONSTRAINT version_texts_post FOREIGN KEY (tenant_id, post_id) REFERENCES tenant.posts
);
CREATE INDEX version_texts_same ON tenant.version_texts (tenant_id, account_id, text_hash, post_id);

ALTER TABLE tenant.version_texts ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.version_texts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.version_texts TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
CREATE POLICY reviewer_none ON tenant.version_texts AS RESTRICTIVE FOR SELECT TO herald_app USING ((SELECT tenant.current_reviewer()) IS NULL);
GRANT SELECT, INSERT ON tenant.version_texts TO herald_app;
