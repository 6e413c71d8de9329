-- +goose Up

-- The pipeline's door to the media library, as 0003 is to posts: keys in, every
-- part matched. Work on a file is done by whoever holds its task's lease; all that
-- changes anything asks for the owner.

-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- take_media hands out what is due, leased until p_until, for a queue to carry.
-- What the queue loses is due again then.
-- +goose StatementBegin
CREATE FUNCTION tenant.take_media(p_now timestamptz, p_until timestamptz, p_limit integer) RETURNS TABLE (tenant_id bigint, id bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY
	WITH due AS (
		SELECT t.tenant_id, t.id FROM tenant.media_tasks t WHERE t.next_at <= p_now ORDER BY t.next_at LIMIT p_limit FOR UPDATE SKIP LOCKED)
	UPDATE tenant.media_tasks t SET next_at = p_until, owner = NULL
	  FROM due WHERE t.tenant_id = due.tenant_id AND t.id = due.id
	RETURNING t.tenant_id, t.id;
END $$;

-- release_media makes due what was handed out and not begun: the queue was lost.
CREATE FUNCTION tenant.release_media(p_now timestamptz, p_until timestamptz) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH freed AS (
		UPDATE tenant.media_tasks SET next_at = p_now WHERE owner IS NULL AND next_at > p_now AND next_at <= p_until RETURNING 1)
	SELECT count(*)::integer FROM freed
$$;

-- begin_media takes the lease of a task, and reads what its work needs.
CREATE FUNCTION tenant.begin_media(p_tenant bigint, p_id bigint, p_owner uuid, p_until timestamptz, p_now timestamptz)
RETURNS TABLE (media_id bigint, client_id bigint, state text, kind text, type text, name text, path text, thumb_path text, original_path text, sha256 bytea,
	bytes bigint, uploaded_bytes bigint, width integer, height integer, duration_ms bigint, video_codec text, audio_codec text, fps double precision,
	rendition_id bigint, recipe text, tries integer)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH mine AS (
		UPDATE tenant.media_tasks t SET owner = p_owner, next_at = p_until, tries = t.tries + 1
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

-- hold_media keeps the lease and says how far the work is. False: it was lost.
CREATE FUNCTION tenant.hold_media(p_tenant bigint, p_id bigint, p_owner uuid, p_until timestamptz, p_progress integer) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH mine AS (
		UPDATE tenant.media_tasks t SET next_at = p_until WHERE t.tenant_id = p_tenant AND t.id = p_id AND t.owner = p_owner RETURNING t.*
	), file AS (
		UPDATE tenant.media m SET progress = p_progress FROM mine
		 WHERE m.tenant_id = mine.tenant_id AND m.id = mine.media_id AND mine.rendition_id IS NULL AND m.progress <> p_progress
	), made AS (
		UPDATE tenant.media_renditions r SET progress = p_progress FROM mine
		 WHERE r.tenant_id = mine.tenant_id AND r.id = mine.rendition_id AND r.progress <> p_progress
	)
	SELECT EXISTS (SELECT FROM mine)
$$;

-- wait_media gives the lease back until p_next. p_reason is for people; p_fresh
-- does not count the try, since the file is not to blame.
CREATE FUNCTION tenant.wait_media(p_tenant bigint, p_id bigint, p_owner uuid, p_next timestamptz, p_reason text, p_error text, p_fresh boolean) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH mine AS (
		UPDATE tenant.media_tasks t SET owner = NULL, next_at = p_next, last_error = p_error, tries = t.tries - p_fresh::int
		 WHERE t.tenant_id = p_tenant AND t.id = p_id AND t.owner = p_owner RETURNING t.*
	), file AS (
		UPDATE tenant.media m SET reason = p_reason FROM mine
		 WHERE m.tenant_id = mine.tenant_id AND m.id = mine.media_id AND mine.rendition_id IS NULL AND m.state IN ('scanning', 'processing')
	)
	SELECT EXISTS (SELECT FROM mine)
$$;

-- clean_media: the scanner found nothing. The lease goes on.
CREATE FUNCTION tenant.clean_media(p_tenant bigint, p_id bigint, p_owner uuid) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH file AS (
		UPDATE tenant.media m SET state = 'processing', reason = '' FROM tenant.media_tasks t
		 WHERE t.tenant_id = p_tenant AND t.id = p_id AND t.owner = p_owner AND m.tenant_id = t.tenant_id AND m.id = t.media_id AND m.state = 'scanning' RETURNING 1)
	SELECT EXISTS (SELECT FROM file)
$$;

-- refuse_media ends a file that cannot be used: refused, or quarantined, with
-- where its bytes lie from now on.
CREATE FUNCTION tenant.refuse_media(p_tenant bigint, p_id bigint, p_owner uuid, p_state text, p_reason text, p_original text) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH mine AS (
		DELETE FROM tenant.media_tasks t WHERE t.tenant_id = p_tenant AND t.id = p_id AND t.owner = p_owner AND t.rendition_id IS NULL RETURNING t.*
	), file AS (
		UPDATE tenant.media m SET state = p_state, reason = p_reason, original_path = p_original, path = '', thumb_path = '', progress = 0, revision = m.revision + 1
		  FROM mine WHERE m.tenant_id = mine.tenant_id AND m.id = mine.media_id AND m.state IN ('scanning', 'processing')
	)
	SELECT EXISTS (SELECT FROM mine)
$$;

-- ready_media ends the work on a file that is published from now on, and owes
-- what is to be made of it.
CREATE FUNCTION tenant.ready_media(p_tenant bigint, p_id bigint, p_owner uuid, p_type text, p_path text, p_bytes bigint, p_thumb text, p_placeholder bytea,
	p_width integer, p_height integer, p_duration_ms bigint, p_probe text, p_container text, p_video_codec text, p_audio_codec text, p_has_audio boolean,
	p_fps double precision, p_fps_varies boolean, p_rotation integer, p_frames bigint, p_recipes text[], p_now timestamptz) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH mine AS (
		DELETE FROM tenant.media_tasks t USING tenant.media m
		 WHERE t.tenant_id = p_tenant AND t.id = p_id AND t.owner = p_owner AND t.rendition_id IS NULL
		   AND m.tenant_id = t.tenant_id AND m.id = t.media_id AND m.state = 'processing' RETURNING t.*
	), file AS (
		UPDATE tenant.media m SET state = 'ready', reason = '', type = p_type, path = p_path, bytes = p_bytes, thumb_path = p_thumb, placeholder = p_placeholder,
		       width = p_width, height = p_height, duration_ms = p_duration_ms, probe = p_probe, container = p_container, video_codec = p_video_codec,
		       audio_codec = p_audio_codec, has_audio = p_has_audio, fps = p_fps, fps_varies = p_fps_varies, rotation = p_rotation, frames = p_frames,
		       progress = 100, revision = m.revision + 1
		  FROM mine WHERE m.tenant_id = mine.tenant_id AND m.id = mine.media_id
		RETURNING m.tenant_id, m.id
	), wanted AS (
		INSERT INTO tenant.media_renditions (tenant_id, media_id, recipe, wanted_at)
		SELECT file.tenant_id, file.id, r, p_now FROM file, unnest(p_recipes) r
		ON CONFLICT (tenant_id, media_id, recipe) DO NOTHING RETURNING tenant_id, id, media_id
	), owed AS (
		INSERT INTO tenant.media_tasks (tenant_id, media_id, rendition_id, next_at, made_at) SELECT tenant_id, media_id, id, p_now, p_now FROM wanted
	)
	SELECT EXISTS (SELECT FROM file)
$$;

-- finish_rendition ends the work on a rendition: made, or with a reason failed.
CREATE FUNCTION tenant.finish_rendition(p_tenant bigint, p_id bigint, p_owner uuid, p_type text, p_path text, p_bytes bigint, p_width integer, p_height integer,
	p_duration_ms bigint, p_reason text, p_now timestamptz) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH mine AS (
		DELETE FROM tenant.media_tasks t WHERE t.tenant_id = p_tenant AND t.id = p_id AND t.owner = p_owner AND t.rendition_id IS NOT NULL RETURNING t.*
	), made AS (
		UPDATE tenant.media_renditions r SET state = CASE WHEN p_reason = '' THEN 'ready' ELSE 'failed' END, reason = p_reason, type = p_type, path = p_path, bytes = p_bytes,
		       width = p_width, height = p_height, duration_ms = p_duration_ms, progress = CASE WHEN p_reason = '' THEN 100 ELSE 0 END, made_at = p_now
		  FROM mine WHERE r.tenant_id = mine.tenant_id AND r.id = mine.rendition_id
		RETURNING 1
	)
	SELECT EXISTS (SELECT FROM made)
$$;

-- media_serves lists where a file may be published: its client's accounts, and
-- the crops that people chose.
CREATE FUNCTION tenant.media_serves(p_tenant bigint, p_media bigint) RETURNS TABLE (network text, settings jsonb, crops jsonb, focal_x integer, focal_y integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT a.network, a.settings,
	       coalesce((SELECT jsonb_object_agg(c.preset, jsonb_build_object('x', c.x, 'y', c.y, 'width', c.width, 'height', c.height))
	                   FROM tenant.media_crops c WHERE c.tenant_id = m.tenant_id AND c.media_id = m.id), '{}'), m.focal_x, m.focal_y
	  FROM tenant.media m JOIN tenant.accounts a ON a.tenant_id = m.tenant_id AND a.client_id = m.client_id AND a.state <> 'disabled'
	 WHERE m.tenant_id = p_tenant AND m.id = p_media
$$;

-- media_files lists all that lies in the store for a deleted file, for the owner
-- of its task; erase_media forgets it once that is gone.
CREATE FUNCTION tenant.media_files(p_tenant bigint, p_id bigint, p_owner uuid) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT p FROM tenant.media_tasks t
	  JOIN tenant.media m ON m.tenant_id = t.tenant_id AND m.id = t.media_id AND m.state = 'deleted'
	 CROSS JOIN LATERAL (SELECT unnest(ARRAY[m.path, m.thumb_path, m.original_path])
	                     UNION SELECT r.path FROM tenant.media_renditions r WHERE r.tenant_id = m.tenant_id AND r.media_id = m.id) files(p)
	 WHERE t.tenant_id = p_tenant AND t.id = p_id AND t.owner = p_owner AND p <> ''
$$;
CREATE FUNCTION tenant.erase_media(p_tenant bigint, p_id bigint, p_owner uuid) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH mine AS (
		DELETE FROM tenant.media_tasks t WHERE t.tenant_id = p_tenant AND t.id = p_id AND t.owner = p_owner RETURNING t.*
	), file AS (
		UPDATE tenant.media m SET path = '', thumb_path = '', original_path = '' FROM mine
		 WHERE m.tenant_id = mine.tenant_id AND m.id = mine.media_id AND m.state = 'deleted' RETURNING m.tenant_id, m.id
	), renditions AS (
		DELETE FROM tenant.media_renditions r USING file WHERE r.tenant_id = file.tenant_id AND r.media_id = file.id
	)
	SELECT EXISTS (SELECT FROM file)
$$;
-- drop_media ends a task that has nothing to do any more.
CREATE FUNCTION tenant.drop_media(p_tenant bigint, p_id bigint, p_owner uuid) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH mine AS (DELETE FROM tenant.media_tasks t WHERE t.tenant_id = p_tenant AND t.id = p_id AND t.owner = p_owner RETURNING 1)
	SELECT EXISTS (SELECT FROM mine)
$$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE f regprocedure;
BEGIN
	FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace AND p.proname IN ('take_media', 'release_media', 'begin_media', 'hold_media',
	         'wait_media', 'clean_media', 'refuse_media', 'ready_media', 'finish_rendition', 'media_serves', 'media_files', 'erase_media', 'drop_media') LOOP
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
