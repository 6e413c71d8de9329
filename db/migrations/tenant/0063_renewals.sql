-- +goose Up

-- Connections are renewed ahead of their end, and sign-ins that lead nowhere keep no
-- secrets.
ALTER TABLE tenant.accounts ADD COLUMN refresh_expires timestamptz,       -- of the refresh token; null: not known
	ADD COLUMN renew_at timestamptz,                                       -- when it is next; null: there is nothing to be gained
	ADD COLUMN renew_failures smallint NOT NULL DEFAULT 0;                 -- since it last succeeded
CREATE INDEX accounts_renewed ON tenant.accounts (renew_at) WHERE state = 'active' AND refresh_token IS NOT NULL AND renew_at IS NOT NULL;

CREATE INDEX consents_unchosen ON tenant.consents (expires_at) WHERE ended_at IS NULL;
GRANT DELETE ON tenant.consents TO herald_pipeline;

-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- take_renewals hands out accounts whose renewal is due, whoever's they are, each to
-- its caller alone until p_until: the same lease as lease_refresh gives. What is held
-- back, paused or suspended keeps its connections; a client that was put away does not.
-- +goose StatementBegin
CREATE FUNCTION tenant.take_renewals(p_owner uuid, p_now timestamptz, p_until timestamptz, p_limit integer)
RETURNS TABLE (tenant_id bigint, id bigint, network text, publisher text, handle text, remote_id text, address text, settings jsonb, scopes text[],
	token bytea, refresh_token bytea, token_expires timestamptz, refresh_expires timestamptz, failures smallint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY
	WITH due AS (
		SELECT a.tenant_id, a.id, c.archived_at IS NOT NULL AS rests
		  FROM tenant.accounts a JOIN tenant.clients c ON c.tenant_id = a.tenant_id AND c.id = a.client_id
		 WHERE a.state = 'active' AND a.refresh_token IS NOT NULL AND a.renew_at <= p_now AND (a.refresh_until IS NULL OR a.refresh_until <= p_now)
		 ORDER BY a.renew_at LIMIT p_limit FOR NO KEY UPDATE OF a SKIP LOCKED
	), resting AS (
		UPDATE tenant.accounts a SET renew_at = NULL FROM due WHERE due.rests AND a.tenant_id = due.tenant_id AND a.id = due.id
	)
	UPDATE tenant.accounts a SET refresh_owner = p_owner, refresh_until = p_until
	  FROM due WHERE NOT due.rests AND a.tenant_id = due.tenant_id AND a.id = due.id
	RETURNING a.tenant_id, a.id, a.network, a.publisher, a.handle, a.remote_id, a.address, a.settings, a.scopes,
	          a.token, a.refresh_token, a.token_expires, a.refresh_expires, a.renew_failures;
END $$;
-- put_off_renewal gives the lease back after a failure that says nothing about the
-- connection. It stands with the account once its end is within p_soon.
CREATE FUNCTION tenant.put_off_renewal(p_tenant bigint, p_account bigint, p_owner uuid, p_at timestamptz, p_say text, p_now timestamptz, p_soon interval) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	UPDATE tenant.accounts a SET refresh_owner = NULL, refresh_until = NULL, renew_at = p_at, renew_failures = least(a.renew_failures + 1, 1000),
	       last_error = CASE WHEN a.token_expires < p_now + p_soon AND a.refresh_expires < p_now + p_soon THEN p_say ELSE a.last_error END,
	       last_error_at = CASE WHEN a.token_expires < p_now + p_soon AND a.refresh_expires < p_now + p_soon THEN p_now ELSE a.last_error_at END
	 WHERE a.tenant_id = p_tenant AND a.id = p_account AND a.refresh_owner = p_owner
$$;
-- +goose StatementEnd

-- lease_refresh and save_tokens as in 0003 and 0009, with what is known of the refresh
-- token. Who does not say when to renew next leaves it to the post that needs it.
DROP FUNCTION tenant.lease_refresh(bigint, bigint, uuid, interval, timestamptz, timestamptz);
DROP FUNCTION tenant.save_tokens(bigint, bigint, uuid, bytea, bytea, timestamptz, text[]);
-- +goose StatementBegin
CREATE FUNCTION tenant.lease_refresh(p_tenant bigint, p_account bigint, p_owner uuid, p_ahead interval, p_now timestamptz, p_until timestamptz)
RETURNS TABLE (network text, publisher text, handle text, remote_id text, address text, settings jsonb, scopes text[],
	token bytea, refresh_token bytea, token_expires timestamptz, refresh_expires timestamptz)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	UPDATE tenant.accounts a SET refresh_owner = p_owner, refresh_until = p_until
	 WHERE a.tenant_id = p_tenant AND a.id = p_account AND a.state = 'active' AND a.refresh_token IS NOT NULL
	   AND a.token_expires < p_now + p_ahead
	   AND (a.refresh_until IS NULL OR a.refresh_until <= p_now)
	RETURNING a.network, a.publisher, a.handle, a.remote_id, a.address, a.settings, a.scopes, a.token, a.refresh_token, a.token_expires, a.refresh_expires
$$;
CREATE FUNCTION tenant.save_tokens(p_tenant bigint, p_account bigint, p_owner uuid, p_token bytea, p_refresh bytea, p_expires timestamptz, p_scopes text[],
	p_refresh_expires timestamptz DEFAULT NULL, p_renew_at timestamptz DEFAULT NULL) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
	WITH done AS (
		UPDATE tenant.accounts a SET token = p_token, refresh_token = coalesce(p_refresh, a.refresh_token), token_expires = p_expires, refresh_expires = p_refresh_expires,
		       scopes = coalesce(p_scopes, a.scopes), refresh_owner = NULL, refresh_until = NULL, renew_at = p_renew_at, renew_failures = 0, last_error = NULL, last_error_at = NULL
		 WHERE a.tenant_id = p_tenant AND a.id = p_account AND a.refresh_owner = p_owner RETURNING 1)
	SELECT EXISTS (SELECT FROM done)
$$;
-- +goose StatementEnd

-- sweep_consents deletes sign-ins that have run out and led nowhere, with what they kept
-- sealed. They stay for an hour at least: so long they are counted.
-- +goose StatementBegin
CREATE FUNCTION tenant.sweep_consents(p_now timestamptz, p_limit integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
	n integer;
BEGIN
	DELETE FROM tenant.consents c USING (
		SELECT o.tenant_id, o.id FROM tenant.consents o WHERE o.ended_at IS NULL AND o.expires_at <= p_now AND o.created_at <= p_now - interval '1 hour'
		 ORDER BY o.expires_at LIMIT p_limit) old
	 WHERE c.tenant_id = old.tenant_id AND c.id = old.id;
	GET DIAGNOSTICS n = ROW_COUNT;
	RETURN n;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE f regprocedure;
BEGIN
	FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace
	          AND p.proname IN ('take_renewals', 'put_off_renewal', 'lease_refresh', 'save_tokens', 'sweep_consents') LOOP
		EXECUTE format('ALTER FUNCTION %s OWNER TO herald_pipeline', f);
		EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO herald_worker', f);
	END LOOP;
END $$;
-- +goose StatementEnd

-- Accounts of today: those whose token lasts long, or renews itself, twenty days before
-- it ends, which is more than a day after it was made; the others over the next day.
-- Each renewal then says when the next is due.
SET ROLE herald_pipeline;
UPDATE tenant.accounts
   SET renew_at = CASE WHEN network IN ('instagram', 'threads') OR token_expires > now() + interval '7 days' THEN token_expires - interval '20 days' ELSE now() + random() * interval '1 day' END,
       refresh_expires = CASE WHEN network IN ('instagram', 'threads') THEN token_expires END
 WHERE refresh_token IS NOT NULL AND token_expires IS NOT NULL AND publisher = 'direct'
   AND network IN ('bluesky', 'google_business', 'instagram', 'linkedin', 'pinterest', 'threads', 'tiktok', 'x', 'youtube');
RESET ROLE;

REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('REVOKE herald_pipeline FROM %I', current_user); END $$;
-- +goose StatementEnd
