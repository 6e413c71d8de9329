-- +goose Up

-- Plans are cached, and one made while a table is empty takes any index that
-- begins with the workspace for a look-up by key. Autovacuum looks once a minute;
-- ten thousand posts can come and be due within it. So whoever moves many rows
-- asks for new statistics of every table that has grown fourfold since its last.
-- ANALYZE makes all sessions plan anew. It is the owner's to do, hence SECURITY
-- DEFINER; it reads samples and tells nobody.
-- +goose StatementBegin
CREATE FUNCTION tenant.analyze_grown() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	grown regclass;
	n integer := 0;
BEGIN
	-- one caller at a time; the others need not wait for it
	IF NOT pg_try_advisory_xact_lock(hashtext('tenant.analyze_grown')) THEN RETURN 0; END IF;
	FOR grown IN
		SELECT c.oid FROM pg_class c
		 WHERE c.relnamespace = 'tenant'::regnamespace AND c.relkind = 'r'
		   AND pg_relation_size(c.oid) >= 8 * current_setting('block_size')::int AND pg_relation_size(c.oid) >= 4 * c.relpages::bigint * current_setting('block_size')::int
	LOOP
		EXECUTE format('ANALYZE %s', grown);
		n := n + 1;
	END LOOP;
	RETURN n;
END $$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION tenant.analyze_grown FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenant.analyze_grown TO herald_worker;
