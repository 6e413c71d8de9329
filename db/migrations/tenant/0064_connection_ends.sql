-- +goose Up

-- People hear of a connection that ends before it does: two weeks and three days
-- ahead. One that renews itself ends later each time it does, so that they hear of it
-- only if that has failed for long; of one whose end nobody knows nothing is said.
ALTER TABLE tenant.accounts ADD COLUMN ends_at timestamptz,  -- unless a renewal or a person prolongs it; null: never, or not known
	ADD COLUMN warn_at timestamptz;                          -- when its people are told next; null: they were told all
CREATE INDEX accounts_ending ON tenant.accounts (warn_at) WHERE state = 'active' AND warn_at IS NOT NULL;

-- +goose StatementBegin
CREATE FUNCTION tenant.connection_end() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	ends timestamptz := CASE WHEN NEW.refresh_token IS NULL THEN NEW.token_expires WHEN NEW.refresh_expires IS NOT NULL THEN greatest(NEW.token_expires, NEW.refresh_expires) END;
BEGIN
	IF TG_OP = 'INSERT' OR ends IS DISTINCT FROM OLD.ends_at THEN
		NEW.ends_at := ends;
		NEW.warn_at := ends - interval '14 days';
	END IF;
	RETURN NEW;
END $$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION tenant.connection_end() FROM PUBLIC;
CREATE TRIGGER accounts_end BEFORE INSERT OR UPDATE OF token_expires, refresh_token, refresh_expires ON tenant.accounts FOR EACH ROW
	EXECUTE FUNCTION tenant.connection_end();

-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- ending_connections: accounts whose people are to be told, with those of the same
-- workspace that would be within a day, so that one mail tells of all. Of what has
-- ended already, or belongs to a client that was put away, nobody is told.
-- +goose StatementBegin
CREATE FUNCTION tenant.ending_connections(p_now timestamptz, p_limit integer)
RETURNS TABLE (tenant_id bigint, account_id bigint, workspace text, slug text, client text, zone text, handle text, network text, ends_at timestamptz, warn_at timestamptz,
	connected_by bigint, say text, quiet boolean)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	WITH theirs AS (
		SELECT DISTINCT d.tenant_id
		  FROM (SELECT a.tenant_id FROM tenant.accounts a WHERE a.state = 'active' AND a.warn_at IS NOT NULL AND a.warn_at <= p_now ORDER BY a.warn_at LIMIT p_limit) d)
	SELECT a.tenant_id, a.id, w.name, w.slug, c.name, c.zone, a.handle, a.network, a.ends_at, a.warn_at, a.connected_by,
	       CASE WHEN a.renew_failures > 0 THEN coalesce(a.last_error, '') ELSE '' END, a.ends_at <= p_now OR c.archived_at IS NOT NULL
	  FROM theirs
	  JOIN tenant.tenants w ON w.tenant_id = theirs.tenant_id
	  JOIN tenant.accounts a ON a.tenant_id = theirs.tenant_id AND a.state = 'active' AND a.warn_at IS NOT NULL AND a.warn_at <= p_now + interval '1 day'
	  JOIN tenant.clients c ON c.tenant_id = a.tenant_id AND c.id = a.client_id
	 ORDER BY a.tenant_id, a.ends_at, a.id
$$;
-- told_ending says that the people of those accounts were told. What has more than
-- three days left is spoken of once more.
CREATE FUNCTION tenant.told_ending(p_tenants bigint[], p_accounts bigint[], p_warned timestamptz[], p_now timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	UPDATE tenant.accounts a SET warn_at = CASE WHEN a.ends_at - interval '3 days' > p_now + interval '1 day' THEN a.ends_at - interval '3 days' END
	  FROM unnest(p_tenants, p_accounts, p_warned) AS d(tenant_id, account_id, warn_at)
	 WHERE a.tenant_id = d.tenant_id AND a.id = d.account_id AND a.warn_at = d.warn_at
$$;
-- count_connections: how many end between p_now and p_by, and how many are lost.
CREATE FUNCTION tenant.count_connections(p_now timestamptz, p_by timestamptz) RETURNS TABLE (ending bigint, lost bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT count(*) FILTER (WHERE a.state = 'active' AND a.ends_at > p_now AND a.ends_at <= p_by),
	       count(*) FILTER (WHERE a.disconnected_at IS NULL AND (a.state = 'needs_reconnect' OR a.state = 'active' AND a.ends_at <= p_now))
	  FROM tenant.accounts a JOIN tenant.clients c ON c.tenant_id = a.tenant_id AND c.id = a.client_id AND c.archived_at IS NULL
$$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE f regprocedure;
BEGIN
	FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace
	          AND p.proname IN ('ending_connections', 'told_ending', 'count_connections') LOOP
		EXECUTE format('ALTER FUNCTION %s OWNER TO herald_pipeline', f);
		EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO herald_worker', f);
	END LOOP;
END $$;
-- +goose StatementEnd

-- The ends of today's accounts, by the trigger.
SET ROLE herald_pipeline;
UPDATE tenant.accounts SET token_expires = token_expires WHERE token_expires IS NOT NULL;
RESET ROLE;

REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('REVOKE herald_pipeline FROM %I', current_user); END $$;
-- +goose StatementEnd
