-- +goose Up

-- What a network gets, or got, of a version's text: its first words, for lists. A
-- target is spoken of in the words of its own version, not of the post's newest.
-- +goose StatementBegin
CREATE FUNCTION tenant.words_of(content bytea, network text) RETURNS text LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
	SELECT CASE WHEN length(w.words) > 140 THEN rtrim(left(w.words, 139)) || '…' ELSE w.words END
	  FROM (SELECT replace(convert_from(content, 'UTF8'), '\u0000', '\ufffd')::json AS c) j,
	       LATERAL (SELECT btrim(regexp_replace(coalesce(c -> 'variants' -> network ->> 'text', c ->> 'text', ''), '\s+', ' ', 'g')) AS words) w
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION tenant.words_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenant.words_of TO herald_app, herald_pipeline;

-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- notice_facts as in 0003, with the target's own words.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tenant.notice_facts(p_tenant bigint, p_target bigint, p_account bigint)
RETURNS TABLE (workspace text, slug text, client_id bigint, client text, account text, network text, excerpt text, state text, reason text, say text,
	due_at timestamptz, zone text, created_by bigint, connected_by bigint, client_users bigint[], account_id bigint, affected bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	SELECT w.name, w.slug, c.id, c.name, ac.handle, ac.network, coalesce(tenant.words_of(v.content, t.network), ''), coalesce(t.state, ac.state), coalesce(t.reason, ''),
	       coalesce(nullif(t.say, ''), ac.last_error, ''), t.due_at, coalesce(t.zone, c.zone), p.created_by, ac.connected_by,
	       ARRAY(SELECT ca.user_id FROM tenant.client_access ca WHERE ca.tenant_id = p_tenant AND ca.client_id = c.id AND 'posts.schedule' = ANY (ca.permissions)),
	       ac.id,
	       (SELECT count(*) FROM tenant.targets x WHERE x.tenant_id = p_tenant AND x.account_id = ac.id
	         AND x.state IN ('scheduled', 'retry_scheduled', 'needs_reconnect'))
	  FROM tenant.accounts ac
	  JOIN tenant.clients c ON c.tenant_id = ac.tenant_id AND c.id = ac.client_id
	  JOIN tenant.tenants w ON w.tenant_id = ac.tenant_id
	  LEFT JOIN tenant.targets t ON t.tenant_id = ac.tenant_id AND t.id = p_target
	  LEFT JOIN tenant.posts p ON p.tenant_id = t.tenant_id AND p.id = t.post_id
	  LEFT JOIN tenant.post_versions v ON v.tenant_id = t.tenant_id AND v.id = t.version_id
	 WHERE ac.tenant_id = p_tenant AND ac.id = coalesce(t.account_id, p_account)
	   AND (p_target IS NULL OR t.id IS NOT NULL)
$$;
-- +goose StatementEnd

REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('REVOKE herald_pipeline FROM %I', current_user); END $$;
-- +goose StatementEnd
