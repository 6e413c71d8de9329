-- +goose Up

-- A hold stops an approved post of a client from going out until it is let go: for
-- somebody who has to stop it now and decide later. It is of one client, so that a
-- client's approver reaches nothing of another's.
CREATE TABLE tenant.post_holds (
	tenant_id      bigint NOT NULL,
	id             bigint GENERATED ALWAYS AS IDENTITY,
	post_id        bigint NOT NULL,
	client_id      bigint NOT NULL,
	user_id        bigint,
	approver_id    bigint,
	name           text NOT NULL,                        -- as it was then
	why            text NOT NULL DEFAULT '',
	at             timestamptz NOT NULL,
	ended_at       timestamptz,
	ended_user     bigint,
	ended_approver bigint,
	ended_name     text NOT NULL DEFAULT '',
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT post_holds_by_one CHECK (num_nonnulls(user_id, approver_id) = 1),
	CONSTRAINT post_holds_ended_by_one CHECK (num_nonnulls(ended_user, ended_approver) = (ended_at IS NOT NULL)::int),
	CONSTRAINT post_holds_of_post FOREIGN KEY (tenant_id, post_id) REFERENCES tenant.posts,
	CONSTRAINT post_holds_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients,
	CONSTRAINT post_holds_approver FOREIGN KEY (tenant_id, approver_id) REFERENCES tenant.approvers,
	CONSTRAINT post_holds_ended_approver FOREIGN KEY (tenant_id, ended_approver) REFERENCES tenant.approvers
);
CREATE UNIQUE INDEX post_holds_one_open ON tenant.post_holds (tenant_id, post_id, client_id) WHERE ended_at IS NULL;
CREATE INDEX post_holds_by_post ON tenant.post_holds (tenant_id, post_id, id);

ALTER TABLE tenant.post_holds ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.post_holds FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.post_holds TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
CREATE POLICY pipeline ON tenant.post_holds TO herald_pipeline USING (true) WITH CHECK (true);
CREATE POLICY reviewer_own_client ON tenant.post_holds AS RESTRICTIVE FOR SELECT TO herald_app
	USING ((SELECT tenant.current_reviewer()) IS NULL OR client_id = (SELECT tenant.current_reviewer()));
GRANT SELECT ON tenant.post_holds TO herald_app, herald_pipeline;
GRANT INSERT, UPDATE ON tenant.post_holds TO herald_app;

-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT herald_pipeline TO %I', current_user); END $$;
-- +goose StatementEnd
GRANT CREATE ON SCHEMA tenant TO herald_pipeline;

-- claim_targets as it is, but for one guard. A hold takes the post's lock, as the claim
-- does before it looks: whichever has it first is whole when the other looks, so that a
-- hold counts until the very claim, and who ends one sees all that it held. What is held
-- past the client's late cut-off is given up at that instant, and says so.
-- +goose StatementBegin
DO $patch$
DECLARE
	have text;
	want text;
	guard text := $new$		         -- somebody holds the post
		         WHEN w.held AND w.due_at + w.late_cutoff < p_now THEN 'refused:held_too_long'
		         WHEN w.held THEN 'postponed:held'
$new$;
	again text := $new$
	         WHEN 'held' THEN least(p_now + 60 * p_hold, greatest(p_now + p_hold, j.due_at + j.late_cutoff + interval '1 millisecond'))
$new$;
	held text := $new$u.used, ar.spent_to, q.silent_until,
			       EXISTS (SELECT FROM tenant.post_holds h WHERE h.tenant_id = t.tenant_id AND h.post_id = t.post_id AND h.client_id = t.client_id AND h.ended_at IS NULL) AS held
$new$;
BEGIN
	SELECT pg_get_functiondef(p.oid) INTO STRICT have FROM pg_proc p WHERE p.pronamespace = 'tenant'::regnamespace AND p.proname = 'claim_targets';
	want := replace(have, E'\t\t         -- the client wants silence, declared perhaps after this was planned\n', guard || E'\t\t         -- the client wants silence, declared perhaps after this was planned\n');
	want := replace(want, E'\n\t         WHEN ''blackout'' THEN j.silent_until\n', again || E'\t         WHEN ''blackout'' THEN j.silent_until\n');
	want := replace(want, E'u.used, ar.spent_to, q.silent_until\n', held);
	IF position(guard IN want) = 0 OR position(again IN want) = 0 OR position(held IN want) = 0 THEN
		RAISE EXCEPTION 'claim_targets is not as 0076 knows it';
	END IF;
	EXECUTE want;
END $patch$;
-- +goose StatementEnd

REVOKE CREATE ON SCHEMA tenant FROM herald_pipeline;
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('REVOKE herald_pipeline FROM %I', current_user); END $$;
-- +goose StatementEnd
