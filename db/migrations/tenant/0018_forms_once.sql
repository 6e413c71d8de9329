-- +goose Up

-- The form that a remark came by: the same form again makes no second one.
ALTER TABLE tenant.comments ADD COLUMN form_key text
	CONSTRAINT comments_form_key_shape CHECK (form_key ~ '^[A-Za-z0-9_-]{16,64}$');
CREATE UNIQUE INDEX comments_form_once_user ON tenant.comments (tenant_id, user_id, form_key) WHERE form_key IS NOT NULL AND user_id IS NOT NULL;
CREATE UNIQUE INDEX comments_form_once_approver ON tenant.comments (tenant_id, approver_id, form_key) WHERE form_key IS NOT NULL AND approver_id IS NOT NULL;

-- The form by which somebody asked for a link: again, it mails no second one.
ALTER TABLE tenant.review_links ADD COLUMN form_key text
	CONSTRAINT review_links_form_key_shape CHECK (form_key ~ '^[A-Za-z0-9_-]{16,64}$');
CREATE UNIQUE INDEX review_links_form_once ON tenant.review_links (tenant_id, asked_from, form_key) WHERE form_key IS NOT NULL;
