-- +goose Up

-- An owner or admin who is not among a stage's people may decide it all the
-- same; the decision says so.
ALTER TABLE tenant.decisions ADD COLUMN override boolean NOT NULL DEFAULT false,
	ADD CONSTRAINT decisions_override_by_user CHECK (NOT override OR user_id IS NOT NULL);

-- The link from which its reader asked for this one; null if a request made it.
ALTER TABLE tenant.review_links ADD COLUMN asked_from bigint,
	ADD CONSTRAINT review_links_asked_from FOREIGN KEY (tenant_id, asked_from) REFERENCES tenant.review_links;
CREATE INDEX review_links_by_approver ON tenant.review_links (tenant_id, approver_id, created_at);

CREATE INDEX approval_requests_closed ON tenant.approval_requests (tenant_id, closed_at DESC) WHERE state IN ('changes_requested', 'rejected');

-- The client whose approver this transaction reads for; null for people of the
-- workspace. While it is set, nothing of another client and no internal comment
-- can be read, whatever a query asks for.
CREATE FUNCTION tenant.current_reviewer() RETURNS bigint
	LANGUAGE sql STABLE PARALLEL SAFE
	RETURN nullif(current_setting('herald.reviewer', true), '')::bigint;
GRANT EXECUTE ON FUNCTION tenant.current_reviewer TO herald_app, herald_pipeline, herald_worker;

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
	FOREACH t IN ARRAY ARRAY['targets', 'accounts', 'approvers', 'approval_requests', 'comments'] LOOP
		EXECUTE format('CREATE POLICY reviewer_own_client ON tenant.%I AS RESTRICTIVE FOR SELECT TO herald_app
			USING ((SELECT tenant.current_reviewer()) IS NULL OR client_id = (SELECT tenant.current_reviewer()))', t);
	END LOOP;
END $$;
-- +goose StatementEnd
CREATE POLICY reviewer_own_client ON tenant.clients AS RESTRICTIVE FOR SELECT TO herald_app
	USING ((SELECT tenant.current_reviewer()) IS NULL OR id = (SELECT tenant.current_reviewer()));
CREATE POLICY reviewer_nothing_internal ON tenant.comments AS RESTRICTIVE FOR SELECT TO herald_app
	USING ((SELECT tenant.current_reviewer()) IS NULL OR visibility = 'client');
