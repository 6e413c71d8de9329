-- +goose Up

-- Files that were put to a comment, of the library of a client of its post. A reviewer
-- sees those of comments that they see.
CREATE TABLE tenant.comment_files (
	tenant_id  bigint NOT NULL,
	comment_id bigint NOT NULL,
	media_id   bigint NOT NULL,
	place      integer NOT NULL,
	PRIMARY KEY (tenant_id, comment_id, media_id),
	CONSTRAINT comment_files_comment FOREIGN KEY (tenant_id, comment_id) REFERENCES tenant.comments,
	CONSTRAINT comment_files_media FOREIGN KEY (tenant_id, media_id) REFERENCES tenant.media
);
CREATE INDEX comment_files_by_media ON tenant.comment_files (tenant_id, media_id);

ALTER TABLE tenant.comment_files ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.comment_files FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.comment_files TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
CREATE POLICY reviewer_own_comments ON tenant.comment_files AS RESTRICTIVE FOR SELECT TO herald_app
	USING ((SELECT tenant.current_reviewer()) IS NULL OR EXISTS (SELECT FROM tenant.comments c
	       WHERE c.tenant_id = comment_files.tenant_id AND c.id = comment_files.comment_id AND c.visibility = 'client' AND c.client_id = (SELECT tenant.current_reviewer())));
GRANT SELECT, INSERT ON tenant.comment_files TO herald_app;
