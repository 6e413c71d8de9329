-- +goose Up

-- Which campaign parameters the links in posts of a client get. They are written
-- into a version when it is made, so that a change here reaches no post that
-- somebody has been asked about.
CREATE TABLE tenant.link_tags (
	tenant_id  bigint NOT NULL REFERENCES tenant.tenants,
	client_id  bigint NOT NULL,
	source     text NOT NULL,
	medium     text NOT NULL,
	campaign   text NOT NULL,
	term       text NOT NULL,
	content    text NOT NULL,
	hosts      text[] NOT NULL CONSTRAINT link_tags_hosts_bounded CHECK (cardinality(hosts) <= 100),
	everywhere boolean NOT NULL,
	revision   integer NOT NULL DEFAULT 1,
	PRIMARY KEY (tenant_id, client_id),
	CONSTRAINT link_tags_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients,
	CONSTRAINT link_tags_bounded CHECK (char_length(source) <= 200 AND char_length(medium) <= 200 AND char_length(campaign) <= 200 AND char_length(term) <= 200 AND char_length(content) <= 200)
);

ALTER TABLE tenant.link_tags ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.link_tags FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.link_tags TO herald_app USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
-- They are the agency's own: who comes by a review link reads none.
CREATE POLICY reviewer_none ON tenant.link_tags AS RESTRICTIVE FOR SELECT TO herald_app USING ((SELECT tenant.current_reviewer()) IS NULL);
GRANT SELECT, INSERT, UPDATE ON tenant.link_tags TO herald_app;
