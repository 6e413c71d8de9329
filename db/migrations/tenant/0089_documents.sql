-- +goose Up

-- A PDF is a file like a picture or a video; media.frames counts its pages.
ALTER TABLE tenant.media DROP CONSTRAINT media_kind_check,
	ADD CONSTRAINT media_kind_known CHECK (kind IN ('image', 'video', 'document'));
