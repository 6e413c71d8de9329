-- +goose Up

-- Host names of an agency's own, under which its clients open review links. Whoever
-- shows that a name is theirs, by a record in its DNS, holds it alone; until then
-- several may try. Mails use it once it answers.
CREATE TABLE control.review_hosts (
	workspace_id bigint NOT NULL REFERENCES control.workspaces,
	client_id    bigint NOT NULL,                        -- of the workspace's shard; 0: all its clients
	host         text NOT NULL CONSTRAINT review_hosts_is_name CHECK (host ~ '^[a-z0-9-]+(\.[a-z0-9-]+)+$' AND length(host) <= 253),
	token        text NOT NULL,                          -- to stand in the name's DNS
	owned_at     timestamptz,                            -- the token was found there
	live_at      timestamptz,                            -- and the name leads here
	say          text NOT NULL DEFAULT '',               -- what the last look missed
	made_at      timestamptz NOT NULL,
	PRIMARY KEY (workspace_id, client_id),
	CONSTRAINT review_hosts_live_is_owned CHECK (live_at IS NULL OR owned_at IS NOT NULL)
);
CREATE UNIQUE INDEX review_hosts_one_holder ON control.review_hosts (host) WHERE owned_at IS NOT NULL;
GRANT SELECT, INSERT, UPDATE, DELETE ON control.review_hosts TO herald_app;
GRANT SELECT ON control.review_hosts TO herald_worker;
