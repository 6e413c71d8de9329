-- +goose Up

-- Every table has a key that leads with the workspace.
ALTER TABLE tenant.stage_people ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY, ADD PRIMARY KEY (tenant_id, id);

-- The list of migrations was among "all tables" when rights to insert were given.
REVOKE INSERT ON tenant.schema_versions FROM herald_app, herald_pipeline;

-- The owner of the tables needed the pipeline's role to hand functions over to
-- it. A member of that role is under its policies, which let in every workspace,
-- so the membership ends here: a migration that makes such a function takes it for
-- as long as it runs. Forced row-level security then shows the owner nothing.
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('REVOKE herald_pipeline FROM %I', current_user); END $$;
-- +goose StatementEnd
