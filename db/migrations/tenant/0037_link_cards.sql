-- +goose Up

-- What was read at an address that posts link to, for previews: kept for a while
-- and read again. A row without words says why there are none.
CREATE TABLE tenant.link_cards (
	tenant_id    bigint NOT NULL,
	hash         bytea NOT NULL CONSTRAINT link_cards_by_hash CHECK (octet_length(hash) = 32), -- SHA-256 of the address
	title        text NOT NULL DEFAULT '',
	words        text NOT NULL DEFAULT '',
	say          text NOT NULL DEFAULT '',                -- why there is no card
	picture      bytea,                                   -- our copy, as JPEG
	asked_at     timestamptz NOT NULL,                    -- when somebody last began to read it
	read_at      timestamptz,                             -- null until it was read once
	expires_at   timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, hash),
	CONSTRAINT link_cards_stay_small CHECK (octet_length(picture) <= 262144 AND char_length(title) <= 400 AND char_length(words) <= 1000)
);
CREATE INDEX link_cards_by_time ON tenant.link_cards (tenant_id, asked_at);

ALTER TABLE tenant.link_cards ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.link_cards FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.link_cards TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
CREATE POLICY pipeline ON tenant.link_cards TO herald_pipeline USING (true) WITH CHECK (true);
GRANT SELECT ON tenant.link_cards TO herald_app, herald_pipeline;
GRANT INSERT, UPDATE, DELETE ON tenant.link_cards TO herald_app;
