-- +goose Up

-- Host names are looked at again by themselves: seldom while they work, at growing
-- waits while they do not.
ALTER TABLE control.review_hosts
	ADD COLUMN looked_at timestamptz,                  -- last
	ADD COLUMN misses    integer NOT NULL DEFAULT 0,   -- looks that missed since it last worked
	ADD COLUMN next_at   timestamptz;                  -- when it is looked at again
UPDATE control.review_hosts SET next_at = made_at;
ALTER TABLE control.review_hosts ALTER COLUMN next_at SET NOT NULL;
CREATE INDEX review_hosts_due ON control.review_hosts (next_at);
GRANT UPDATE ON control.review_hosts TO herald_worker;

-- What became of a name and is owed to the log of its workspace, which may lie on
-- another server. A row goes once its line stands there.
CREATE TABLE control.review_host_deeds (
	id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	workspace_id bigint NOT NULL REFERENCES control.workspaces,
	client_id    bigint NOT NULL,                      -- 0: of the workspace's own name
	verb         text NOT NULL,
	user_id      bigint,                               -- NULL: nobody's doing
	name         text NOT NULL,
	at           timestamptz NOT NULL
);
GRANT SELECT, INSERT, DELETE ON control.review_host_deeds TO herald_app, herald_worker;
