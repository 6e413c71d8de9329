-- +goose Up

-- Files on their way in, and files that lie with a publisher for a while.

-- A file that arrives piece by piece, perhaps over days. It belongs to the person
-- who sends it, and is an asset once its last byte is here.
CREATE TABLE tenant.uploads (
	tenant_id  bigint NOT NULL,
	id         bigint GENERATED ALWAYS AS IDENTITY,
	client_id  bigint NOT NULL,
	state      text NOT NULL DEFAULT 'open' CONSTRAINT uploads_state_known CHECK (state IN ('open', 'done', 'expired')),
	name       text NOT NULL,
	size       bigint NOT NULL,                          -- in bytes, as announced
	received   bigint NOT NULL DEFAULT 0,                -- of those, safe in the store
	type       text NOT NULL DEFAULT '',                 -- sniffed from the first bytes
	draft      jsonb NOT NULL DEFAULT '{}',              -- blob.Draft: where they lie
	hash       bytea NOT NULL DEFAULT '',                -- SHA-256 so far, as it can be gone on with
	media_id   bigint,                                   -- what it became
	kept       boolean NOT NULL DEFAULT false,           -- its bytes are the asset's; false: the client had them already
	created_by bigint NOT NULL,
	created_at timestamptz NOT NULL,
	due_at     timestamptz NOT NULL,                     -- when the sweeper takes it away
	holder     text,                                     -- the request that writes to it
	held_until timestamptz,
	wanted     boolean NOT NULL DEFAULT false,           -- another request waits for the holder to let go
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT uploads_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients,
	CONSTRAINT uploads_became_media FOREIGN KEY (tenant_id, media_id) REFERENCES tenant.media,
	CONSTRAINT uploads_within_size CHECK (size > 0 AND received BETWEEN 0 AND size),
	CONSTRAINT uploads_done_are_whole CHECK (state <> 'done' OR received = size)
);
CREATE INDEX uploads_open ON tenant.uploads (tenant_id, created_by) WHERE state = 'open';
CREATE INDEX uploads_by_media ON tenant.uploads (tenant_id, media_id) WHERE media_id IS NOT NULL;
CREATE INDEX uploads_due ON tenant.uploads (due_at) WHERE due_at IS NOT NULL;

-- A file of a version that was handed to a publisher, or is being handed over: once
-- for all targets of the version that the publisher serves. path is the file in
-- our store; handle is what the publisher calls it, often an address that runs out.
CREATE TABLE tenant.staged_media (
	tenant_id    bigint NOT NULL,
	version_id   bigint NOT NULL,
	publisher    text NOT NULL,
	path         text NOT NULL,
	handle       text NOT NULL DEFAULT '',               -- empty: it is being staged
	good_until   timestamptz,                            -- null: as long as the version
	owner        uuid NOT NULL,
	leased_until timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, version_id, publisher, path),
	CONSTRAINT staged_media_of_version FOREIGN KEY (tenant_id, version_id) REFERENCES tenant.post_versions
);

CREATE INDEX staged_media_old ON tenant.staged_media (leased_until) WHERE leased_until IS NOT NULL;

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
	FOREACH t IN ARRAY ARRAY['uploads', 'staged_media'] LOOP
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
GRANT INSERT, UPDATE, DELETE ON tenant.uploads TO herald_app;
GRANT UPDATE, DELETE ON tenant.uploads TO herald_pipeline;
GRANT INSERT, UPDATE, DELETE ON tenant.staged_media TO herald_pipeline;

GRANT CREATE ON SCHEMA tenant TO herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- expire_uploads hands out uploads whose time is over, and closes those that are
-- open. A row is handed out again, at p_again, until drop_uploads takes it away:
-- its bytes come first.
CREATE FUNCTION tenant.expire_uploads(p_now timestamptz, p_again timestamptz, p_limit integer)
RETURNS TABLE (tenant_id bigint, id bigint, draft jsonb, kept boolean)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH due AS (
		SELECT u.tenant_id, u.id FROM tenant.uploads u WHERE u.due_at <= p_now ORDER BY u.due_at LIMIT p_limit FOR UPDATE SKIP LOCKED
	)
	UPDATE tenant.uploads u SET state = CASE u.state WHEN 'open' THEN 'expired' ELSE u.state END, due_at = p_again
	  FROM due WHERE u.tenant_id = due.tenant_id AND u.id = due.id
	RETURNING u.tenant_id, u.id, u.draft, u.kept
$$;

CREATE FUNCTION tenant.drop_uploads(p_tenants bigint[], p_uploads bigint[]) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH gone AS (
		DELETE FROM tenant.uploads u USING unnest(p_tenants, p_uploads) AS a(tenant_id, id)
		 WHERE u.tenant_id = a.tenant_id AND u.id = a.id AND u.state <> 'open' RETURNING 1
	)
	SELECT count(*)::integer FROM gone
$$;

-- stage_media says how a file of a version stands with a publisher. "staged": here
-- is its handle. "mine": nobody has it and nobody is at it, so the caller is, until
-- p_until. "wait", or no row at all where two came at once: somebody else is. "gone":
-- there is no such version.
CREATE FUNCTION tenant.stage_media(p_tenant bigint, p_version bigint, p_publisher text, p_path text, p_owner uuid, p_now timestamptz, p_until timestamptz)
RETURNS TABLE (verdict text, handle text)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH taken AS (
		INSERT INTO tenant.staged_media AS s (tenant_id, version_id, publisher, path, owner, leased_until)
		SELECT v.tenant_id, v.id, p_publisher, p_path, p_owner, p_until FROM tenant.post_versions v WHERE v.tenant_id = p_tenant AND v.id = p_version
		ON CONFLICT (tenant_id, version_id, publisher, path) DO UPDATE SET owner = p_owner, leased_until = p_until, handle = '', good_until = NULL
		 WHERE (s.handle = '' OR s.good_until <= p_now) AND (s.owner = p_owner OR s.leased_until <= p_now)
		RETURNING 1
	)
	SELECT 'mine', '' FROM taken
	UNION ALL
	SELECT 'gone', '' WHERE NOT EXISTS (SELECT FROM tenant.post_versions v WHERE v.tenant_id = p_tenant AND v.id = p_version)
	UNION ALL
	SELECT CASE WHEN s.handle <> '' AND (s.good_until IS NULL OR s.good_until > p_now) THEN 'staged' ELSE 'wait' END, s.handle
	  FROM tenant.staged_media s
	 WHERE s.tenant_id = p_tenant AND s.version_id = p_version AND s.publisher = p_publisher AND s.path = p_path AND NOT EXISTS (SELECT FROM taken)
$$;

-- keep_staging goes on with a lease; false if it is another's by now.
CREATE FUNCTION tenant.keep_staging(p_tenant bigint, p_version bigint, p_publisher text, p_path text, p_owner uuid, p_until timestamptz) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH kept AS (
		UPDATE tenant.staged_media SET leased_until = p_until
		 WHERE tenant_id = p_tenant AND version_id = p_version AND publisher = p_publisher AND path = p_path AND owner = p_owner AND handle = '' RETURNING 1
	)
	SELECT EXISTS (SELECT FROM kept)
$$;

-- finish_staging writes down the handle, for the owner alone. An empty handle lets
-- the next one try.
CREATE FUNCTION tenant.finish_staging(p_tenant bigint, p_version bigint, p_publisher text, p_path text, p_owner uuid, p_handle text, p_good_until timestamptz, p_now timestamptz)
RETURNS boolean LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH finished AS (
		UPDATE tenant.staged_media SET handle = p_handle, good_until = p_good_until, leased_until = p_now
		 WHERE tenant_id = p_tenant AND version_id = p_version AND publisher = p_publisher AND path = p_path AND owner = p_owner AND handle = '' RETURNING 1
	)
	SELECT EXISTS (SELECT FROM finished)
$$;

-- sweep_staging forgets what was staged long ago: its targets have ended.
CREATE FUNCTION tenant.sweep_staging(p_before timestamptz, p_limit integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH gone AS (
		DELETE FROM tenant.staged_media s USING (
			SELECT o.tenant_id, o.version_id, o.publisher, o.path FROM tenant.staged_media o WHERE o.leased_until < p_before ORDER BY o.leased_until LIMIT p_limit FOR UPDATE SKIP LOCKED) old
		 WHERE s.tenant_id = old.tenant_id AND s.version_id = old.version_id AND s.publisher = old.publisher AND s.path = old.path RETURNING 1
	)
	SELECT count(*)::integer FROM gone
$$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE f regprocedure;
BEGIN
	FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace
	          AND p.proname IN ('expire_uploads', 'drop_uploads', 'stage_media', 'keep_staging', 'finish_staging', 'sweep_staging') LOOP
		EXECUTE format('ALTER FUNCTION %s OWNER TO herald_pipeline', f);
		EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO herald_worker', f);
	END LOOP;
END $$;
-- +goose StatementEnd
REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('REVOKE herald_pipeline FROM %I', current_user); END $$;
-- +goose StatementEnd
