-- +goose Up

-- Taking a deleted video out of the store is the work of a moment: it does not stand
-- behind conversions that take hours. Until its bytes are gone an address that the
-- store signed before leads to them.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tenant.media_task_kind() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	NEW.video := EXISTS (SELECT FROM tenant.media m WHERE m.tenant_id = NEW.tenant_id AND m.id = NEW.media_id AND m.kind = 'video' AND m.state <> 'deleted');
	RETURN NEW;
END $$;
-- +goose StatementEnd
