-- +goose Up

-- The password as herald apply last declared it. A later run compares with this
-- and not with what the person signs in with now, so that it changes nothing
-- that was changed since by hand or by a rehash.
ALTER TABLE control.users ADD COLUMN declared_hash text;
