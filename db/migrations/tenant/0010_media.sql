-- +goose Up

-- The media library: what a file is, where it lies, what is made of it, and what
-- is still owed to it.

-- Folders of a client's library. A folder stays where it was made.
CREATE TABLE tenant.media_folders (
	tenant_id  bigint NOT NULL,
	id         bigint GENERATED ALWAYS AS IDENTITY,
	client_id  bigint NOT NULL,
	parent_id  bigint,
	name       text NOT NULL CONSTRAINT media_folders_name_length CHECK (length(name) BETWEEN 1 AND 80),
	created_at timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, id),
	UNIQUE (tenant_id, client_id, id),
	CONSTRAINT media_folders_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients,
	CONSTRAINT media_folders_parent FOREIGN KEY (tenant_id, client_id, parent_id) REFERENCES tenant.media_folders (tenant_id, client_id, id)
);
CREATE UNIQUE INDEX media_folders_name_once ON tenant.media_folders (tenant_id, client_id, coalesce(parent_id, 0), lower(name));
CREATE INDEX media_folders_by_parent ON tenant.media_folders (tenant_id, client_id, parent_id);

ALTER TABLE tenant.media
	DROP CONSTRAINT media_state_known,
	-- scanning: the bytes are here and nobody has looked yet; processing: found
	-- clean, and what is published is being made.
	ADD CONSTRAINT media_state_known CHECK (state IN ('uploading', 'scanning', 'processing', 'ready', 'refused', 'quarantined', 'deleted')),
	ALTER COLUMN sha256 DROP NOT NULL,
	ADD CONSTRAINT media_hash_once_uploaded CHECK (sha256 IS NOT NULL OR state = 'uploading'),
	ADD COLUMN original_path  text NOT NULL DEFAULT '',      -- the uploaded bytes as they came; no link reaches them
	ADD COLUMN uploaded_bytes bigint NOT NULL DEFAULT 0,     -- their length, which the plan's storage counts
	ADD COLUMN revision       integer NOT NULL DEFAULT 1,    -- grows with each change a form could overwrite
	ADD COLUMN folder_id      bigint,
	ADD COLUMN tags           text[] NOT NULL DEFAULT '{}',  -- lower case, sorted
	ADD COLUMN placeholder    bytea NOT NULL DEFAULT '',     -- a ThumbHash: a blurred picture in some 25 bytes
	ADD COLUMN focal_x        integer NOT NULL DEFAULT 500,  -- thousandths of the upright picture: what a crop keeps in view
	ADD COLUMN focal_y        integer NOT NULL DEFAULT 500,
	ADD CONSTRAINT media_focal_inside CHECK (focal_x BETWEEN 0 AND 1000 AND focal_y BETWEEN 0 AND 1000),
	-- What a look at the file found. probe says which tool looked: a video that
	-- herald alone has read has no codecs and no frame rate here.
	ADD COLUMN probe          text NOT NULL DEFAULT '' CONSTRAINT media_probe_known CHECK (probe IN ('', 'herald', 'ffprobe', 'ffprobe_missing')),
	ADD COLUMN container      text NOT NULL DEFAULT '',
	ADD COLUMN video_codec    text NOT NULL DEFAULT '',
	ADD COLUMN audio_codec    text NOT NULL DEFAULT '',
	ADD COLUMN has_audio      boolean,                       -- null: not known
	ADD COLUMN fps            real NOT NULL DEFAULT 0,
	ADD COLUMN fps_varies     boolean NOT NULL DEFAULT false,
	ADD COLUMN rotation       smallint NOT NULL DEFAULT 0 CONSTRAINT media_rotation_known CHECK (rotation IN (0, 90, 180, 270)),
	ADD COLUMN frames         bigint NOT NULL DEFAULT 0,     -- 0: not known, or a still picture
	ADD COLUMN progress       smallint NOT NULL DEFAULT 0 CONSTRAINT media_progress_percent CHECK (progress BETWEEN 0 AND 100),
	ADD CONSTRAINT media_in_folder_of_client FOREIGN KEY (tenant_id, client_id, folder_id) REFERENCES tenant.media_folders (tenant_id, client_id, id),
	ADD CONSTRAINT media_ready_has_bytes CHECK (state <> 'ready' OR path <> '');

-- Rows of before hold what was published. Row-level security is forced on the
-- owner too, so the change is made under the pipeline's policy.
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
UPDATE tenant.media SET uploaded_bytes = bytes, probe = 'herald';
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('REVOKE herald_pipeline FROM %I', current_user); END $$;
-- +goose StatementEnd

-- The library's orders, all of a workspace or of one client.
DROP INDEX tenant.media_by_client;
CREATE INDEX media_newest ON tenant.media (tenant_id, created_at DESC, id DESC) WHERE state <> 'deleted';
CREATE INDEX media_newest_of_client ON tenant.media (tenant_id, client_id, created_at DESC, id DESC) WHERE state <> 'deleted';
CREATE INDEX media_by_name ON tenant.media (tenant_id, lower(name), id) WHERE state <> 'deleted';
CREATE INDEX media_by_name_of_client ON tenant.media (tenant_id, client_id, lower(name), id) WHERE state <> 'deleted';
CREATE INDEX media_by_folder ON tenant.media (tenant_id, folder_id, created_at DESC, id DESC) WHERE folder_id IS NOT NULL AND state <> 'deleted';
CREATE INDEX media_unfinished ON tenant.media (tenant_id, client_id) WHERE state IN ('uploading', 'scanning', 'processing', 'refused', 'quarantined');

-- The search: each word of name, alt text and tags, and each tag whole behind a
-- #. A word is found by how it begins.
CREATE TABLE tenant.media_words (
	tenant_id bigint NOT NULL,
	word      text COLLATE "C" NOT NULL,
	media_id  bigint NOT NULL,
	PRIMARY KEY (tenant_id, word, media_id),
	CONSTRAINT media_words_of_media FOREIGN KEY (tenant_id, media_id) REFERENCES tenant.media ON DELETE CASCADE
);
CREATE INDEX media_words_by_media ON tenant.media_words (tenant_id, media_id);

-- The part of a picture or video that a person chose for a preset (network.Preset),
-- in pixels of the upright file. A version keeps its own copy, so that what was
-- approved is what is sent.
CREATE TABLE tenant.media_crops (
	tenant_id bigint NOT NULL,
	media_id  bigint NOT NULL,
	preset    text NOT NULL,
	x         integer NOT NULL,
	y         integer NOT NULL,
	width     integer NOT NULL,
	height    integer NOT NULL,
	PRIMARY KEY (tenant_id, media_id, preset),
	CONSTRAINT media_crops_of_media FOREIGN KEY (tenant_id, media_id) REFERENCES tenant.media ON DELETE CASCADE,
	CONSTRAINT media_crops_inside CHECK (x >= 0 AND y >= 0 AND width > 0 AND height > 0)
);

-- What is made of a file for the networks that do not take it as it is. A recipe
-- (network.Recipe) says all of how; networks of one recipe share a rendition.
CREATE TABLE tenant.media_renditions (
	tenant_id   bigint NOT NULL,
	id          bigint GENERATED ALWAYS AS IDENTITY,
	media_id    bigint NOT NULL,
	recipe      text NOT NULL,
	state       text NOT NULL DEFAULT 'waiting' CONSTRAINT media_renditions_state_known CHECK (state IN ('waiting', 'making', 'ready', 'failed')),
	progress    smallint NOT NULL DEFAULT 0 CONSTRAINT media_renditions_progress_percent CHECK (progress BETWEEN 0 AND 100),
	reason      text NOT NULL DEFAULT '',                -- why it failed, in a sentence
	type        text NOT NULL DEFAULT '',
	path        text NOT NULL DEFAULT '',
	bytes       bigint NOT NULL DEFAULT 0,
	width       integer NOT NULL DEFAULT 0,
	height      integer NOT NULL DEFAULT 0,
	duration_ms bigint NOT NULL DEFAULT 0,
	made_at     timestamptz,
	wanted_at   timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT media_renditions_once UNIQUE (tenant_id, media_id, recipe),
	CONSTRAINT media_renditions_of_media FOREIGN KEY (tenant_id, media_id) REFERENCES tenant.media ON DELETE CASCADE,
	CONSTRAINT media_renditions_ready_have_bytes CHECK (state <> 'ready' OR path <> '')
);

-- What is owed to a file: to be scanned and developed (its state says which is
-- next), one rendition, or to be taken out of the store. Redis only reminds; a row
-- is here until its work is done, and a lease that ran out is anybody's.
CREATE TABLE tenant.media_tasks (
	tenant_id    bigint NOT NULL,
	id           bigint GENERATED ALWAYS AS IDENTITY,
	media_id     bigint NOT NULL,
	rendition_id bigint,
	next_at      timestamptz NOT NULL,                   -- when it is due, or its lease ends
	owner        uuid,                                   -- who works on it
	tries        integer NOT NULL DEFAULT 0,
	last_error   text NOT NULL DEFAULT '',
	made_at      timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT media_tasks_of_media FOREIGN KEY (tenant_id, media_id) REFERENCES tenant.media ON DELETE CASCADE,
	CONSTRAINT media_tasks_of_rendition FOREIGN KEY (tenant_id, rendition_id) REFERENCES tenant.media_renditions ON DELETE CASCADE
);
CREATE UNIQUE INDEX media_tasks_once ON tenant.media_tasks (tenant_id, media_id, coalesce(rendition_id, 0));
CREATE INDEX media_tasks_by_rendition ON tenant.media_tasks (tenant_id, rendition_id) WHERE rendition_id IS NOT NULL;
CREATE INDEX media_tasks_due ON tenant.media_tasks (next_at) WHERE next_at IS NOT NULL;

-- How each of a target's files is sent: the recipe beside each id of media_ids,
-- empty for a file that is sent as it is. Settled when the version is saved or,
-- where a file was not ready then, when it is submitted.
ALTER TABLE tenant.targets ADD COLUMN media_recipes text[] NOT NULL DEFAULT '{}';

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
	FOREACH t IN ARRAY ARRAY['media_folders', 'media_words', 'media_crops', 'media_renditions', 'media_tasks'] LOOP
		EXECUTE format('ALTER TABLE tenant.%I ENABLE ROW LEVEL SECURITY', t);
		EXECUTE format('ALTER TABLE tenant.%I FORCE ROW LEVEL SECURITY', t);
		EXECUTE format('CREATE POLICY own_workspace ON tenant.%I TO herald_app
			USING (tenant_id = (SELECT tenant.current_tenant()))
			WITH CHECK (tenant_id = (SELECT tenant.current_tenant()))', t);
		EXECUTE format('CREATE POLICY pipeline ON tenant.%I TO herald_pipeline USING (true) WITH CHECK (true)', t);
		EXECUTE format('GRANT SELECT ON tenant.%I TO herald_app, herald_pipeline', t);
	END LOOP;
END $$;
-- +goose StatementEnd
GRANT INSERT, UPDATE, DELETE ON tenant.media_folders, tenant.media_crops TO herald_app;
GRANT INSERT, DELETE ON tenant.media_words TO herald_app;
GRANT INSERT, UPDATE ON tenant.media_renditions, tenant.media_tasks TO herald_app, herald_pipeline;
GRANT UPDATE ON tenant.media TO herald_pipeline;
GRANT DELETE ON tenant.media_renditions, tenant.media_tasks TO herald_pipeline;
