-- +goose Up

-- What a client's workflow does beside asking: it schedules what was planned once
-- the last approval is in, reminds who is asked, and tells others when that helps
-- nothing. Null means not at all.
ALTER TABLE tenant.clients
	ADD COLUMN auto_schedule  boolean NOT NULL DEFAULT false,
	ADD COLUMN remind_after   interval CONSTRAINT clients_remind_after_an_hour CHECK (remind_after BETWEEN interval '1 hour' AND interval '90 days'),
	ADD COLUMN remind_every   interval CONSTRAINT clients_remind_every_hour CHECK (remind_every BETWEEN interval '1 hour' AND interval '90 days'),
	ADD COLUMN escalate_after interval CONSTRAINT clients_escalate_after_an_hour CHECK (escalate_after BETWEEN interval '1 hour' AND interval '90 days'),
	ADD CONSTRAINT clients_remind_again_after_once CHECK (remind_every IS NULL OR remind_after IS NOT NULL);

-- Members who are told when nobody decides.
CREATE TABLE tenant.escalation_people (
	tenant_id bigint NOT NULL,
	client_id bigint NOT NULL,
	user_id   bigint NOT NULL,
	PRIMARY KEY (tenant_id, client_id, user_id),
	CONSTRAINT escalation_people_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients
);

ALTER TABLE tenant.escalation_people ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.escalation_people FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.escalation_people TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
CREATE POLICY pipeline ON tenant.escalation_people TO herald_pipeline USING (true) WITH CHECK (true);
GRANT SELECT ON tenant.escalation_people TO herald_app, herald_pipeline;
GRANT INSERT, DELETE ON tenant.escalation_people TO herald_app;
