-- +goose Up

-- The media queue serves workspaces in turn: of one workspace only a few tasks lie
-- in the queue at a time, so that a library of thousands of new files is passed by
-- another workspace's single one.

ALTER TABLE tenant.media_tasks
	ADD COLUMN video  boolean NOT NULL DEFAULT false, -- its file's kind: videos have a queue of their own
	ADD COLUMN queued boolean NOT NULL DEFAULT false; -- handed out, and nobody has begun it

-- Rows of before. Row-level security is forced on the owner too, so the change is
-- made under the pipeline's policy.
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
UPDATE tenant.media_tasks t SET video = true FROM tenant.media m WHERE m.tenant_id = t.tenant_id AND m.id = t.media_id AND m.kind = 'video';

CREATE INDEX media_tasks_in_turn ON tenant.media_tasks (tenant_id, video, next_at);
CREATE INDEX media_tasks_queued ON tenant.media_tasks (tenant_id, video, next_at) WHERE queued;

-- +goose StatementBegin
CREATE FUNCTION tenant.media_task_kind() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	NEW.video := EXISTS (SELECT FROM tenant.media m WHERE m.tenant_id = NEW.tenant_id AND m.id = NEW.media_id AND m.kind = 'video');
	RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER media_tasks_kind BEFORE INSERT ON tenant.media_tasks FOR EACH ROW EXECUTE FUNCTION tenant.media_task_kind();

GRANT CREATE ON SCHEMA tenant TO herald_pipeline;
DROP FUNCTION tenant.take_media;
DROP FUNCTION tenant.release_media;

-- take_media hands out what is due, leased until p_until, for a queue to carry, and
-- so much that no workspace has more than p_share tasks of a kind in the queue: its
-- first, everybody's first before anybody's second. What the queue loses is due
-- again then.
-- +goose StatementBegin
CREATE FUNCTION tenant.take_media(p_now timestamptz, p_until timestamptz, p_limit integer, p_share integer) RETURNS TABLE (tenant_id bigint, id bigint, video boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
	found integer;
	whose bigint[];
BEGIN
	SELECT count(*), array_agg(DISTINCT d.tenant_id) INTO found, whose
	  FROM (SELECT t.tenant_id FROM tenant.media_tasks t WHERE t.next_at <= p_now ORDER BY t.next_at LIMIT p_limit) d;
	IF found = 0 THEN RETURN; END IF;

	-- More than one look shows: whoever is owed anything is asked.
	IF found = p_limit THEN
		WITH RECURSIVE owed AS (
			(SELECT t.tenant_id FROM tenant.media_tasks t ORDER BY t.tenant_id LIMIT 1)
			UNION ALL
			SELECT (SELECT t.tenant_id FROM tenant.media_tasks t WHERE t.tenant_id > owed.tenant_id ORDER BY t.tenant_id LIMIT 1) FROM owed WHERE owed.tenant_id IS NOT NULL
		)
		SELECT array_agg(owed.tenant_id) INTO whose FROM owed WHERE owed.tenant_id IS NOT NULL;
	END IF;

	RETURN QUERY
	WITH due AS (
		SELECT d.* FROM unnest(whose) AS w(tenant_id) CROSS JOIN (VALUES (false), (true)) AS k(video)
		 CROSS JOIN LATERAL (
			SELECT t.tenant_id, t.id, t.video, t.next_at FROM tenant.media_tasks t
			 WHERE t.tenant_id = w.tenant_id AND t.video = k.video AND t.next_at <= p_now ORDER BY t.next_at, t.id
			 LIMIT greatest(0, p_share - (SELECT count(*) FROM tenant.media_tasks o WHERE o.tenant_id = w.tenant_id AND o.video = k.video AND o.queued AND o.next_at > p_now))
			   FOR UPDATE SKIP LOCKED) d
	), turns AS (
		SELECT due.*, row_number() OVER (PARTITION BY due.tenant_id, due.video ORDER BY due.next_at, due.id) AS turn FROM due
	), first AS (
		SELECT turns.* FROM turns ORDER BY turns.turn, turns.next_at, turns.tenant_id LIMIT p_limit
	), taken AS (
		UPDATE tenant.media_tasks t SET next_at = p_until, owner = NULL, queued = true FROM first WHERE t.tenant_id = first.tenant_id AND t.id = first.id RETURNING t.tenant_id, t.id
	)
	SELECT first.tenant_id, first.id, first.video FROM first JOIN taken USING (tenant_id, id) ORDER BY first.turn, first.next_at, first.tenant_id;
END $$;

-- release_media makes due what was handed out and not begun: the queue was lost.
CREATE FUNCTION tenant.release_media(p_now timestamptz) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH freed AS (
		UPDATE tenant.media_tasks SET next_at = p_now, queued = false WHERE queued AND next_at > p_now RETURNING 1)
	SELECT count(*)::integer FROM freed
$$;

-- begin_media takes the lease of a task, and reads what its work needs.
CREATE OR REPLACE FUNCTION tenant.begin_media(p_tenant bigint, p_id bigint, p_owner uuid, p_until timestamptz, p_now timestamptz)
RETURNS TABLE (media_id bigint, client_id bigint, state text, kind text, type text, name text, path text, thumb_path text, original_path text, sha256 bytea,
	bytes bigint, uploaded_bytes bigint, width integer, height integer, duration_ms bigint, video_codec text, audio_codec text, fps double precision,
	rendition_id bigint, recipe text, tries integer)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH mine AS (
		UPDATE tenant.media_tasks t SET owner = p_owner, next_at = p_until, queued = false, tries = t.tries + 1
		 WHERE t.tenant_id = p_tenant AND t.id = p_id AND (t.owner IS NULL OR t.next_at <= p_now)
		RETURNING t.*
	), making AS (
		UPDATE tenant.media_renditions r SET state = 'making', progress = 0
		  FROM mine WHERE r.tenant_id = mine.tenant_id AND r.id = mine.rendition_id AND r.state = 'waiting'
	)
	SELECT m.id, m.client_id, m.state, m.kind, m.type, m.name, m.path, m.thumb_path, m.original_path, m.sha256,
	       m.bytes, m.uploaded_bytes, m.width, m.height, m.duration_ms, m.video_codec, m.audio_codec, m.fps::double precision, mine.rendition_id, coalesce(r.recipe, ''), mine.tries
	  FROM mine
	  JOIN tenant.media m ON m.tenant_id = mine.tenant_id AND m.id = mine.media_id
	  LEFT JOIN tenant.media_renditions r ON r.tenant_id = mine.tenant_id AND r.id = mine.rendition_id
$$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE f regprocedure;
BEGIN
	FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace AND p.proname IN ('take_media', 'release_media', 'begin_media') LOOP
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
