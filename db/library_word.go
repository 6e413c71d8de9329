package db

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
)

// fewFiles is up to how many files a word is rare. Those are read and then sorted;
// for a word that more have, the library is read in its order until the page is
// full. Neither costs what the library holds.
const fewFiles = 500

// wordSpan are the words from one to before another, which a search or a tag means.
type wordSpan struct {
	from, before string
	common       bool // more than fewFiles have one of them
}

// wordSpans are those of a filter. A search finds how a word begins; a tag is whole,
// so the next text there could be ends it.
func wordSpans(f LibraryFilter) (list []wordSpan) {
	words := searchWords(f.Words)
	for _, w := range words[:min(len(words), 10)] {
		list = append(list, wordSpan{from: w, before: w + "\U0010FFFF"})
	}
	for _, t := range tidyTags(f.Tags) {
		list = append(list, wordSpan{from: tagMark + t, before: tagMark + t + "\x01"})
	}
	return list
}

const sqlWordsCommon = `
	SELECT (SELECT count(*) > $4 FROM (SELECT FROM tenant.media_words w WHERE w.tenant_id = $1 AND w.word >= s.from_word AND w.word < s.before LIMIT $4 + 1) few)
	  FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS s(from_word, before, n) ORDER BY s.n`

// weighWords finds out which words are common.
func (sc *Scope) weighWords(ctx context.Context, tx pgx.Tx, list []wordSpan) error {
	if len(list) == 0 {
		return nil
	}
	var from, before []string
	for _, s := range list {
		from, before = append(from, s.from), append(before, s.before)
	}
	rows, err := tx.Query(ctx, sqlWordsCommon, sc.Actor.Tenant, from, before, fewFiles)
	if err != nil {
		return err
	}
	common, err := pgx.CollectRows(rows, pgx.RowTo[bool])
	for i := range common {
		list[i].common = common[i]
	}
	return err
}

// says asks for what files are called.
func (q *libraryQuery) says(f LibraryFilter, spans []wordSpan) {
	if f.NoAlt {
		q.and("m.alt = '' AND m.kind <> 'document'")
	}
	for _, s := range spans {
		if s.common {
			q.and("(SELECT true FROM tenant.media_words w WHERE w.tenant_id = m.tenant_id AND w.media_id = m.id AND w.word >= %s AND w.word < %s LIMIT 1)", s.from, s.before)
		} else {
			q.and("m.id IN (SELECT w.media_id FROM tenant.media_words w WHERE w.tenant_id = $1 AND w.word >= %s AND w.word < %s)", s.from, s.before)
		}
	}
	if len(searchWords(f.Words)) == 0 && strings.TrimSpace(f.Words) != "" {
		q.and("false") // nothing but signs, of which no name is made
	}
}
