-- +goose Up

-- Links by which a client connects its own accounts, without a user of ours. A link
-- is for one client, and reaches nothing else.
CREATE TABLE tenant.connect_links (
	tenant_id  bigint NOT NULL,
	id         bigint GENERATED ALWAYS AS IDENTITY,
	client_id  bigint NOT NULL,
	name       text NOT NULL,
	email      text NOT NULL,
	token_hash bytea NOT NULL CONSTRAINT connect_links_token_is_hashed CHECK (octet_length(token_hash) = 32),
	made_by    bigint NOT NULL,
	created_at timestamptz NOT NULL,
	expires_at timestamptz NOT NULL,
	revoked_at timestamptz,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT connect_links_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients
);
CREATE UNIQUE INDEX connect_links_by_token ON tenant.connect_links (tenant_id, token_hash);
CREATE INDEX connect_links_of_clients ON tenant.connect_links (tenant_id, client_id, id) WHERE revoked_at IS NULL;

-- One sign-in of a person at a network: on its way there, then back with what can be
-- connected. It belongs to one browser and one person, works once, and runs out.
CREATE TABLE tenant.consents (
	tenant_id    bigint NOT NULL,
	id           bigint GENERATED ALWAYS AS IDENTITY,
	client_id    bigint NOT NULL,
	account_id   bigint,                                 -- to be connected again; null: new ones
	user_id      bigint,                                 -- whose it is: a member's,
	link_id      bigint,                                 -- or that of whoever holds a link
	network      text NOT NULL,
	way          text NOT NULL DEFAULT '',
	address      text NOT NULL DEFAULT '',
	state_hash   bytea NOT NULL CONSTRAINT consents_state_is_hashed CHECK (octet_length(state_hash) = 32),
	browser_hash bytea NOT NULL CONSTRAINT consents_browser_is_hashed CHECK (octet_length(browser_hash) = 32),
	verifier     bytea NOT NULL,                         -- sealed
	choices      bytea,                                  -- sealed, with their tokens
	created_at   timestamptz NOT NULL,
	expires_at   timestamptz NOT NULL,
	returned_at  timestamptz,                            -- the state was used
	ended_at     timestamptz,                            -- chosen
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT consents_of_somebody CHECK ((user_id IS NULL) <> (link_id IS NULL)),
	CONSTRAINT consents_choose_once_back CHECK (choices IS NULL OR returned_at IS NOT NULL),
	CONSTRAINT consents_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients,
	CONSTRAINT consents_of_account FOREIGN KEY (tenant_id, client_id, account_id) REFERENCES tenant.accounts (tenant_id, client_id, id),
	CONSTRAINT consents_of_link FOREIGN KEY (tenant_id, link_id) REFERENCES tenant.connect_links
);
CREATE UNIQUE INDEX consents_by_state ON tenant.consents (tenant_id, state_hash);
CREATE INDEX consents_by_client ON tenant.consents (tenant_id, client_id, created_at);

-- Our app at one server of a network that is many, as it was registered there.
CREATE TABLE tenant.server_apps (
	tenant_id     bigint NOT NULL,
	network       text NOT NULL,
	address       text NOT NULL,
	app_id        text NOT NULL,
	app_secret    bytea NOT NULL,                        -- sealed
	created_at    timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, network, address)
);

-- An account that a person disconnected is not one that has lost its connection.
ALTER TABLE tenant.accounts ADD COLUMN disconnected_at timestamptz,
	ADD CONSTRAINT accounts_disconnected_without_token CHECK (disconnected_at IS NULL OR token IS NULL AND refresh_token IS NULL AND state <> 'active');

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
	FOREACH t IN ARRAY ARRAY['connect_links', 'consents', 'server_apps'] LOOP
		EXECUTE format('ALTER TABLE tenant.%I ENABLE ROW LEVEL SECURITY', t);
		EXECUTE format('ALTER TABLE tenant.%I FORCE ROW LEVEL SECURITY', t);
		EXECUTE format('CREATE POLICY own_workspace ON tenant.%I TO herald_app USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()))', t);
		EXECUTE format('CREATE POLICY pipeline ON tenant.%I TO herald_pipeline USING (true) WITH CHECK (true)', t);
		EXECUTE format('GRANT SELECT ON tenant.%I TO herald_app, herald_pipeline', t);
		EXECUTE format('GRANT INSERT, UPDATE ON tenant.%I TO herald_app', t);
	END LOOP;
END $$;
-- +goose StatementEnd
GRANT DELETE ON tenant.consents TO herald_app;
