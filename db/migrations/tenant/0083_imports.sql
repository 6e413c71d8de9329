-- +goose Up

-- Tables of posts that somebody brought along: what stood in them, what each column
-- means, and what became of each row.
CREATE TABLE tenant.imports (
	tenant_id   bigint NOT NULL REFERENCES tenant.tenants,
	id          bigint GENERATED ALWAYS AS IDENTITY,
	client_id   bigint NOT NULL,
	user_id     bigint NOT NULL,                         -- whose it is, and in whose name its posts are written
	name        text NOT NULL CONSTRAINT imports_name_bounded CHECK (char_length(name) <= 200),
	hash        bytea NOT NULL,                          -- SHA-256 of the file
	head        text[] NOT NULL,
	cells       jsonb NOT NULL,                          -- rows of the table, each an array of texts
	lines       integer[] NOT NULL,                      -- of the file, for each row
	columns     text[] NOT NULL,                         -- what each column means; empty: nothing
	day_first   boolean NOT NULL,
	state       text NOT NULL CONSTRAINT imports_state_known CHECK (state IN ('open', 'queued', 'running', 'done', 'failed')),
	done        integer NOT NULL DEFAULT 0,              -- rows that were worked on
	made        integer NOT NULL DEFAULT 0,              -- of which posts were made
	tries       integer NOT NULL DEFAULT 0,
	next_at     timestamptz,                             -- when a worker is to take it, or to take it anew
	created_at  timestamptz NOT NULL,
	finished_at timestamptz,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT imports_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients,
	CONSTRAINT imports_wait_for_a_time CHECK ((next_at IS NOT NULL) = (state IN ('queued', 'running')))
);
CREATE INDEX imports_by_age ON tenant.imports (tenant_id, created_at);
CREATE INDEX imports_same ON tenant.imports (tenant_id, client_id, hash);
CREATE INDEX imports_due ON tenant.imports (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE tenant.import_rows (
	tenant_id bigint NOT NULL,
	import_id bigint NOT NULL,
	row       integer NOT NULL,                          -- the first is 0
	post_id   bigint,                                    -- null: none was made
	say       text NOT NULL,                             -- why, or what is to be known of the post
	PRIMARY KEY (tenant_id, import_id, row),
	CONSTRAINT import_rows_import FOREIGN KEY (tenant_id, import_id) REFERENCES tenant.imports ON DELETE CASCADE,
	CONSTRAINT import_rows_post FOREIGN KEY (tenant_id, post_id) REFERENCES tenant.posts
);
CREATE INDEX import_rows_by_post ON tenant.import_rows (tenant_id, post_id);

-- What columns of a head meant the last time.
CREATE TABLE tenant.import_columns (
	tenant_id bigint NOT NULL REFERENCES tenant.tenants,
	head      bytea NOT NULL,                            -- a hash of the names
	columns   text[] NOT NULL,
	day_first boolean NOT NULL,
	PRIMARY KEY (tenant_id, head)
);

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
	FOREACH t IN ARRAY ARRAY['imports', 'import_rows', 'import_columns'] LOOP
		EXECUTE format('ALTER TABLE tenant.%I ENABLE ROW LEVEL SECURITY', t);
		EXECUTE format('ALTER TABLE tenant.%I FORCE ROW LEVEL SECURITY', t);
		EXECUTE format('CREATE POLICY own_workspace ON tenant.%I TO herald_app USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()))', t);
		EXECUTE format('CREATE POLICY reviewer_none ON tenant.%I AS RESTRICTIVE FOR SELECT TO herald_app USING ((SELECT tenant.current_reviewer()) IS NULL)', t);
	END LOOP;
END $$;
-- +goose StatementEnd
CREATE POLICY pipeline ON tenant.imports TO herald_pipeline USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON tenant.imports TO herald_app;
GRANT SELECT, INSERT ON tenant.import_rows TO herald_app;
GRANT SELECT, INSERT, UPDATE ON tenant.import_columns TO herald_app;
GRANT SELECT, UPDATE ON tenant.imports TO herald_pipeline;

-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- take_imports hands out what is due, leased until p_lease: who works on one puts the
-- lease off as they go. One that came back too often is given up.
-- +goose StatementBegin
CREATE FUNCTION tenant.take_imports(p_now timestamptz, p_lease timestamptz, p_limit integer, p_tries integer)
RETURNS TABLE (tenant_id bigint, id bigint, user_id bigint, slug text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY
	WITH due AS (
		SELECT i.tenant_id, i.id FROM tenant.imports i WHERE i.next_at IS NOT NULL AND i.next_at <= p_now ORDER BY i.next_at LIMIT p_limit FOR UPDATE SKIP LOCKED
	), taken AS (
		UPDATE tenant.imports i SET tries = i.tries + 1, state = CASE WHEN i.tries >= p_tries THEN 'failed' ELSE 'running' END,
		       next_at = CASE WHEN i.tries < p_tries THEN p_lease END, finished_at = CASE WHEN i.tries >= p_tries THEN p_now END
		  FROM due WHERE i.tenant_id = due.tenant_id AND i.id = due.id RETURNING i.tenant_id, i.id, i.user_id, i.state
	)
	SELECT t.tenant_id, t.id, t.user_id, w.slug FROM taken t JOIN tenant.tenants w ON w.tenant_id = t.tenant_id WHERE t.state = 'running';
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
DECLARE f regprocedure;
BEGIN
	FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace AND p.proname = 'take_imports' LOOP
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
