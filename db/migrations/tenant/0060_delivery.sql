-- +goose Up

-- How long approvals took is counted by when they were given.
CREATE INDEX approval_requests_approved ON tenant.approval_requests (tenant_id, closed_at) WHERE state = 'approved';
