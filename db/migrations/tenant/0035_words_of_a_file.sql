-- +goose Up

-- A word that most files have is looked for from the files, in the order that they
-- are shown in: the index answers by itself whether a file has it.
DROP INDEX tenant.media_words_by_media;
CREATE INDEX media_words_by_media ON tenant.media_words (tenant_id, media_id, word);
