-- +goose Up

-- What is known of accounts: that one works again, and what waits for it; and
-- what an approver wrote; how long an event waits; and when a network lets nobody
-- through.

-- Posts that an account keeps waiting, by account.
CREATE INDEX targets_waiting ON tenant.targets (tenant_id, account_id) WHERE state = 'retry_scheduled';

-- How much an approver has written lately.
CREATE INDEX comments_by_approver ON tenant.comments (tenant_id, approver_id, at) WHERE approver_id IS NOT NULL;

-- Until when a network takes nothing from this Herald as a whole, by the route it
-- is reached: the limit of the app, not of one account. It belongs to nobody, and
-- every shard has it.
CREATE TABLE tenant.network_limits (
	network      text NOT NULL,
	publisher    text NOT NULL,
	closed_until timestamptz NOT NULL,
	PRIMARY KEY (network, publisher)
) WITH (fillfactor = 50);
GRANT SELECT ON tenant.network_limits TO herald_app;
GRANT SELECT, INSERT, UPDATE ON tenant.network_limits TO herald_pipeline;

GRANT CREATE ON SCHEMA tenant TO herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd

-- mend_accounts takes an old error off the accounts of those targets that are
-- published: the account works. Accounts are locked in key order, after the
-- targets of whoever calls.
-- +goose StatementBegin
CREATE FUNCTION tenant.mend_accounts(p_tenants bigint[], p_targets bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	UPDATE tenant.accounts ac SET last_error = NULL, last_error_at = NULL
	  FROM (SELECT e.tenant_id, e.id
	          FROM unnest(p_tenants, p_targets) AS a(tenant_id, target_id)
	          JOIN tenant.targets t ON t.tenant_id = a.tenant_id AND t.id = a.target_id AND t.published_at IS NOT NULL
	          JOIN tenant.accounts e ON e.tenant_id = t.tenant_id AND e.id = t.account_id AND e.state = 'active' AND e.last_error IS NOT NULL
	         ORDER BY e.tenant_id, e.id FOR NO KEY UPDATE OF e) works
	 WHERE ac.tenant_id = works.tenant_id AND ac.id = works.id;
END $$;
-- +goose StatementEnd

-- limit_network closes a network that is reached by a publisher until a time, or
-- for longer if it is closed already. limit_network_of does so for the network of
-- an account, and says which that is.
-- +goose StatementBegin
CREATE FUNCTION tenant.limit_network(p_network text, p_publisher text, p_until timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
	INSERT INTO tenant.network_limits AS n (network, publisher, closed_until) VALUES (p_network, p_publisher, p_until)
	ON CONFLICT (network, publisher) DO UPDATE SET closed_until = excluded.closed_until WHERE n.closed_until < excluded.closed_until
$$;
CREATE FUNCTION tenant.limit_network_of(p_tenant bigint, p_account bigint, p_until timestamptz) RETURNS TABLE (network text, publisher text)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
	SELECT tenant.limit_network(a.network, a.publisher, p_until) FROM tenant.accounts a WHERE a.tenant_id = p_tenant AND a.id = p_account;
	SELECT a.network, a.publisher FROM tenant.accounts a WHERE a.tenant_id = p_tenant AND a.id = p_account
$$;
-- +goose StatementEnd

-- oldest_event: since when the event that has waited longest for its relay waits;
-- null if none does. Ids grow with time, so the first by id will do.
-- +goose StatementBegin
CREATE FUNCTION tenant.oldest_event() RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
	SELECT o.made_at FROM tenant.outbox o WHERE o.relayed_at IS NULL ORDER BY o.id LIMIT 1
$$;
-- +goose StatementEnd

-- save_tokens: a token that could be renewed is no trouble any more.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tenant.save_tokens(p_tenant bigint, p_account bigint, p_owner uuid, p_token bytea, p_refresh bytea, p_expires timestamptz, p_scopes text[]) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	WITH done AS (
		UPDATE tenant.accounts a SET token = p_token, refresh_token = coalesce(p_refresh, a.refresh_token), token_expires = p_expires,
		       scopes = coalesce(p_scopes, a.scopes), refresh_owner = NULL, refresh_until = NULL, last_error = NULL, last_error_at = NULL
		 WHERE a.tenant_id = p_tenant AND a.id = p_account AND a.refresh_owner = p_owner RETURNING 1)
	SELECT EXISTS (SELECT FROM done)
$$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE f regprocedure;
BEGIN
	FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace AND p.proname IN ('limit_network', 'limit_network_of', 'mend_accounts', 'oldest_event', 'save_tokens') LOOP
		EXECUTE format('ALTER FUNCTION %s OWNER TO herald_pipeline', f);
		EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO herald_worker', f);
	END LOOP;
	EXECUTE format('REVOKE herald_pipeline FROM %I', current_user);
END $$;
-- +goose StatementEnd
REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
