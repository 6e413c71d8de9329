-- +goose Up

-- The queue slot that a target has taken: its account posts nothing else by the
-- queue then. A target that is given another time, or is over without having been
-- published, leaves its slot to others.
ALTER TABLE tenant.targets ADD COLUMN slot_at timestamptz,
	ADD CONSTRAINT targets_slot_is_its_time CHECK (slot_at IS NULL OR slot_at = due_at);
CREATE UNIQUE INDEX targets_one_per_slot ON tenant.targets (tenant_id, account_id, slot_at)
	WHERE slot_at IS NOT NULL AND state NOT IN ('cancelled', 'failed');

-- +goose StatementBegin
CREATE FUNCTION tenant.leave_slot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.slot_at := NULL;
	RETURN NEW;
END $$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION tenant.leave_slot() FROM PUBLIC;

CREATE TRIGGER targets_leave_slot BEFORE UPDATE ON tenant.targets FOR EACH ROW
	WHEN (OLD.slot_at IS NOT NULL AND NEW.slot_at IS NOT NULL AND NEW.slot_at IS DISTINCT FROM NEW.due_at)
	EXECUTE FUNCTION tenant.leave_slot();
