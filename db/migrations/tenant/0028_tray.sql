-- +goose Up

-- What has no time yet is few among much that is over.
CREATE INDEX targets_without_time ON tenant.targets (tenant_id, post_id) WHERE due_at IS NULL AND state IN ('draft', 'invalid', 'ready');
