-- +goose Up

-- What posts are found again by: labels, any number to a post, and campaigns, of
-- which a post has at most one. Neither reaches a network.
CREATE TABLE tenant.labels (
	tenant_id  bigint NOT NULL REFERENCES tenant.tenants,
	id         bigint GENERATED ALWAYS AS IDENTITY,
	client_id  bigint,                                   -- null: of the whole workspace
	kind       text NOT NULL CONSTRAINT labels_kind_known CHECK (kind IN ('label', 'campaign')),
	name       text NOT NULL CONSTRAINT labels_name_bounded CHECK (name = btrim(name) AND char_length(name) BETWEEN 1 AND 60),
	tint       smallint NOT NULL CONSTRAINT labels_tint_known CHECK (tint BETWEEN 0 AND 7), -- a colour of the style sheet
	created_at timestamptz NOT NULL,
	PRIMARY KEY (tenant_id, id),
	CONSTRAINT labels_kind_of UNIQUE (tenant_id, id, kind),
	CONSTRAINT labels_of_client FOREIGN KEY (tenant_id, client_id) REFERENCES tenant.clients
);
CREATE UNIQUE INDEX labels_name_once ON tenant.labels (tenant_id, kind, coalesce(client_id, 0), lower(name));

CREATE TABLE tenant.post_labels (
	tenant_id bigint NOT NULL,
	post_id   bigint NOT NULL,
	label_id  bigint NOT NULL,
	kind      text NOT NULL,
	PRIMARY KEY (tenant_id, post_id, label_id),
	CONSTRAINT post_labels_post FOREIGN KEY (tenant_id, post_id) REFERENCES tenant.posts,
	CONSTRAINT post_labels_label FOREIGN KEY (tenant_id, label_id, kind) REFERENCES tenant.labels (tenant_id, id, kind) ON DELETE CASCADE
);
CREATE UNIQUE INDEX post_labels_one_campaign ON tenant.post_labels (tenant_id, post_id) WHERE kind = 'campaign';
CREATE INDEX post_labels_by_label ON tenant.post_labels (tenant_id, label_id, post_id);

-- Words that were typed as labels become labels of the workspace. For this the
-- owner of the tables has to see the rows.
ALTER TABLE tenant.posts NO FORCE ROW LEVEL SECURITY;
INSERT INTO tenant.labels (tenant_id, kind, name, tint, created_at)
SELECT tenant_id, 'label', min(name), (row_number() OVER (PARTITION BY tenant_id ORDER BY lower(name)) - 1) % 8, now()
  FROM (SELECT tenant_id, btrim(left(btrim(l), 60)) AS name FROM tenant.posts, unnest(labels) l) n WHERE name <> '' GROUP BY tenant_id, lower(name);
INSERT INTO tenant.post_labels (tenant_id, post_id, label_id, kind)
SELECT DISTINCT p.tenant_id, p.id, l.id, l.kind
  FROM tenant.posts p, unnest(p.labels) w JOIN tenant.labels l ON lower(l.name) = lower(btrim(left(btrim(w), 60))) WHERE l.tenant_id = p.tenant_id;
ALTER TABLE tenant.posts FORCE ROW LEVEL SECURITY;
ALTER TABLE tenant.posts DROP COLUMN labels;

-- How a person last looked at the calendar: the query of its address.
CREATE TABLE tenant.calendar_looks (
	tenant_id bigint NOT NULL REFERENCES tenant.tenants,
	user_id   bigint NOT NULL,
	query     text NOT NULL CONSTRAINT calendar_looks_bounded CHECK (char_length(query) <= 4000),
	PRIMARY KEY (tenant_id, user_id)
);

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
	FOREACH t IN ARRAY ARRAY['labels', 'post_labels', 'calendar_looks'] LOOP
		EXECUTE format('ALTER TABLE tenant.%I ENABLE ROW LEVEL SECURITY', t);
		EXECUTE format('ALTER TABLE tenant.%I FORCE ROW LEVEL SECURITY', t);
		EXECUTE format('CREATE POLICY own_workspace ON tenant.%I TO herald_app USING (tenant_id = (SELECT tenant.current_tenant())) WITH CHECK (tenant_id = (SELECT tenant.current_tenant()))', t);
	END LOOP;
END $$;
-- +goose StatementEnd
-- They are the agency's own: who comes by a review link reads none.
CREATE POLICY reviewer_none ON tenant.labels AS RESTRICTIVE FOR SELECT TO herald_app USING ((SELECT tenant.current_reviewer()) IS NULL);
CREATE POLICY reviewer_none ON tenant.post_labels AS RESTRICTIVE FOR SELECT TO herald_app USING ((SELECT tenant.current_reviewer()) IS NULL);
GRANT SELECT, INSERT, UPDATE, DELETE ON tenant.labels TO herald_app;
GRANT SELECT, INSERT, DELETE ON tenant.post_labels TO herald_app;
GRANT SELECT, INSERT, UPDATE ON tenant.calendar_looks TO herald_app;
