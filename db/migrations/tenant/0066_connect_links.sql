-- +goose Up

-- Which networks a connect link asks for, what was written along, and what became of it.
ALTER TABLE tenant.connect_links
	ADD COLUMN networks  text[] NOT NULL DEFAULT '{}',   -- canonical names
	ADD COLUMN note      text NOT NULL DEFAULT '',
	ADD COLUMN connected integer NOT NULL DEFAULT 0,     -- how often an account was connected by it
	ADD COLUMN ended_at  timestamptz,                    -- its holder said that all is done
	ADD COLUMN asked_at  timestamptz,                    -- its holder asked for a fresh one
	ADD COLUMN form_key  text;                           -- of the form that made it
CREATE UNIQUE INDEX connect_links_by_form ON tenant.connect_links (tenant_id, made_by, form_key);

-- Whoever holds a link is led back to its page, whose address is kept nowhere else.
ALTER TABLE tenant.consents ADD COLUMN door bytea,       -- sealed
	ADD CONSTRAINT consents_door_of_link CHECK (door IS NULL OR link_id IS NOT NULL);

-- A transaction of whoever holds a link sees its client alone, as a reviewer's does.
-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
	FOREACH t IN ARRAY ARRAY['connect_links', 'consents'] LOOP
		EXECUTE format('CREATE POLICY reviewer_own_client ON tenant.%I AS RESTRICTIVE FOR SELECT TO herald_app
			USING ((SELECT tenant.current_reviewer()) IS NULL OR client_id = (SELECT tenant.current_reviewer()))', t);
	END LOOP;
END $$;
-- +goose StatementEnd
