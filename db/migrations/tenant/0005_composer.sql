-- +goose Up

-- A form that makes a post carries a key of its own, so that sending it twice
-- makes one post.
ALTER TABLE tenant.posts ADD COLUMN form_key text
	CONSTRAINT posts_form_key_shape CHECK (form_key ~ '^[A-Za-z0-9_-]{16,64}$');
CREATE UNIQUE INDEX posts_form_key_once ON tenant.posts (tenant_id, created_by, form_key) WHERE form_key IS NOT NULL;

-- How much somebody uploaded lately is asked before each upload.
CREATE INDEX media_by_uploader ON tenant.media (tenant_id, created_by, created_at) WHERE created_by IS NOT NULL;
