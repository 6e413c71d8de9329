-- +goose Up

-- What is sealed, page by page, to be sealed again under the newest key. Only
-- those who hold the keys can tell which key a value needs.

CREATE INDEX mails_sealed ON tenant.mails (tenant_id, id) WHERE sealed IS NOT NULL;

GRANT CREATE ON SCHEMA tenant TO herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION tenant.sealed_accounts(p_tenant bigint, p_id bigint, p_limit integer)
RETURNS TABLE (tenant_id bigint, id bigint, token bytea, refresh_token bytea, declared bytea)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT a.tenant_id, a.id, a.token, a.refresh_token, a.declared FROM tenant.accounts a
	 WHERE (a.tenant_id, a.id) > (p_tenant, p_id) ORDER BY a.tenant_id, a.id LIMIT p_limit
$$;
CREATE FUNCTION tenant.sealed_mails(p_tenant bigint, p_id bigint, p_limit integer)
RETURNS TABLE (tenant_id bigint, id bigint, key text, sealed bytea)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT m.tenant_id, m.id, m.key, m.sealed FROM tenant.mails m
	 WHERE m.sealed IS NOT NULL AND (m.tenant_id, m.id) > (p_tenant, p_id) ORDER BY m.tenant_id, m.id LIMIT p_limit
$$;
-- +goose StatementEnd

-- reseal_values puts each new value where the old one still is: a token that was
-- renewed meanwhile stays. p_fields: token, refresh, declared, mail.
-- +goose StatementBegin
CREATE FUNCTION tenant.reseal_values(p_tenants bigint[], p_ids bigint[], p_fields text[], p_olds bytea[], p_news bytea[]) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH v AS MATERIALIZED (
		SELECT * FROM unnest(p_tenants, p_ids, p_fields, p_olds, p_news) AS v(tenant_id, id, field, old, new)
	), held AS MATERIALIZED (
		SELECT a.tenant_id, a.id,
		       (SELECT v.new FROM v WHERE v.tenant_id = a.tenant_id AND v.id = a.id AND v.field = 'token' AND v.old = a.token) AS token,
		       (SELECT v.new FROM v WHERE v.tenant_id = a.tenant_id AND v.id = a.id AND v.field = 'refresh' AND v.old = a.refresh_token) AS refresh,
		       (SELECT v.new FROM v WHERE v.tenant_id = a.tenant_id AND v.id = a.id AND v.field = 'declared' AND v.old = a.declared) AS declared
		  FROM tenant.accounts a
		 WHERE (a.tenant_id, a.id) IN (SELECT v.tenant_id, v.id FROM v WHERE v.field <> 'mail')
		 ORDER BY a.tenant_id, a.id FOR NO KEY UPDATE OF a
	), accounts AS (
		UPDATE tenant.accounts a SET token = coalesce(h.token, a.token), refresh_token = coalesce(h.refresh, a.refresh_token), declared = coalesce(h.declared, a.declared)
		  FROM held h WHERE a.tenant_id = h.tenant_id AND a.id = h.id
		RETURNING (h.token IS NOT NULL)::int + (h.refresh IS NOT NULL)::int + (h.declared IS NOT NULL)::int AS n
	), mails AS (
		UPDATE tenant.mails m SET sealed = v.new FROM v
		 WHERE v.field = 'mail' AND m.tenant_id = v.tenant_id AND m.id = v.id AND m.sealed = v.old RETURNING 1 AS n
	)
	SELECT (coalesce((SELECT sum(n) FROM accounts), 0) + coalesce((SELECT sum(n) FROM mails), 0))::integer
$$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE f regprocedure;
BEGIN
	FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace AND p.proname IN ('sealed_accounts', 'sealed_mails', 'reseal_values') LOOP
		EXECUTE format('ALTER FUNCTION %s OWNER TO herald_pipeline', f);
		EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO herald_worker', f);
	END LOOP;
	EXECUTE format('REVOKE herald_pipeline FROM %I', current_user);
END $$;
-- +goose StatementEnd
REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
