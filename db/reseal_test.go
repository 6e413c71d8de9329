package db_test

import (
	"strings"
	"testing"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/network"
	"herald/db/secret"
)

// keyed is the pipeline of a process with these keys.
func keyed(t *testing.T, w *dbtest.World, keys ...string) *db.Pipeline {
	t.Helper()
	o := w.Options()
	var err error
	if o.Ring, err = secret.ParseRing(strings.Join(keys, ",")); err != nil {
		t.Fatal(err)
	}
	p, err := db.OpenPipeline(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func sealed(t *testing.T, p *db.Pipeline, want db.Sealed) {
	t.Helper()
	if n, err := p.CountSealed(t.Context()); err != nil || n != want {
		t.Errorf("sealed values: %+v, %v; want %+v", n, err, want)
	}
}

// TestEverySealedValueIsSealedAgainUnderTheNewestKey changes a key: before, the old
// one is needed, and afterwards the new one alone opens everything of both shards.
func TestEverySealedValueIsSealedAgainUnderTheNewestKey(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	old, fresh := strings.Repeat("o", 40), strings.Repeat("f", 40)
	before, err := secret.ParseRing(old)
	if err != nil {
		t.Fatal(err)
	}
	values := 0
	for slug, shard := range map[string]string{"north": db.MainShard, "south": dbtest.SecondShard} {
		a := w.Agency(t, slug, shard)
		client := a.Client(t, "bakery")
		for range 203 { // more than a page
			id := a.Account(t, client, network.Webhook)
			w.Super(t, shard, `UPDATE tenant.accounts SET token = $2, refresh_token = $3, declared = $4 WHERE id = $1`, id, before.Seal("t", db.TokenAAD(a.ID, id, "token")),
				before.Seal("r", db.TokenAAD(a.ID, id, "refresh")), before.Seal("d", db.TokenAAD(a.ID, id, "declared")))
			values += 3
		}
		w.Super(t, shard, `INSERT INTO tenant.mails (tenant_id, key, kind, to_email, content, sealed, next_at, made_at) VALUES ($1, 'k', 'x', 'x', '{}', $2, now(), now())`,
			a.ID, before.Seal("link", db.MailAAD(a.ID, "k")))
		values++
	}
	sealed(t, keyed(t, w, fresh), db.Sealed{Values: values, Shut: values})
	both := keyed(t, w, fresh, old)
	sealed(t, both, db.Sealed{Values: values, Stale: values})
	if n, err := both.Reseal(t.Context()); err != nil || n.Stale != values {
		t.Fatalf("seal again: %+v, %v", n, err)
	}
	sealed(t, keyed(t, w, fresh), db.Sealed{Values: values})
	if n, err := both.Reseal(t.Context()); err != nil || n.Stale != 0 {
		t.Errorf("a second run: %+v, %v", n, err)
	}
}
