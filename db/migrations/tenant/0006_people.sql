-- +goose Up

-- A sealed fingerprint of the tokens as herald apply last declared them. Tokens
-- renew themselves; a second run must not put the old ones back.
ALTER TABLE tenant.accounts ADD COLUMN declared bytea;

-- The activity page, filtered by client or by person.
CREATE INDEX audit_by_client ON tenant.audit (tenant_id, client_id, id DESC);
CREATE INDEX audit_by_user ON tenant.audit (tenant_id, user_id, id DESC);

-- The targets that a lost connection holds up, by account.
CREATE INDEX targets_need_reconnect ON tenant.targets (tenant_id, account_id) WHERE state = 'needs_reconnect';
