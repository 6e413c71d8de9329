-- +goose Up

-- What is sent by an aggregator is prepared in another way than by the network
-- itself, so no format of it goes straight into flight; and whoever publishes has to
-- know by which route an account is reached.

-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- claim_targets as it is, but for one condition.
-- +goose StatementBegin
DO $$
DECLARE
	have text;
	want text;
BEGIN
	SELECT pg_get_functiondef(p.oid) INTO STRICT have FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace AND p.proname = 'claim_targets';
	want := replace(have, '= ANY (p_straight) AS straight', '= ANY (p_straight) AND ac.publisher = ''direct'' AS straight');
	IF want = have THEN RAISE EXCEPTION 'claim_targets is not as 0029 knows it'; END IF;
	EXECUTE want;
END $$;
-- +goose StatementEnd

-- publisher_of is the route of an account.
-- +goose StatementBegin
CREATE FUNCTION tenant.publisher_of(p_tenant bigint, p_account bigint) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT a.publisher FROM tenant.accounts a WHERE a.tenant_id = p_tenant AND a.id = p_account
$$;
-- +goose StatementEnd
ALTER FUNCTION tenant.publisher_of(bigint, bigint) OWNER TO herald_pipeline;
REVOKE ALL ON FUNCTION tenant.publisher_of(bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenant.publisher_of(bigint, bigint) TO herald_worker;

REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('REVOKE herald_pipeline FROM %I', current_user); END $$;
-- +goose StatementEnd
