package db

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/unicode/norm"

	"herald/db/model"
)

// The search of the library is an index of its own, tenant by tenant: Postgres
// has trigrams only where an extension was installed, and its text search keeps
// no index that leads with the workspace.

const (
	maxIndexed  = 200 // of one asset
	maxWordSize = 40
	tagMark     = "#" // stands before a whole tag; no word begins with it
)

const sqlWordsOf = `SELECT name, alt, tags FROM tenant.media WHERE tenant_id = $1 AND id = ANY ($2) ORDER BY id`

const sqlWordsDrop = `DELETE FROM tenant.media_words WHERE tenant_id = $1 AND media_id = ANY ($2)`

const sqlWordsAdd = `
	INSERT INTO tenant.media_words (tenant_id, word, media_id) SELECT $1, word, media_id FROM unnest($2::text[], $3::bigint[]) AS w(word, media_id)
	ON CONFLICT DO NOTHING`

// indexWords makes assets findable by what they are called now.
func (sc *Scope) indexWords(ctx context.Context, tx pgx.Tx, ids ...model.MediaID) error {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	rows, err := tx.Query(ctx, sqlWordsOf, sc.Actor.Tenant, ids)
	if err != nil {
		return err
	}
	var words []string
	var of []model.MediaID
	var name, alt string
	var tags []string
	i := 0
	_, err = pgx.ForEachRow(rows, []any{&name, &alt, &tags}, func() error {
		for _, w := range assetWords(name, alt, tags) {
			words, of = append(words, w), append(of, ids[i])
		}
		i++
		tags = nil
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlWordsDrop, sc.Actor.Tenant, ids); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, sqlWordsAdd, sc.Actor.Tenant, words, of)
	return err
}

// assetWords are the words that find an asset.
func assetWords(name, alt string, tags []string) []string {
	list := searchWords(name + " " + strings.Join(tags, " ") + " " + alt)
	list = list[:min(len(list), maxIndexed)]
	for _, t := range tags {
		list = append(list, tagMark+t)
	}
	return list
}

// searchWords splits text as the index does: letters and digits in lower case,
// each word once. Writing that puts no spaces between words (Chinese, Japanese,
// Thai) is found from each of its letters on.
func searchWords(text string) (list []string) {
	split := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }
	for _, w := range strings.FieldsFunc(strings.ToLower(norm.NFKC.String(text)), split) {
		runes := []rune(w)
		for from := range runes {
			if from > 0 && !unspaced(runes[from]) {
				continue
			}
			if word := string(runes[from:min(len(runes), from+maxWordSize)]); !slices.Contains(list, word) {
				list = append(list, word)
			}
		}
	}
	return list
}

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
