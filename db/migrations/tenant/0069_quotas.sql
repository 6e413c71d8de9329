-- +goose Up

-- What went out lately, for the count of a network's quota when Redis has lost it.

-- Quotas of the operator's app are counted over everybody; the networks are those
-- whose catalogue entry has one (network.Rate.App).
CREATE INDEX targets_counted ON tenant.targets (network, published_at) WHERE network IN ('x', 'youtube') AND published_at IS NOT NULL;

-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- sent_by_account: which targets of an account went out since a time, and when. What
-- goes out is never later than a day after it was due, but for the late ones of an
-- operator who lets them be later still.
-- sent_by_app: the same of all accounts of a network that are reached by its own API,
-- the latest first and no more than asked for.
-- +goose StatementBegin
CREATE FUNCTION tenant.sent_by_account(p_tenant bigint, p_account bigint, p_since timestamptz) RETURNS TABLE (tenant_id bigint, target_id bigint, published_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
	SELECT t.tenant_id, t.id, t.published_at FROM tenant.targets t
	 WHERE t.tenant_id = p_tenant AND t.account_id = p_account AND t.due_at > p_since - interval '2 days' AND t.published_at > p_since
$$;
CREATE FUNCTION tenant.sent_by_app(p_network text, p_since timestamptz, p_most integer) RETURNS TABLE (tenant_id bigint, target_id bigint, published_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
	SELECT t.tenant_id, t.id, t.published_at FROM tenant.targets t
	  JOIN tenant.accounts a ON a.tenant_id = t.tenant_id AND a.id = t.account_id AND a.publisher = 'direct'
	 WHERE t.network = p_network AND t.network IN ('x', 'youtube') AND t.published_at > p_since ORDER BY t.published_at DESC LIMIT p_most
$$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE f regprocedure;
BEGIN
	FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace AND p.proname IN ('sent_by_account', 'sent_by_app') LOOP
		EXECUTE format('ALTER FUNCTION %s OWNER TO herald_pipeline', f);
		EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO herald_worker', f);
	END LOOP;
	EXECUTE format('REVOKE herald_pipeline FROM %I', current_user);
END $$;
-- +goose StatementEnd
REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
