package db_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// bringer is an agency that brings tables along, and a worker for them.
type bringer struct {
	*dbtest.World
	agency *dbtest.Agency
	client model.ClientID
	pipe   *db.Pipeline
	media  model.MediaID // the client's file, which every address holds
	picked []string      // addresses that were fetched
	broken error         // what fetching answers
}

func newBringer(t *testing.T) *bringer {
	t.Helper()
	w := dbtest.New(t)
	b := &bringer{World: w, agency: w.Agency(t, "north", dbtest.SecondShard)}
	b.client = b.agency.Client(t, "acme")
	for net, handle := range map[network.Name]string{network.Mastodon: "@acme", network.Webhook: "acme screens", network.Facebook: "@acme"} {
		id := b.agency.Account(t, b.client, net)
		w.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET handle = $3 WHERE tenant_id = $1 AND id = $2`, b.agency.ID, id, handle)
	}
	b.media = dbtest.Look[model.MediaID](t, w, dbtest.SecondShard, `INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, sha256, bytes, width, height, alt, created_at)
		VALUES ($1, $2, 'ready', 'image', 'image/jpeg', 'Loaf of bread.jpg', 'x.jpg', sha256('x'), 1000, 800, 800, 'A loaf', now()) RETURNING id`, b.agency.ID, b.client)
	w.Super(t, dbtest.SecondShard, `INSERT INTO tenant.blackouts (tenant_id, client_id, from_at, to_at, reason) VALUES ($1, $2, '2026-04-02T00:00Z', '2026-04-03T00:00Z', 'quiet day')`, b.agency.ID, b.client)
	pipe, err := db.OpenPipeline(t.Context(), w.Options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pipe.Close)
	b.pipe = pipe
	return b
}

// bring has a table read as it seems to mean, and begun.
func (b *bringer) bring(t *testing.T, table string) model.ImportID {
	t.Helper()
	id, again, err := b.agency.Owner.AddImport(t.Context(), b.client, "plan.csv", []byte(table))
	if err != nil || again {
		t.Fatal(again, err)
	}
	p, err := b.agency.Owner.PreviewImport(t.Context(), id, nil, true)
	if err != nil || p.Missing != "" {
		t.Fatal(p.Missing, err)
	}
	if err := b.agency.Owner.StartImport(t.Context(), id, p.Columns, true); err != nil {
		t.Fatal(err)
	}
	return id
}

func (b *bringer) fetch(_ context.Context, _ *db.Scope, client model.ClientID, address string) (model.MediaID, error) {
	b.picked = append(b.picked, address)
	if strings.Contains(address, "private") {
		return 0, model.Refuse(model.Unprocessable, "Herald may not call that address.")
	}
	return b.media, b.broken
}

// work takes what is due once, and runs it as soon as it is handed out, which is before
// that is committed.
func (b *bringer) work(t *testing.T) error {
	t.Helper()
	var errs []error
	var at sync.WaitGroup
	_, err := b.pipe.TakeImports(t.Context(), dbtest.SecondShard, 10, func(due []db.ImportKey) error {
		at.Go(func() {
			for _, k := range due {
				scope, err := b.Store.Enter(t.Context(), k.User, k.Slug)
				if err == nil {
					err = scope.RunImport(t.Context(), k.ID, b.fetch)
				}
				errs = append(errs, err)
			}
		})
		time.Sleep(50 * time.Millisecond) // whoever does not wait for the commit has looked by then
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	at.Wait()
	return errors.Join(errs...)
}

func (b *bringer) outcomes(t *testing.T, id model.ImportID) (i db.Import, list []db.ImportOutcome) {
	t.Helper()
	i, list, err := b.agency.Owner.ImportOutcomes(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return i, list
}

func TestATableBecomesDraftsAndEachRowThatDoesNotSaysWhy(t *testing.T) {
	t.Parallel()
	b := newBringer(t)
	if _, err := b.agency.Owner.AddLabel(t.Context(), db.Label{Kind: db.PlainLabel, Name: "Spring", Tint: 1}); err != nil {
		t.Fatal(err)
	}
	lines := []struct{ row, say string }{ // an empty say is a draft without a word
		{`Fresh rye;29.3.2026 14:30;mastodon @acme, acme screens;Loaf of bread.jpg;Spring;Rye;Only here`, ""},
		{`No time;;mastodon;;;;`, ""},
		{`Twice, said which;25.10.2026 02:30 second;mastodon;;;;`, ""},
		{`In the gap;29.3.2026 02:30;mastodon;;;;`, "does not exist"},
		{`Twice;25.10.2026 02:30;mastodon;;;;`, "Write “first” or “second”"},
		{`Gone;1.3.2026 10:00;mastodon;;;;`, "That time has passed"},
		{`Quiet;2.4.2026 10:00;mastodon;;;;`, "quiet day"},
		{`When?;soon;mastodon;;;;`, "“soon” is no day with a time"},
		{`Whose?;;@acme;;;;`, "write the network before it"},
		{`Nobody's;;@nobody;;;;`, "has no account “@nobody”"},
		{`No account;;;;;;`, "names no account"},
		{`No file;;mastodon;cheese.jpg;;;`, "has no file “cheese.jpg”"},
		{`No label;;mastodon;;Autumn;;`, "There is no label “Autumn”"},
		{`Far away;;mastodon;https://private.example/a.jpg;;;`, "Herald may not call that address."},
		{`;;mastodon;;;;`, "no text and no file"},
		{`"=cmd|' /C calc'!A0";;mastodon;;;;`, ""},
		{strings.Repeat("long ", 200) + `;;mastodon @acme;;;;`, "Mastodon @acme:"},
	}
	table := "Text;Date;Accounts;Images;Tags;Notes;Mastodon\n"
	for _, l := range lines {
		table += l.row + "\n"
	}
	id := b.bring(t, table)
	if err := b.work(t); err != nil {
		t.Fatal(err)
	}
	i, list := b.outcomes(t, id)
	if i.State != db.ImportDone || i.Done != len(lines) || i.Made != 5 || i.FinishedAt == nil {
		t.Errorf("%+v", i)
	}
	said := map[int]db.ImportOutcome{}
	for _, one := range list {
		said[one.Line] = one
	}
	for n, l := range lines {
		got := said[n+2]
		if l.say == "" && (got.Post == nil || got.Say != "") || l.say != "" && !strings.Contains(got.Say, l.say) {
			t.Errorf("%q: post %v, %q", l.row, got.Post, got.Say)
		}
	}
	rye, err := b.agency.Owner.Post(t.Context(), *said[2].Post)
	if err != nil {
		t.Fatal(err)
	}
	c := rye.Version.Content
	if len(rye.Targets) != 2 || rye.Post.Notes != "Rye" || len(rye.Post.Labels) != 1 || c.Text != "Fresh rye" || *c.Variants["mastodon"].Text != "Only here" || len(c.Media) != 1 || c.Media[0].ID != b.media {
		t.Errorf("%+v\n%+v", rye.Post, c)
	}
	if due := rye.Targets[0].LocalAt; due == nil || model.LocalOf(*due).String() != "2026-03-29T14:30" || *rye.Targets[0].Zone != "Europe/Berlin" || rye.Targets[0].State != model.Draft {
		t.Errorf("planned for %v, %s", due, rye.Targets[0].State)
	}
	later, _ := b.agency.Owner.Post(t.Context(), *said[4].Post)
	if at := later.Targets[0].DueAt; at == nil || at.Format("15:04") != "01:30" {
		t.Errorf("the second 02:30 is %v", at)
	}
	long, _ := b.agency.Owner.Post(t.Context(), *said[len(lines)+1].Post)
	if long.Targets[0].State != model.Invalid {
		t.Errorf("what the network refuses is %s", long.Targets[0].State)
	}
	if len(b.picked) != 1 {
		t.Errorf("fetched %q", b.picked)
	}
}

func TestTheSameFileAgainSaysSoAndMakesNothing(t *testing.T) {
	t.Parallel()
	b := newBringer(t)
	const table = "Caption,Network\none,mastodon\ntwo,mastodon\n"
	id := b.bring(t, table)
	if err := b.work(t); err != nil {
		t.Fatal(err)
	}
	got, again, err := b.agency.Owner.AddImport(t.Context(), b.client, "other name.csv", []byte(table))
	if err != nil || !again || got != id {
		t.Errorf("%d %t %v", got, again, err)
	}
	if err := b.agency.Owner.StartImport(t.Context(), id, []db.ImportColumn{db.ColumnText, db.ColumnNetworks}, true); err != nil {
		t.Errorf("started again: %v", err)
	}
	b.Super(t, dbtest.SecondShard, `UPDATE tenant.imports SET state = 'queued', next_at = $2 WHERE tenant_id = $1`, b.agency.ID, b.Clock.Now())
	b.Super(t, dbtest.SecondShard, `DELETE FROM tenant.import_rows WHERE tenant_id = $1`, b.agency.ID)
	if err := b.work(t); err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Look[int](t, b.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.posts WHERE tenant_id = $1`, b.agency.ID); n != 2 {
		t.Errorf("%d posts", n)
	}
	other := b.agency.Client(t, "york")
	if _, again, err := b.agency.Owner.AddImport(t.Context(), other, "x.csv", []byte(table)); again || err != nil {
		t.Errorf("another client's: %t %v", again, err)
	}
	if err := b.agency.Owner.ForgetImport(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, again, _ := b.agency.Owner.AddImport(t.Context(), b.client, "x.csv", []byte(table)); again {
		t.Error("a forgotten import is remembered")
	}
}

func TestAnImportThatBreaksOffGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	b := newBringer(t)
	table := "Text,Network,Media\n"
	for i := range 12 {
		table += fmt.Sprintf("post %d,mastodon,\n", i)
	}
	id := b.bring(t, table+"the last,mastodon,https://files.example/a.jpg\n")
	b.broken = errors.New("the store is away")
	if err := b.work(t); err == nil {
		t.Fatal("it did not break off")
	}
	if i, list := b.outcomes(t, id); i.State != db.ImportRunning || i.Done != 10 || len(list) != 10 {
		t.Errorf("%+v", i)
	}
	if err := b.work(t); err != nil {
		t.Errorf("taken before its lease ran out: %v", err)
	}
	b.Clock.Advance(db.ImportLease)
	b.broken = nil
	b.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET state = 'disabled' WHERE tenant_id = $1 AND network = 'facebook'`, b.agency.ID)
	_ = b.work(t)
	i, _ := b.outcomes(t, id)
	if n := dbtest.Look[int](t, b.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.posts WHERE tenant_id = $1`, b.agency.ID); i.State != db.ImportDone || n != i.Made || i.Done != 13 {
		t.Errorf("%d posts, %+v", n, i)
	}
}

func TestAnImportThatBreaksOffTooOftenIsGivenUp(t *testing.T) {
	t.Parallel()
	b := newBringer(t)
	id := b.bring(t, "Text,Network,Media\none,mastodon,https://files.example/a.jpg\n")
	b.broken = errors.New("the store is away")
	for range 7 {
		_ = b.work(t)
		b.Clock.Advance(db.ImportLease)
	}
	if i, _ := b.outcomes(t, id); i.State != db.ImportFailed || len(b.picked) != 5 {
		t.Errorf("%s after %d tries", i.State, len(b.picked))
	}
	if _, again, _ := b.agency.Owner.AddImport(t.Context(), b.client, "x.csv", []byte("Text,Network,Media\none,mastodon,https://files.example/a.jpg\n")); again {
		t.Error("what was given up cannot be tried anew")
	}
}

func TestColumnsAreGuessedAndThenRemembered(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]string{
		"Post Text|Publish date|Time (CET)|Profile|Image URL|Alt text|Hashtags|First comment": "text|day|clock|accounts|media|alt||comment",
		"Datum|Uhrzeit|Kanal|Beschreibung|Bild|Kampagne|Notizen":                              "day|clock|networks|text|media|campaign|notes",
		"Message|Facebook text|Instagram|Link|Tags|Text|Problem":                              "text|text:facebook|text:instagram|link|labels||",
	} {
		var got []string
		for _, c := range db.GuessColumns(strings.Split(head, "|")) {
			got = append(got, string(c))
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%s: %s", head, s)
		}
	}
	b := newBringer(t)
	add := func(table string) db.ImportPreview {
		id, _, err := b.agency.Owner.AddImport(t.Context(), b.client, "x.csv", []byte(table))
		if err != nil {
			t.Fatal(err)
		}
		p, err := b.agency.Owner.PreviewImport(t.Context(), id, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := add("What,Where\none,mastodon\n")
	if first.Missing == "" {
		t.Errorf("guessed %q", first.Columns)
	}
	mine := []db.ImportColumn{db.ColumnText, db.ColumnNetworks}
	for _, wrong := range [][]db.ImportColumn{nil, {db.ColumnText}, {db.ColumnText, db.ColumnText}, {db.ColumnText, "passwords"}, {db.ColumnText, db.ColumnNone}, {db.ColumnClock, db.ColumnNetworks}} {
		if _, ok := model.Refused(b.agency.Owner.StartImport(t.Context(), first.ID, wrong, true)); !ok {
			t.Errorf("%q is taken", wrong)
		}
	}
	if err := b.agency.Owner.StartImport(t.Context(), first.ID, mine, false); err != nil {
		t.Fatal(err)
	}
	if second := add("what,WHERE\ntwo,mastodon\n"); second.Missing != "" || second.Columns[1] != db.ColumnNetworks || second.DayFirst {
		t.Errorf("%+v", second.Import)
	}
}

// TestRowsSayWhoseTheyAre: each row is read by its own client's accounts, clocks, silence
// and library, and a client that the person may not write for is as one that there is not.
func TestRowsSayWhoseTheyAre(t *testing.T) {
	t.Parallel()
	b := newBringer(t)
	museum, secret := b.agency.Client(t, "museum"), b.agency.Client(t, "secret")
	for client, handle := range map[model.ClientID]string{museum: "@museum", secret: "@secret"} {
		id := b.agency.Account(t, client, network.Mastodon)
		b.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET handle = $3 WHERE tenant_id = $1 AND id = $2`, b.agency.ID, id, handle)
	}
	b.Super(t, dbtest.SecondShard, `UPDATE tenant.clients SET zone = 'America/New_York' WHERE id = $1`, museum)
	grants := map[model.ClientID][]model.Permission{b.client: model.Editor.Grants(), museum: model.Editor.Grants()}
	editor := b.agency.Member(t, model.Editor, grants)
	table := "Text,Client,Date,Accounts,Images\n" +
		"Of the table,,2026-04-02 10:00,mastodon,\n" + // acme is silent then
		"Of the museum,CLIENT Museum,2026-04-02 10:00,mastodon,\n" +
		"Not theirs,Client secret,,mastodon,\n" +
		"Nobody's,Client nowhere,,mastodon,\n" +
		"Wrong account,Client museum,,@acme,\n" +
		"Wrong file,Client museum,,mastodon,Loaf of bread.jpg\n"
	id, _, err := editor.AddImport(t.Context(), b.client, "plan.csv", []byte(table))
	if err != nil {
		t.Fatal(err)
	}
	p, err := editor.PreviewImport(t.Context(), id, nil, true)
	if err != nil || p.Columns[1] != db.ColumnClient || p.Bad != 5 {
		t.Fatalf("%d rows are wrong, %v, %v", p.Bad, p.Columns, err)
	}
	if err := editor.StartImport(t.Context(), id, p.Columns, true); err != nil {
		t.Fatal(err)
	}
	if err := b.work(t); err != nil {
		t.Fatal(err)
	}
	_, list, err := editor.ImportOutcomes(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		want := map[int]string{2: "quiet day", 3: "", 4: "no client “Client secret” that you may write for", 5: "no client “Client nowhere” that you may write for", 6: "Client museum has no account “@acme”", 7: "Client museum has no file"}[one.Line]
		if (want == "") != (one.Post != nil) || !strings.Contains(one.Say, want) {
			t.Errorf("line %d: post %v, %q", one.Line, one.Post, one.Say)
		}
		if one.Post == nil {
			continue
		}
		page, err := editor.Post(t.Context(), *one.Post)
		if err != nil || page.Targets[0].ClientID != museum || page.Targets[0].DueAt == nil || page.Targets[0].DueAt.UTC().Hour() != 14 {
			t.Errorf("the museum's post is %+v, %v", page.Targets, err)
		}
	}
	colleague := b.agency.Member(t, model.Editor, map[model.ClientID][]model.Permission{b.client: model.Editor.Grants()})
	if _, _, err := colleague.ImportOutcomes(t.Context(), id); err == nil {
		t.Error("a colleague of one client reads the rows of another's")
	}
	if list, err := colleague.Imports(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("a colleague's list: %+v, %v", list, err)
	}
}
