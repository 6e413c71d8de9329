-- +goose Up

-- The control plane: who there is, where each workspace lives, and what is due.

-- +goose StatementBegin
DO $$
DECLARE r text;
BEGIN
	-- Roles belong to the whole server, so another database may have made them.
	FOREACH r IN ARRAY ARRAY['herald_app', 'herald_worker', 'herald_pipeline'] LOOP
		BEGIN
			IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = r) THEN
				EXECUTE format('CREATE ROLE %I NOSUPERUSER NOBYPASSRLS', r);
			END IF;
		EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
		END;
	END LOOP;
END $$;
-- +goose StatementEnd

CREATE TABLE control.shards (
	name       text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9_]{0,30}$'),
	created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE control.plans (
	name          text PRIMARY KEY,
	posts_a_month integer CHECK (posts_a_month > 0),    -- null: no limit
	media_bytes   bigint CHECK (media_bytes > 0),
	created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE control.workspaces (
	id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	slug         text NOT NULL CONSTRAINT workspaces_slug_once UNIQUE CHECK (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
	name         text NOT NULL,
	zone         text NOT NULL,
	plan         text NOT NULL REFERENCES control.plans,
	shard        text NOT NULL REFERENCES control.shards,
	state        text NOT NULL DEFAULT 'active' CONSTRAINT workspaces_state_known CHECK (state IN ('active', 'suspended')),
	suspended_at timestamptz,
	paused_at    timestamptz,
	created_at   timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE control.users (
	id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	email         text NOT NULL CHECK (email = lower(email)) CONSTRAINT users_email_once UNIQUE,
	name          text NOT NULL,
	password_hash text,                                  -- argon2id in PHC form; null: cannot sign in
	zone          text,                                  -- the reader's own zone; null: not said
	disabled_at   timestamptz,
	created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE control.memberships (
	workspace_id bigint NOT NULL REFERENCES control.workspaces,
	user_id      bigint NOT NULL REFERENCES control.users,
	role         text NOT NULL CONSTRAINT memberships_role_known CHECK (role IN ('owner', 'admin', 'manager', 'editor', 'viewer')),
	created_at   timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX memberships_by_user ON control.memberships (user_id);

-- Web sessions. Only the hash of the cookie's token is kept.
CREATE TABLE control.sessions (
	token_hash bytea PRIMARY KEY,
	user_id    bigint REFERENCES control.users ON DELETE CASCADE,
	data       bytea NOT NULL,
	created_at timestamptz NOT NULL,
	seen_at    timestamptz NOT NULL,
	expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_by_user ON control.sessions (user_id);
CREATE INDEX sessions_by_expiry ON control.sessions (expires_at);

-- Failed sign-ins and other throttled acts, by a hash of who tried.
CREATE TABLE control.throttles (
	kind    text NOT NULL,
	who     bytea NOT NULL,
	level   double precision NOT NULL,                   -- a leaky bucket's fill
	at      timestamptz NOT NULL,                        -- when level was true
	PRIMARY KEY (kind, who)
);
CREATE INDEX throttles_by_age ON control.throttles (at);

-- What is due, over all workspaces and shards. A row is a reminder with a
-- durable time; the tenant plane decides whether it still holds.
CREATE TABLE control.publish_dispatch_index (
	tenant_id   bigint NOT NULL,
	target_id   bigint NOT NULL,
	version_id  bigint NOT NULL,
	task        text NOT NULL CONSTRAINT dispatch_task_known CHECK (task IN ('publish', 'reconcile', 'follow_up')),
	shard       text NOT NULL,
	seq         bigint NOT NULL,                         -- of the outbox event; an older one never overrides
	due_at      timestamptz NOT NULL,
	status      text NOT NULL CONSTRAINT dispatch_status_known CHECK (status IN ('pending', 'enqueued', 'done', 'cancelled')),
	enqueued_at timestamptz,
	updated_at  timestamptz NOT NULL,
	CONSTRAINT dispatch_once PRIMARY KEY (tenant_id, target_id, version_id, task)
) WITH (fillfactor = 70);
CREATE INDEX dispatch_due ON control.publish_dispatch_index (due_at) WHERE status = 'pending';
CREATE INDEX dispatch_enqueued ON control.publish_dispatch_index (enqueued_at) WHERE status = 'enqueued';
CREATE INDEX dispatch_over ON control.publish_dispatch_index (updated_at) WHERE status IN ('done', 'cancelled');

GRANT USAGE ON SCHEMA control TO herald_app, herald_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON control.sessions, control.throttles TO herald_app;
GRANT SELECT, INSERT, UPDATE ON control.users, control.memberships, control.workspaces, control.plans, control.shards TO herald_app;
GRANT DELETE ON control.memberships TO herald_app;
GRANT SELECT ON control.publish_dispatch_index TO herald_app;
GRANT SELECT ON control.workspaces, control.users, control.memberships, control.shards, control.plans TO herald_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON control.publish_dispatch_index TO herald_worker;
GRANT SELECT, DELETE ON control.sessions, control.throttles TO herald_worker;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA control TO herald_app;
