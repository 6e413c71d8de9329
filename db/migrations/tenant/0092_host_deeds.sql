-- +goose Up
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- log_host_deed writes the line of what became of a host name, once however often it is
-- told. It says whether there is such a workspace and client, so that the line stands.
-- +goose StatementBegin
CREATE FUNCTION tenant.log_host_deed(p_tenant bigint, p_client bigint, p_deed bigint, p_verb text, p_user bigint, p_name text, p_at timestamptz)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	PERFORM FROM tenant.tenants WHERE tenant_id = p_tenant;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	IF p_client <> 0 THEN
		PERFORM FROM tenant.clients WHERE tenant_id = p_tenant AND id = p_client;
		IF NOT FOUND THEN
			RETURN false;
		END IF;
	END IF;
	INSERT INTO tenant.audit (tenant_id, at, user_id, name, verb, subject, subject_id, client_id, detail)
	SELECT p_tenant, p_at, p_user, p_name, p_verb, CASE p_client WHEN 0 THEN 'workspace' ELSE 'client' END, CASE p_client WHEN 0 THEN p_tenant ELSE p_client END, nullif(p_client, 0), jsonb_build_object('deed', p_deed)
	 WHERE NOT EXISTS (SELECT FROM tenant.audit WHERE tenant_id = p_tenant AND at = p_at AND verb = p_verb AND detail @> jsonb_build_object('deed', p_deed));
	RETURN true;
END $$;
-- +goose StatementEnd
ALTER FUNCTION tenant.log_host_deed(bigint, bigint, bigint, text, bigint, text, timestamptz) OWNER TO herald_pipeline;
REVOKE ALL ON FUNCTION tenant.log_host_deed(bigint, bigint, bigint, text, bigint, text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenant.log_host_deed(bigint, bigint, bigint, text, bigint, text, timestamptz) TO herald_worker;

REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('REVOKE herald_pipeline FROM %I', current_user); END $$;
-- +goose StatementEnd
