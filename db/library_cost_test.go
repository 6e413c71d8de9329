package db_test

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// TestAPageOfTheLibraryCostsAPage fills a library with 10,000 files and counts the
// blocks that each way to look at it touches, and the rows that go from step to step
// of its plan. A block of 8 KB holds some 20 files; all of them, with their words,
// have about 3,000.
func TestAPageOfTheLibraryCostsAPage(t *testing.T) {
	t.Parallel()
	w := dbtest.Untouched(t)
	rec := &recorder{}
	o := w.Options()
	o.Tracer = rec
	store, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	a := w.Agency(t, "north", db.MainShard)
	client := a.Client(t, "acme")
	fillLibrary(t, w, a, client)
	sc, err := store.Enter(t.Context(), a.Owner.Actor.User, a.Slug)
	if err != nil {
		t.Fatal(err)
	}
	page, err := sc.Library(t.Context(), db.LibraryFilter{Client: client, Limit: 60})
	if err != nil || page.Next == "" || len(page.Assets) != 60 {
		t.Fatalf("%d assets, %v", len(page.Assets), err)
	}
	for _, c := range []struct {
		what string
		f    db.LibraryFilter
		most int
		rows int
	}{
		{"the newest of all", db.LibraryFilter{}, 200, 5_000},
		{"the newest of a client", db.LibraryFilter{Client: client}, 200, 5_000},
		{"the next page", db.LibraryFilter{Client: client, After: page.Next}, 200, 5_000},
		{"by name", db.LibraryFilter{Client: client, Order: db.ByName}, 300, 5_000},
		{"pictures", db.LibraryFilter{Client: client, Kind: network.Image}, 300, 5_000},
		{"a rare word", db.LibraryFilter{Client: client, Words: "only77"}, 700, 10_000},
		{"a word of half of them", db.LibraryFilter{Client: client, Words: "even"}, 1500, 10_000},
		{"a word of all", db.LibraryFilter{Client: client, Words: "img"}, 700, 10_000},
		{"a word of all, by name", db.LibraryFilter{Client: client, Words: "img", Order: db.ByName}, 800, 10_000},
		{"a word of all, next page", db.LibraryFilter{Client: client, Words: "img", After: page.Next}, 700, 10_000},
		{"a word of all and a rare one", db.LibraryFilter{Client: client, Words: "img only77"}, 1500, 10_000},
		{"a tag of each tenth", db.LibraryFilter{Client: client, Tags: []string{"tenth"}}, 4000, 15_000},
		{"a tag of half of them", db.LibraryFilter{Client: client, Tags: []string{"half"}}, 1500, 10_000},
		{"used", db.LibraryFilter{Client: client, Use: db.Used}, 3000, 5_000},
		{"unused", db.LibraryFilter{Client: client, Use: db.Unused}, 1500, 5_000},
	} {
		c.f.Limit = 60
		rec.take()
		got, err := sc.Library(t.Context(), c.f)
		if err != nil || len(got.Assets) == 0 {
			t.Errorf("%s: %d assets, %v", c.what, len(got.Assets), err)
			continue
		}
		blocks, rows := 0, 0
		for _, sent := range rec.take() {
			b, r := touched(t, w, a, sent)
			blocks, rows = blocks+b, rows+r
		}
		t.Logf("%-30s %5d blocks %5d rows", c.what, blocks, rows)
		if blocks > c.most || rows > c.rows {
			t.Errorf("%s touches %d blocks and %d rows, want at most %d and %d", c.what, blocks, rows, c.most, c.rows)
		}
	}
}

// fillLibrary puts 10,000 files into a client's library; each fourth is used.
func fillLibrary(t *testing.T, w *dbtest.World, a *dbtest.Agency, client model.ClientID) {
	t.Helper()
	a.Post(t, "Fresh bread", a.Account(t, client, network.Webhook))
	conn := as(t, w, db.MainShard, superuser)
	for _, sql := range []string{
		`SET session_replication_role = replica`,
		`INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, sha256, bytes, uploaded_bytes, width, height, alt, created_at)
		 SELECT $1, $2, 'ready', CASE n % 20 WHEN 0 THEN 'video' ELSE 'image' END, 'image/jpeg', 'IMG ' || n || '.jpg', 'x', sha256(n::text::bytea), 1000, 1000, 400, 300,
		        'A loaf of bread on a table, seen from above', $3::timestamptz - n * interval '1 minute' FROM generate_series(1, 10000) n`,
		`INSERT INTO tenant.media_words (tenant_id, word, media_id)
		 SELECT tenant_id, x, id FROM tenant.media, unnest(ARRAY['img', 'only' || id, CASE id % 2 WHEN 0 THEN 'even' END, CASE id % 2 WHEN 0 THEN '#half' END, CASE id % 10 WHEN 0 THEN '#tenth' END]) x WHERE tenant_id = $1 AND x IS NOT NULL AND client_id = $2 AND created_at <= $3`,
		`INSERT INTO tenant.post_versions (tenant_id, id, post_id, number, content, created_by, created_at) OVERRIDING SYSTEM VALUE
		 SELECT $1, 1000000 + n, 1000000 + n, 1, '{}', 1, $3 FROM generate_series(1, 2500) n WHERE $2 > 0`,
		`INSERT INTO tenant.posts (tenant_id, id, current_version_id, created_by, created_at, updated_at) OVERRIDING SYSTEM VALUE
		 SELECT $1, 1000000 + n, 1000000 + n, 1, $3, $3 FROM generate_series(1, 2500) n WHERE $2 > 0`,
		`INSERT INTO tenant.version_media (tenant_id, version_id, media_id)
		 SELECT $1, 1000000 + row_number() OVER (ORDER BY id), id FROM (SELECT id FROM tenant.media WHERE id % 4 = 0 AND client_id = $2 AND created_at <= $3 ORDER BY id LIMIT 2500) m`,
	} {
		args := []any{a.ID, client, w.Clock.Now()}
		if sql[:3] == "SET" {
			args = nil
		}
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	w.Super(t, db.MainShard, `ANALYZE`)
}

// plan is a step of a statement, as EXPLAIN tells it.
type plan struct {
	Hit   int     `json:"Shared Hit Blocks"`
	Read  int     `json:"Shared Read Blocks"`
	Rows  float64 `json:"Actual Rows"`
	Loops float64 `json:"Actual Loops"`
	Steps []plan  `json:"Plans"`
}

// moved is how many rows this step and those below it handed on.
func (p plan) moved() int {
	n := int(p.Rows * p.Loops)
	for _, s := range p.Steps {
		n += s.moved()
	}
	return n
}

// touched is how many blocks a statement reads, as the app's role reads them, and
// how many rows the steps of its plan handed on.
func touched(t *testing.T, w *dbtest.World, a *dbtest.Agency, sent pgx.TraceQueryStartData) (blocks, rows int) {
	t.Helper()
	if len(sent.Args) == 0 || sent.SQL == "SELECT set_config('herald.tenant', $1, true), set_config('herald.user', $2, true)" {
		return 0, 0
	}
	var out []byte
	conn := as(t, w, db.MainShard, "herald_app")
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SELECT set_config('herald.tenant', $1::bigint::text, true)`, a.ID); err != nil {
			return err
		}
		return tx.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+sent.SQL, sent.Args...).Scan(&out)
	})
	if err != nil {
		t.Fatalf("%s: %v", sent.SQL, err)
	}
	var plans []struct{ Plan plan }
	if err := json.Unmarshal(out, &plans); err != nil {
		t.Fatal(err)
	}
	return plans[0].Plan.Hit + plans[0].Plan.Read, plans[0].Plan.moved()
}
