-- +goose Up

-- Links by which a person who forgot the password chooses another. Only the hash
-- of the link's token is kept; using one deletes all of the person's.
CREATE TABLE control.password_links (
	token_hash bytea PRIMARY KEY,
	user_id    bigint NOT NULL REFERENCES control.users ON DELETE CASCADE,
	created_at timestamptz NOT NULL,
	expires_at timestamptz NOT NULL
);
CREATE INDEX password_links_by_user ON control.password_links (user_id);
GRANT SELECT, INSERT, DELETE ON control.password_links TO herald_app;
