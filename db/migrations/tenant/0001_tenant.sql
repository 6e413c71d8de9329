-- +goose Up

-- The tenant plane: everything a workspace owns. tenant_id leads every key, so
-- that no row can point across workspaces and the schema can be distributed.

-- +goose StatementBegin
DO $$
DECLARE r text;
BEGIN
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

-- What a shard must know of a workspace to run its guards.
CREATE TABLE tenant.tenants (
	tenant_id     bigint PRIMARY KEY,
	slug          text NOT NULL,
	name          text NOT NULL,
	zone          text NOT NULL,
	state         text NOT NULL CONSTRAINT tenants_state_known CHECK (state IN ('active', 'suspended')),
	suspended_at  timestamptz,
	paused_at     timestamptz,
	posts_a_month integer,
	media_bytes   bigint,
	CONSTRAINT tenants_suspended_since CHECK ((state = 'suspended') = (suspended_at IS NOT NULL))
);

CREATE TABLE tenant.clients (
	tenant_id        bigint NOT NULL REFERENCES tenant.tenants,
	id               bigint GENERATED ALWAYS AS IDENTITY,
	slug             text NOT NULL CHECK (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
	name             text NOT NULL,
	zone             text NOT NULL,
	late_cutoff      interval,                           -- null: the operator's setting
	time_is_material boolean NOT NULL DEFAULT false,
	paused_at        timestamptz,
	archived_at      timestamptz,
	created_at       timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT clients_slug_once UNIQUE (tenant_id, slug)
);

-- What a person whose role does not reach every client may do at one client.
CREATE TABLE tenant.client_access (
	tenant_id   bigint NOT NULL,
	user_id     bigint NOT NULL,
	client_id   bigint NOT NULL,
	permissions text[] NOT NULL,
	PRIMARY KEY (tenant_id, user_id, client_id),
	CONSTRAINT client_access_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients
);

-- A client's own people: they decide from a link and have no sign-in.
CREATE TABLE tenant.approvers (
	tenant_id  bigint NOT NULL,
	id         bigint GENERATED ALWAYS AS IDENTITY,
	client_id  bigint NOT NULL,
	name       text NOT NULL,
	email      text NOT NULL CHECK (email = lower(email)),
	revoked_at timestamptz,
	created_at timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT approvers_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients,
	CONSTRAINT approvers_email_once UNIQUE (tenant_id, client_id, email),
	UNIQUE (tenant_id, client_id, id)
);

-- A client's workflow: stages in order, each with its people and a rule.
CREATE TABLE tenant.stages (
	tenant_id bigint NOT NULL,
	id        bigint GENERATED ALWAYS AS IDENTITY,
	client_id bigint NOT NULL,
	position  integer NOT NULL CHECK (position > 0),
	name      text NOT NULL,
	rule      text NOT NULL CONSTRAINT stages_rule_known CHECK (rule IN ('any', 'all')),
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT stages_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients,
	CONSTRAINT stages_in_order UNIQUE (tenant_id, client_id, position) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE tenant.stage_people (
	tenant_id   bigint NOT NULL,
	stage_id    bigint NOT NULL,
	user_id     bigint,
	approver_id bigint,
	CONSTRAINT stage_people_of_stage FOREIGN KEY (tenant_id, stage_id) REFERENCES tenant.stages ON DELETE CASCADE,
	CONSTRAINT stage_people_approver FOREIGN KEY (tenant_id, approver_id) REFERENCES tenant.approvers,
	CONSTRAINT stage_people_one_person CHECK (num_nonnulls(user_id, approver_id) = 1)
);
CREATE UNIQUE INDEX stage_people_user_once ON tenant.stage_people (tenant_id, stage_id, user_id) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX stage_people_approver_once ON tenant.stage_people (tenant_id, stage_id, approver_id) WHERE approver_id IS NOT NULL;

CREATE TABLE tenant.blackouts (
	tenant_id bigint NOT NULL,
	id        bigint GENERATED ALWAYS AS IDENTITY,
	client_id bigint NOT NULL,
	from_at   timestamptz NOT NULL,
	to_at     timestamptz NOT NULL,
	reason    text NOT NULL,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT blackouts_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients,
	CONSTRAINT blackouts_end_after_start CHECK (to_at > from_at)
);
CREATE INDEX blackouts_by_client ON tenant.blackouts (tenant_id, client_id, to_at);

CREATE TABLE tenant.accounts (
	tenant_id       bigint NOT NULL,
	id              bigint GENERATED ALWAYS AS IDENTITY,
	client_id       bigint NOT NULL,
	slug            text NOT NULL,                       -- the name herald apply knows it by
	network         text NOT NULL,
	publisher       text NOT NULL DEFAULT 'direct',
	handle          text NOT NULL,
	remote_id       text NOT NULL DEFAULT '',
	address         text NOT NULL DEFAULT '',            -- user-chosen: Mastodon host, webhook URL
	settings        jsonb NOT NULL DEFAULT '{}',
	scopes          text[],                              -- null: the network has none, or did not say
	state           text NOT NULL DEFAULT 'active' CONSTRAINT accounts_state_known CHECK (state IN ('active', 'needs_reconnect', 'disabled')),
	token           bytea,                               -- sealed
	refresh_token   bytea,                               -- sealed
	token_expires   timestamptz,
	refresh_owner   uuid,                                -- who renews the token now
	refresh_until   timestamptz,
	closed_until    timestamptz,                         -- the network's own rate limit
	paused_at       timestamptz,
	connected_by    bigint,
	last_error      text,
	last_error_at   timestamptz,
	revision        integer NOT NULL DEFAULT 1,
	created_at      timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT accounts_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients,
	CONSTRAINT accounts_slug_once UNIQUE (tenant_id, client_id, slug),
	UNIQUE (tenant_id, client_id, id)
);

-- Queue slots: the times of the week at which an account usually posts.
CREATE TABLE tenant.slots (
	tenant_id  bigint NOT NULL,
	id         bigint GENERATED ALWAYS AS IDENTITY,
	account_id bigint NOT NULL,
	weekday    smallint NOT NULL CHECK (weekday BETWEEN 0 AND 6), -- 0 is Sunday
	minute     smallint NOT NULL CHECK (minute BETWEEN 0 AND 1439),
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT slots_of_account FOREIGN KEY (tenant_id, account_id) REFERENCES tenant.accounts,
	CONSTRAINT slots_once UNIQUE (tenant_id, account_id, weekday, minute)
);

CREATE TABLE tenant.media (
	tenant_id   bigint NOT NULL,
	id          bigint GENERATED ALWAYS AS IDENTITY,
	client_id   bigint NOT NULL,
	state       text NOT NULL CONSTRAINT media_state_known CHECK (state IN ('uploading', 'scanning', 'ready', 'refused', 'quarantined', 'deleted')),
	kind        text NOT NULL CHECK (kind IN ('image', 'video')),
	type        text NOT NULL,                           -- sniffed from the bytes
	name        text NOT NULL,
	path        text NOT NULL,                           -- what is published: upright, without metadata
	thumb_path  text NOT NULL DEFAULT '',
	sha256      bytea NOT NULL CHECK (length(sha256) = 32), -- of the uploaded bytes
	bytes       bigint NOT NULL,
	width       integer NOT NULL DEFAULT 0,
	height      integer NOT NULL DEFAULT 0,
	duration_ms bigint NOT NULL DEFAULT 0,
	alt         text NOT NULL DEFAULT '',
	reason      text NOT NULL DEFAULT '',                -- why refused or quarantined
	created_by  bigint,
	created_at  timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT media_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients
);
CREATE UNIQUE INDEX media_once_per_client ON tenant.media (tenant_id, client_id, sha256) WHERE state <> 'deleted';
CREATE INDEX media_by_client ON tenant.media (tenant_id, client_id, created_at DESC);

CREATE TABLE tenant.posts (
	tenant_id           bigint NOT NULL REFERENCES tenant.tenants,
	id                  bigint GENERATED ALWAYS AS IDENTITY,
	state               text NOT NULL DEFAULT 'draft',   -- the aggregate shown; see recompute_posts
	review              text NOT NULL DEFAULT 'draft' CONSTRAINT posts_review_known
	                    CHECK (review IN ('draft', 'in_review', 'changes_requested', 'approved')),
	excerpt             text NOT NULL DEFAULT '',        -- first words, for lists
	notes               text NOT NULL DEFAULT '',        -- internal; not material
	labels              text[] NOT NULL DEFAULT '{}',
	current_version_id  bigint,
	approved_version_id bigint,
	revision            integer NOT NULL DEFAULT 1,      -- grows with each change a form could overwrite
	archived_at         timestamptz,
	created_by          bigint NOT NULL,
	created_at          timestamptz NOT NULL,
	updated_at          timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, id)
) WITH (fillfactor = 80);
CREATE INDEX posts_newest ON tenant.posts (tenant_id, updated_at DESC);

-- One immutable version of a post. The hash is the database's own, so that it
-- cannot disagree with the content.
CREATE TABLE tenant.post_versions (
	tenant_id    bigint NOT NULL,
	id           bigint GENERATED ALWAYS AS IDENTITY,
	post_id      bigint NOT NULL,
	number       integer NOT NULL,
	content      bytea NOT NULL,                         -- canonical JSON: model.Content
	content_hash bytea NOT NULL GENERATED ALWAYS AS (sha256(content)) STORED,
	created_by   bigint NOT NULL,
	created_at   timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT post_versions_of_post FOREIGN KEY (tenant_id, post_id) REFERENCES tenant.posts,
	CONSTRAINT post_versions_in_order UNIQUE (tenant_id, post_id, number),
	UNIQUE (tenant_id, post_id, id)
);
ALTER TABLE tenant.posts
	ADD CONSTRAINT posts_current_version FOREIGN KEY (tenant_id, id, current_version_id) REFERENCES tenant.post_versions (tenant_id, post_id, id),
	ADD CONSTRAINT posts_approved_version FOREIGN KEY (tenant_id, id, approved_version_id) REFERENCES tenant.post_versions (tenant_id, post_id, id);

-- Which version uses which media: for usage and for deleting.
CREATE TABLE tenant.version_media (
	tenant_id  bigint NOT NULL,
	version_id bigint NOT NULL,
	media_id   bigint NOT NULL,
	PRIMARY KEY (tenant_id, version_id, media_id),
	CONSTRAINT version_media_version FOREIGN KEY (tenant_id, version_id) REFERENCES tenant.post_versions,
	CONSTRAINT version_media_media FOREIGN KEY (tenant_id, media_id) REFERENCES tenant.media
);
CREATE INDEX version_media_by_media ON tenant.version_media (tenant_id, media_id);

-- The state machine as data: what is not a row here cannot happen.
CREATE TABLE tenant.target_moves (
	from_state text NOT NULL,
	to_state   text NOT NULL,
	PRIMARY KEY (from_state, to_state)
);
INSERT INTO tenant.target_moves (from_state, to_state) VALUES
	('draft', 'invalid'), ('draft', 'ready'), ('draft', 'cancelled'),
	('invalid', 'draft'), ('invalid', 'cancelled'),
	('ready', 'scheduled'), ('ready', 'draft'), ('ready', 'cancelled'),
	('scheduled', 'queued'), ('scheduled', 'cancelled'), ('scheduled', 'draft'),
	('queued', 'publishing'), ('queued', 'retry_scheduled'), ('queued', 'needs_reconnect'), ('queued', 'failed'), ('queued', 'cancelled'), ('queued', 'draft'),
	('publishing', 'published'), ('publishing', 'retry_scheduled'), ('publishing', 'failed'), ('publishing', 'needs_reconnect'), ('publishing', 'unknown_outcome'),
	('retry_scheduled', 'queued'), ('retry_scheduled', 'failed'), ('retry_scheduled', 'cancelled'), ('retry_scheduled', 'draft'),
	('unknown_outcome', 'published'), ('unknown_outcome', 'retry_scheduled'), ('unknown_outcome', 'failed'),
	('needs_reconnect', 'scheduled'), ('needs_reconnect', 'published'), ('needs_reconnect', 'cancelled'), ('needs_reconnect', 'draft'),
	('failed', 'scheduled'), ('failed', 'published'), ('failed', 'cancelled'), ('failed', 'draft');

CREATE TABLE tenant.targets (
	tenant_id      bigint NOT NULL,
	id             bigint GENERATED ALWAYS AS IDENTITY,
	post_id        bigint NOT NULL,
	version_id     bigint NOT NULL,
	client_id      bigint NOT NULL,
	account_id     bigint NOT NULL,
	network        text NOT NULL,
	state          text NOT NULL DEFAULT 'draft' CONSTRAINT targets_state_known CHECK (state IN
	               ('draft', 'invalid', 'ready', 'scheduled', 'queued', 'publishing', 'published', 'retry_scheduled',
	                'unknown_outcome', 'needs_reconnect', 'failed', 'cancelled')),
	reason         text NOT NULL DEFAULT '',             -- short and stable: workspace_suspended, missed, manual_check_required
	say            text NOT NULL DEFAULT '',             -- the same in a sentence
	problems       jsonb NOT NULL DEFAULT '[]',          -- what the catalogue found at the last save

	-- What the guards need, worked out when the version was saved.
	format         text NOT NULL DEFAULT 'text',
	needs_scopes   text[] NOT NULL DEFAULT '{}',         -- each with its other names, joined by |
	needs_media    boolean NOT NULL DEFAULT false,
	media_ids      bigint[] NOT NULL DEFAULT '{}',

	-- When: the instant and the intent.
	due_at         timestamptz,
	local_at       timestamp,
	zone           text,
	occurrence     text CONSTRAINT targets_occurrence_known CHECK (occurrence IN ('', 'earlier', 'later')),
	seq            bigint NOT NULL DEFAULT 0,            -- of the last outbox event
	next_at        timestamptz,                          -- when the next attempt or look-up is due

	-- The run.
	owner          uuid,                                 -- who holds the claim
	claimed_at     timestamptz,
	attempt_no     integer NOT NULL DEFAULT 0,           -- the last attempt made
	attempts_used  integer NOT NULL DEFAULT 0,           -- since a person last scheduled it
	limited_since  timestamptz,                          -- first rate limit of the current wait
	looks          integer NOT NULL DEFAULT 0,           -- complete look-ups that found nothing

	external_id    text NOT NULL DEFAULT '',
	permalink      text NOT NULL DEFAULT '',
	published_at   timestamptz,
	revision       integer NOT NULL DEFAULT 1,
	created_at     timestamptz NOT NULL,
	updated_at     timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT targets_of_version FOREIGN KEY (tenant_id, post_id, version_id) REFERENCES tenant.post_versions (tenant_id, post_id, id),
	CONSTRAINT targets_account_of_client FOREIGN KEY (tenant_id, client_id, account_id) REFERENCES tenant.accounts (tenant_id, client_id, id),
	CONSTRAINT targets_scheduled_have_a_time CHECK (state NOT IN ('scheduled', 'queued', 'publishing', 'retry_scheduled') OR due_at IS NOT NULL),
	CONSTRAINT targets_claimed_while_publishing CHECK ((state = 'publishing') = (owner IS NOT NULL)),
	CONSTRAINT targets_published_have_proof CHECK (state <> 'published' OR published_at IS NOT NULL),
	CONSTRAINT targets_whole_time CHECK (num_nonnulls(due_at, local_at, zone, occurrence) IN (0, 4))
) WITH (fillfactor = 60);
CREATE UNIQUE INDEX targets_one_active_per_account ON tenant.targets (tenant_id, post_id, account_id)
	WHERE state NOT IN ('published', 'failed', 'cancelled');
CREATE INDEX targets_by_post ON tenant.targets (tenant_id, post_id, account_id);
CREATE INDEX targets_by_due ON tenant.targets (tenant_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX targets_by_account ON tenant.targets (tenant_id, account_id, due_at DESC);
CREATE INDEX targets_claimed ON tenant.targets (claimed_at) WHERE state = 'publishing';
CREATE INDEX targets_in_flight ON tenant.targets (tenant_id) WHERE state IN ('publishing', 'unknown_outcome');
CREATE INDEX targets_owed ON tenant.targets (next_at) WHERE state IN ('scheduled', 'queued', 'retry_scheduled', 'unknown_outcome');

-- Every move of every target. The trigger that writes them refuses what is no
-- edge. (A foreign key would say the same, and lock the same few rows of
-- target_moves for every publish of every workspace.)
CREATE TABLE tenant.target_changes (
	tenant_id  bigint NOT NULL,
	id         bigint GENERATED ALWAYS AS IDENTITY,
	target_id  bigint NOT NULL,
	from_state text NOT NULL,
	to_state   text NOT NULL,
	reason     text NOT NULL,
	user_id    bigint,
	at         timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, target_id, id)
);

-- One try at one provider call, committed before the call.
CREATE TABLE tenant.attempts (
	tenant_id  bigint NOT NULL,
	target_id  bigint NOT NULL,
	version_id bigint NOT NULL,
	attempt_no integer NOT NULL,
	key        bytea NOT NULL GENERATED ALWAYS AS
	           (sha256((tenant_id::text || ':' || target_id::text || ':' || version_id::text || ':' || attempt_no::text)::bytea)) STORED,
	state      text NOT NULL CONSTRAINT attempts_state_known CHECK (state IN
	           ('preparing', 'waiting', 'in_flight', 'published', 'transient', 'rate_limited', 'auth', 'permission',
	            'validation', 'unknown', 'absent', 'abandoned')),
	owner      uuid,
	handles    jsonb NOT NULL DEFAULT '{}',              -- ids the network handed out
	calls      jsonb NOT NULL DEFAULT '[]',              -- redacted evidence of each request
	code       text NOT NULL DEFAULT '',
	status     integer NOT NULL DEFAULT 0,
	request_id text NOT NULL DEFAULT '',
	say        text NOT NULL DEFAULT '',
	began_at   timestamptz NOT NULL,
	flown_at   timestamptz,                              -- when the commit call was about to begin
	ended_at   timestamptz,
	-- What key is made of, so key is unique too. An index of its own, (tenant_id, key),
	-- would be taken for look-ups by a plan made while the table was empty, and
	-- then walk every attempt of the workspace.
	PRIMARY KEY (tenant_id, target_id, version_id, attempt_no)
) WITH (fillfactor = 70);

-- What each look-up at a network proved.
CREATE TABLE tenant.findings (
	tenant_id   bigint NOT NULL,
	id          bigint GENERATED ALWAYS AS IDENTITY,
	target_id   bigint NOT NULL,
	attempt_no  integer NOT NULL,
	verdict     text NOT NULL CONSTRAINT findings_verdict_known CHECK (verdict IN ('found', 'absent', 'cant_tell', 'live', 'not_live')),
	say         text NOT NULL,
	external_id text NOT NULL DEFAULT '',
	calls       jsonb NOT NULL DEFAULT '[]',
	user_id     bigint,                                  -- the person who decided, if one did
	at          timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, target_id, id),
	CONSTRAINT findings_of_target FOREIGN KEY (tenant_id, target_id) REFERENCES tenant.targets
);

-- The provider-call guard: one holder per (post, account).
CREATE TABLE tenant.publish_guards (
	tenant_id  bigint NOT NULL,
	post_id    bigint NOT NULL,
	account_id bigint NOT NULL,
	owner      uuid NOT NULL,
	taken_at   timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, post_id, account_id)
);

-- Each account's own hourly cap, as the time up to which its room is spent.
CREATE TABLE tenant.account_rates (
	tenant_id  bigint NOT NULL,
	account_id bigint NOT NULL,
	spent_to   timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, account_id)
) WITH (fillfactor = 50);

CREATE TABLE tenant.usage_months (
	tenant_id bigint NOT NULL,
	month     date NOT NULL,                             -- its first day, UTC
	published integer NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, month)
) WITH (fillfactor = 50);

-- An approval request asks one client's people about one version.
CREATE TABLE tenant.approval_requests (
	tenant_id    bigint NOT NULL,
	id           bigint GENERATED ALWAYS AS IDENTITY,
	post_id      bigint NOT NULL,
	version_id   bigint NOT NULL,
	content_hash bytea NOT NULL,
	client_id    bigint NOT NULL,
	stage        integer NOT NULL DEFAULT 1,             -- position of the stage that decides now
	stages       jsonb NOT NULL,                         -- the workflow as it was when asked: model.AskedStage
	state        text NOT NULL DEFAULT 'open' CONSTRAINT approval_requests_state_known
	             CHECK (state IN ('open', 'approved', 'changes_requested', 'rejected', 'superseded')),
	due_at       timestamptz,                            -- earliest planned time when asked
	asked_by     bigint NOT NULL,
	asked_at     timestamptz NOT NULL,
	closed_at    timestamptz,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT approval_requests_of_version FOREIGN KEY (tenant_id, post_id, version_id) REFERENCES tenant.post_versions (tenant_id, post_id, id),
	CONSTRAINT approval_requests_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients
);
CREATE UNIQUE INDEX approval_requests_one_open ON tenant.approval_requests (tenant_id, post_id, client_id) WHERE state = 'open';
CREATE INDEX approval_requests_by_post ON tenant.approval_requests (tenant_id, post_id, id);
CREATE INDEX approval_requests_open ON tenant.approval_requests (tenant_id, asked_at) WHERE state = 'open';

CREATE TABLE tenant.decisions (
	tenant_id    bigint NOT NULL,
	id           bigint GENERATED ALWAYS AS IDENTITY,
	request_id   bigint NOT NULL,
	stage        integer NOT NULL,
	user_id      bigint,
	approver_id  bigint,
	name         text NOT NULL,                          -- as it was when decided
	verdict      text NOT NULL CONSTRAINT decisions_verdict_known CHECK (verdict IN ('approve', 'request_changes', 'reject')),
	words        text NOT NULL DEFAULT '',
	content_hash bytea NOT NULL,
	at           timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT decisions_of_request FOREIGN KEY (tenant_id, request_id) REFERENCES tenant.approval_requests,
	CONSTRAINT decisions_approver FOREIGN KEY (tenant_id, approver_id) REFERENCES tenant.approvers,
	CONSTRAINT decisions_one_person CHECK (num_nonnulls(user_id, approver_id) = 1)
);
CREATE UNIQUE INDEX decisions_user_once ON tenant.decisions (tenant_id, request_id, stage, user_id) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX decisions_approver_once ON tenant.decisions (tenant_id, request_id, stage, approver_id) WHERE approver_id IS NOT NULL;

CREATE TABLE tenant.review_links (
	tenant_id   bigint NOT NULL,
	id          bigint GENERATED ALWAYS AS IDENTITY,
	token_hash  bytea NOT NULL CHECK (length(token_hash) = 32),
	approver_id bigint NOT NULL,
	expires_at  timestamptz NOT NULL,
	revoked_at  timestamptz,
	created_at  timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT review_links_approver FOREIGN KEY (tenant_id, approver_id) REFERENCES tenant.approvers,
	CONSTRAINT review_links_token_once UNIQUE (tenant_id, token_hash)
);

CREATE TABLE tenant.review_link_requests (
	tenant_id  bigint NOT NULL,
	link_id    bigint NOT NULL,
	request_id bigint NOT NULL,
	PRIMARY KEY (tenant_id, link_id, request_id),
	CONSTRAINT review_link_requests_link FOREIGN KEY (tenant_id, link_id) REFERENCES tenant.review_links,
	CONSTRAINT review_link_requests_request FOREIGN KEY (tenant_id, request_id) REFERENCES tenant.approval_requests
);
CREATE INDEX review_link_requests_by_request ON tenant.review_link_requests (tenant_id, request_id);

CREATE TABLE tenant.comments (
	tenant_id   bigint NOT NULL,
	id          bigint GENERATED ALWAYS AS IDENTITY,
	post_id     bigint NOT NULL,
	version_id  bigint,
	client_id   bigint,                                  -- whose approvers see it; null on internal ones
	visibility  text NOT NULL CONSTRAINT comments_visibility_known CHECK (visibility IN ('internal', 'client')),
	user_id     bigint,
	approver_id bigint,
	name        text NOT NULL,
	body        text NOT NULL CHECK (body <> ''),
	at          timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT comments_of_post FOREIGN KEY (tenant_id, post_id) REFERENCES tenant.posts,
	CONSTRAINT comments_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients,
	CONSTRAINT comments_approver FOREIGN KEY (tenant_id, approver_id) REFERENCES tenant.approvers,
	CONSTRAINT comments_client_visible_name_a_client CHECK ((visibility = 'client') = (client_id IS NOT NULL)),
	CONSTRAINT comments_approvers_never_internal CHECK (visibility = 'client' OR approver_id IS NULL),
	CONSTRAINT comments_one_person CHECK (num_nonnulls(user_id, approver_id) = 1)
);
CREATE INDEX comments_by_post ON tenant.comments (tenant_id, post_id, id);

-- What tenant data wants done elsewhere, committed with the change that wants it.
CREATE TABLE tenant.outbox (
	tenant_id  bigint NOT NULL,
	id         bigint GENERATED ALWAYS AS IDENTITY,
	key        text NOT NULL,                            -- idempotency: an event is written once
	kind       text NOT NULL CONSTRAINT outbox_kind_known CHECK (kind IN
	           ('target.publish', 'target.cancel', 'target.reconcile', 'target.follow_up', 'notice.target', 'notice.account')),
	target_id  bigint,
	version_id bigint,
	account_id bigint,
	seq        bigint NOT NULL DEFAULT 0,
	due_at     timestamptz,
	made_at    timestamptz NOT NULL,
	relayed_at timestamptz,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT outbox_key_once UNIQUE (tenant_id, key)
) WITH (fillfactor = 80);
CREATE INDEX outbox_owed ON tenant.outbox (id) WHERE relayed_at IS NULL;
CREATE INDEX outbox_over ON tenant.outbox (relayed_at) WHERE relayed_at IS NOT NULL;

-- Mail owed. What the mail links to is sealed and forgotten once it is sent.
CREATE TABLE tenant.mails (
	tenant_id  bigint NOT NULL,
	id         bigint GENERATED ALWAYS AS IDENTITY,
	key        text NOT NULL,
	kind       text NOT NULL,
	to_email   text NOT NULL,
	to_name    text NOT NULL DEFAULT '',
	content    jsonb NOT NULL,
	sealed     bytea,
	next_at    timestamptz NOT NULL,
	tries      integer NOT NULL DEFAULT 0,
	sent_at    timestamptz,
	given_up   boolean NOT NULL DEFAULT false,
	last_error text NOT NULL DEFAULT '',
	made_at    timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT mails_key_once UNIQUE (tenant_id, key)
);
CREATE INDEX mails_owed ON tenant.mails (next_at) WHERE sent_at IS NULL AND NOT given_up;

-- Who did what. It only grows.
CREATE TABLE tenant.audit (
	tenant_id   bigint NOT NULL,
	id          bigint GENERATED ALWAYS AS IDENTITY,
	at          timestamptz NOT NULL,
	user_id     bigint,
	approver_id bigint,
	name        text NOT NULL,
	verb        text NOT NULL,
	subject     text NOT NULL,                           -- post, target, account, client, media, workspace
	subject_id  bigint NOT NULL,
	client_id   bigint,
	detail      jsonb NOT NULL DEFAULT '{}',
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX audit_by_subject ON tenant.audit (tenant_id, subject, subject_id, id);
CREATE INDEX audit_newest ON tenant.audit (tenant_id, at DESC);
