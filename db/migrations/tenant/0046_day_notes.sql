-- +goose Up

-- What a day of the calendar is about, for the agency's eyes: of a client, or of
-- the whole workspace.
CREATE TABLE tenant.day_notes (
	tenant_id  bigint NOT NULL REFERENCES tenant.tenants,
	id         bigint GENERATED ALWAYS AS IDENTITY,
	client_id  bigint,                                   -- null: of the whole workspace
	day        date NOT NULL,
	words      text NOT NULL CONSTRAINT day_notes_words_bounded CHECK (words = btrim(words) AND char_length(words) BETWEEN 1 AND 300),
	name       text NOT NULL,                            -- of who wrote it, as it was then
	created_at timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT day_notes_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients
);
CREATE INDEX day_notes_by_day ON tenant.day_notes (tenant_id, day);

ALTER TABLE tenant.day_notes ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.day_notes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON tenant.day_notes TO herald_app
	USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()));
CREATE POLICY reviewer_none ON tenant.day_notes AS RESTRICTIVE FOR SELECT TO herald_app USING ((SELECT tenant.current_reviewer()) IS NULL);
GRANT SELECT, INSERT, DELETE ON tenant.day_notes TO herald_app;

-- Whose holidays the calendar shows for a client: a country of db/holiday, perhaps
-- with a part of it, as "DE-BY". Empty: nobody's.
ALTER TABLE tenant.clients ADD COLUMN holidays text NOT NULL DEFAULT '' CONSTRAINT clients_holidays_bounded CHECK (char_length(holidays) <= 10);
