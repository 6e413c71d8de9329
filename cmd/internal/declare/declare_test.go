package declare

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
)

var cheap = secret.Cost{Time: 1, Memory: 64, Threads: 1}

func parsed(t *testing.T, texts ...string) Document {
	t.Helper()
	var sources []Source
	for _, text := range texts {
		sources = append(sources, Source{Name: "x.yaml", Text: []byte(text)})
	}
	doc, err := Parse(sources...)
	if err != nil {
		t.Fatal(err)
	}
	doc.Cost = cheap
	return doc
}

func apply(t *testing.T, w *dbtest.World, texts ...string) []string {
	t.Helper()
	changes, err := Apply(t.Context(), w.Store, parsed(t, texts...))
	if err != nil {
		t.Fatalf("apply: %v", err)
	}
	return changes
}

const small = `
plans: [{name: studio, posts_a_month: 100}]
users:
  - {email: Anna@nord.example, name: Anna, password: first password}
  - {email: eve@nord.example, name: Eve}
workspaces:
  - slug: nord
    name: Nord
    zone: Europe/Berlin
    plan: studio
    shard: second
    members:
      - {user: anna@nord.example, role: owner}
      - {user: eve@nord.example, role: manager, clients: {bakery: all}}
    clients:
      - slug: bakery
        name: Bakery
        zone: Europe/Berlin
        late_cutoff: 12h
        approvers: [{email: mia@bakery.example, name: Mia}]
        stages:
          - {name: Agency, people: [eve@nord.example]}
          - {name: Client, rule: all, people: [mia@bakery.example, anna@nord.example]}
        blackouts: [{from: 2026-12-24T14:00, to: 2026-12-27 06:00, reason: Christmas}]
        accounts:
          - slug: fediverse
            network: fediverse
            handle: "@bakery"
            address: https://social.example
            settings: {max_characters: 1000}
            token: secret-one
            refresh_token: refresh-one
            slots: [monday 09:30, friday 17:00]
`

func TestApplyTwiceChangesNothingTheSecondTime(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	first := apply(t, w, small)
	for _, want := range []string{
		"plan studio: made", "user anna@nord.example: made", "workspace nord: made", "member eve@nord.example of nord: made",
		"client nord/bakery: made", "stages of nord/bakery: stages changed", "blackouts of nord/bakery: blackouts changed", "account nord/bakery/fediverse: made",
		"access of eve@nord.example to nord/bakery: permissions changed",
	} {
		if !slices.Contains(first, want) {
			t.Errorf("the first run does not say %q: %q", want, first)
		}
	}
	if again := apply(t, w, small); len(again) != 0 {
		t.Errorf("the second run changed %q", again)
	}
}

func TestTheExampleParsesAndApplies(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	doc, err := Parse(Example())
	if err != nil {
		t.Fatal(err)
	}
	doc.Cost = cheap
	if _, err := Apply(t.Context(), w.Store, doc); err != nil {
		t.Fatal(err)
	}
	if again, err := Apply(t.Context(), w.Store, doc); err != nil || len(again) != 0 {
		t.Errorf("again: %q, %v", again, err)
	}
}

func TestTheExampleHasEveryKey(t *testing.T) {
	t.Parallel()
	var root yaml.Node
	if err := yaml.Unmarshal(example, &root); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	walk(root.Content[0], "file", seen)
	for what, list := range keys {
		for _, key := range list {
			if !seen[what+"."+key] {
				t.Errorf("the example does not show the key %s of a %s", key, what)
			}
		}
	}
}

func TestTheExampleNamesEveryNetworkAndPublisher(t *testing.T) {
	t.Parallel()
	var names []string
	for _, n := range network.All() {
		names = append(names, string(n.Name))
	}
	for _, p := range network.Aggregators() {
		names = append(names, string(p))
	}
	_, comment, _ := strings.Cut(string(example), "network: facebook")
	comment, _, _ = strings.Cut("facebook"+comment, "handle:")
	for _, name := range names {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(comment) {
			t.Errorf("the example does not name %s", name)
		}
	}
}

var inside = map[string]string{
	"plans": "plan", "users": "user", "workspaces": "workspace", "members": "member", "clients": "client",
	"approvers": "approver", "stages": "stage", "blackouts": "blackout", "accounts": "account", "labels": "label", "notes": "note",
}

func walk(n *yaml.Node, what string, seen map[string]bool) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		seen[what+"."+key] = true
		if value.Kind == yaml.SequenceNode && inside[key] != "" {
			for _, one := range value.Content {
				walk(one, inside[key], seen)
			}
		}
	}
}

func TestParseSaysWhatIsWrongWithFileAndLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plans:\n  - nmae: x":                                            `x.yaml:2: a plan has no key "nmae"; its keys are name, posts_a_month, media_bytes`,
		"plans:\n  - name: x\n    name: y":                               "x.yaml:3: the key name is given twice",
		"plans:\n  - name: x\n    posts_a_month: -1":                     "x.yaml:3: posts_a_month is a whole number above zero, or unlimited",
		"plans:\n  - posts_a_month: 1":                                   "x.yaml:2: a plan needs the key name",
		"plans:\n  - name: x\n  - name: x":                               "x.yaml:3: the plan x is declared already, at x.yaml:2",
		"users: [{email: nobody}]":                                       "x.yaml:1: email: write an e-mail address",
		"users:\n- email: a@b.example\n  zone: Local":                    "x.yaml:3: zone: name a time zone",
		"users:\n- email: a@b.example\n  password: hunter2":              "x.yaml:3: password: a password has at least 8",
		"users:\n- email: a@b.example\n  disabled: maybe":                "x.yaml:3: disabled: write true or false",
		"users:\n- email: a@b.example\n  name:":                          "x.yaml:3: the key name has no value",
		"users: yes":                                                     "x.yaml:1: users is a list; begin each line with a dash",
		"- a":                                                            "x.yaml:1: a file is written as keys and values",
		"users: [":                                                       "x.yaml:1: this is not YAML",
		"workspaces:\n- slug: A B":                                       "x.yaml:2: slug: use up to 63 small letters",
		"workspaces:\n- slug: a\n  members: [{user: a@b.c, role: king}]": "x.yaml:3: role: write owner, admin, manager, editor or viewer",
		"workspaces:\n- slug: a\n  clients:\n  - slug: c\n    accounts: [{slug: f, network: Rumble}]":           "Rumble has no public API",
		"workspaces:\n- slug: a\n  members: [{user: a@b.c, clients: {x: [workspace.manage]}}]":                  "x.yaml:3: x: write posts.view",
		"workspaces:\n- slug: a\n  clients:\n  - slug: c\n    stages: [{name: s}]":                              "x.yaml:5: a stage needs people",
		"workspaces:\n- slug: a\n  clients:\n  - slug: c\n    remind_after: 5m":                                 "x.yaml:5: remind_after is a time from 1h",
		"workspaces:\n- slug: a\n  clients:\n  - slug: c\n    late_cutoff: soon":                                "x.yaml:5: late_cutoff is a time from 1m",
		"workspaces:\n- slug: a\n  clients:\n  - slug: c\n    blackouts: [{from: x, to: y, reason: z}]":         "x.yaml:5: from: write day and time",
		"workspaces:\n- slug: a\n  clients:\n  - slug: c\n    accounts: [{slug: f, network: orkut}]":            "x.yaml:5: network: write " + string(network.All()[0].Name) + ", ",
		"workspaces:\n- slug: a\n  clients:\n  - slug: c\n    accounts: [{slug: f, address: \"https://a..b\"}]": "x.yaml:5: address: The host name in the address has two dots in a row",
		"workspaces:\n- slug: a\n  clients:\n  - slug: c\n    accounts: [{slug: f, slots: [someday]}]":          "x.yaml:5: slots: write a day of the week",
		"workspaces:\n- slug: a\n  clients:\n  - slug: c\n    accounts: [{slug: f, token_expires: later}]":      "x.yaml:5: token_expires is an instant",
		"workspaces:\n- slug: a\n  zone: Europe/Berlin\n---\nworkspaces:\n- slug: a\n  zone: Europe/Paris":      "x.yaml:7: the zone of the workspace a is declared already, at x.yaml:3",
	} {
		_, err := Parse(Source{"x.yaml", []byte(text)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestProblemsNeverShowASecret(t *testing.T) {
	t.Parallel()
	_, err := Parse(Source{"x.yaml", []byte("users:\n- email: a@b.example\n  password: hunter2\n  password_hash: hunter2-hash\nworkspaces:\n- slug: a\n  clients:\n  - slug: c\n    accounts: [{slug: f, token: \"hunter2\\ntoken\"}]")})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func TestSeveralFilesMakeOneDocument(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.yaml"), filepath.Join(dir, "two.yaml")
	write(t, one, "workspaces:\n- {slug: a, name: A, clients: [{slug: x, name: X}]}")
	write(t, two, "workspaces:\n- {slug: a, zone: Europe/Berlin, clients: [{slug: y, name: Y}]}")
	doc, err := Read(one, two)
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Workspaces) != 1 || len(doc.Workspaces[0].Clients) != 2 || doc.Workspaces[0].Zone == nil || doc.Workspaces[0].Name == nil {
		t.Errorf("got %+v", doc.Workspaces)
	}
	if _, err := Read(filepath.Join(dir, "none.yaml")); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWhatTheDatabaseRefusesHasFileAndLineAndNothingIsApplied(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	apply(t, w, small)
	for text, want := range map[string]string{
		"workspaces:\n- {slug: new, name: New, zone: UTC, plan: gold}":                                                                            `x.yaml:2: there is no plan "gold"`,
		"workspaces:\n- {slug: new, name: New, zone: UTC, plan: studio, shard: far}":                                                              `x.yaml:2: there is no shard "far"`,
		"workspaces:\n- {slug: nord, shard: main}":                                                                                                "x.yaml:2: the workspace nord lives on the shard second and cannot move to main",
		"workspaces:\n- {slug: new}":                                                                                                              "x.yaml:2: the workspace new is new and needs the key name",
		"workspaces:\n- slug: nord\n  members: [{user: ghost@x.example, role: owner}]":                                                            "x.yaml:3: there is no user ghost@x.example",
		"users: [{email: new@x.example}]":                                                                                                         "x.yaml:1: the user new@x.example is new and needs a name",
		"workspaces:\n- slug: nord\n  members: [{user: eve@nord.example, clients: {zoo: all}}]":                                                   `x.yaml:3: the workspace nord has no client "zoo"`,
		"workspaces:\n- slug: nord\n  members: [{user: eve@nord.example, role: viewer, clients: {bakery: [posts.write]}}]":                        "x.yaml:3: the role viewer of eve@nord.example does not grant posts.write",
		"workspaces:\n- slug: nord\n  clients: [{slug: zoo, name: Zoo}]":                                                                          "x.yaml:3: the client zoo is new and needs the key zone",
		"workspaces:\n- slug: nord\n  clients:\n  - slug: bakery\n    stages: [{name: S, people: [ghost@x.example]}]":                             "x.yaml:5: ghost@x.example is neither an approver",
		"workspaces:\n- slug: nord\n  clients:\n  - slug: bakery\n    accounts: [{slug: fediverse, network: facebook}]":                           "x.yaml:5: the account fediverse is one of Mastodon and cannot become one of Facebook",
		"workspaces:\n- slug: nord\n  clients:\n  - slug: bakery\n    accounts: [{slug: hook, network: webhook, handle: Hook}]":                   "x.yaml:5: the account hook needs the key address",
		"workspaces:\n- slug: nord\n  clients:\n  - slug: bakery\n    accounts: [{slug: fediverse, address: \"https://social.example/@bakery\"}]": "x.yaml:5: address of the account fediverse: Give the server alone",
		"workspaces:\n- slug: nord\n  clients:\n  - slug: bakery\n    accounts: [{slug: hook, network: webhook, handle: H, publisher: bundle}]":   `x.yaml:5: Webhook cannot be reached by Bundle.social`,
		"workspaces:\n- slug: nord\n  clients:\n  - slug: bakery\n    blackouts: [{from: 2026-03-29T02:30, to: 2026-03-30T00:00, reason: gap}]":   "does not exist in Europe/Berlin",
		"workspaces:\n- slug: nord\n  clients:\n  - slug: bakery\n    blackouts: [{from: 2026-04-02T00:00, to: 2026-04-01T00:00, reason: back}]":  "x.yaml:5: a blackout ends after it begins",
	} {
		doc := parsed(t, "plans: [{name: other}]\nusers: [{email: other@x.example, name: Other}]", text)
		changes, err := Apply(t.Context(), w.Store, doc)
		if err == nil || !strings.Contains(err.Error(), want) || len(changes) != 0 {
			t.Errorf("%q:\n got %q, %v\nwant %s", text, changes, err, want)
		}
	}
	if n := dbtest.Look[int](t, w, db.MainShard, `SELECT count(*) FROM control.plans WHERE name = 'other'`); n != 0 {
		t.Error("a refused document left a plan behind")
	}
	if again := apply(t, w, small); len(again) != 0 {
		t.Errorf("a refused document changed %q", again)
	}
}

func TestAnAddressIsKeptInOneForm(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	odd := strings.Replace(small, "https://social.example", "HTTPS://Social.Example.:443/", 1)
	apply(t, w, odd)
	for _, text := range []string{odd, small} {
		if again := apply(t, w, text); len(again) != 0 {
			t.Errorf("the same address in another form: %q", again)
		}
	}
	if got := dbtest.Look[string](t, w, dbtest.SecondShard, `SELECT address FROM tenant.accounts`); got != "https://social.example" {
		t.Errorf("kept as %s", got)
	}
}

func TestApplyChangesOnlyWhatIsNamed(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	apply(t, w, small)
	got := apply(t, w, `
plans: [{name: studio, posts_a_month: unlimited}]
users: [{email: anna@nord.example, zone: Europe/Paris}]
workspaces:
  - slug: nord
    state: suspended
    clients:
      - slug: bakery
        late_cutoff: default
        paused: true
        stages: []
        accounts: [{slug: fediverse, paused: true, slots: [], settings: {max_characters: null, note: hello}}]
`)
	want := []string{
		"plan studio: posts a month changed", "user anna@nord.example: zone changed", "workspace nord: state changed",
		"client nord/bakery: late cut-off and paused changed", "stages of nord/bakery: stages changed", "account nord/bakery/fediverse: paused, settings and slots changed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if n := dbtest.Look[int](t, w, dbtest.SecondShard, `SELECT count(*) FROM tenant.blackouts`); n != 1 {
		t.Error("blackouts that were not named are gone")
	}
	if state := dbtest.Look[string](t, w, dbtest.SecondShard, `SELECT state FROM tenant.tenants WHERE posts_a_month IS NULL AND suspended_at IS NOT NULL`); state != "suspended" {
		t.Error("the shard does not know of suspension and plan")
	}
	if s := dbtest.Look[string](t, w, dbtest.SecondShard, `SELECT settings::text FROM tenant.accounts`); s != `{"note": "hello"}` {
		t.Errorf("settings are %s", s)
	}
}

func TestApplyDeclaresWhatAWorkflowDoesByItself(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	apply(t, w, small)
	rules := `
workspaces:
  - slug: nord
    clients:
      - {slug: bakery, auto_schedule: true, remind_after: 24h, remind_every: 48h, escalate_after: 96h, escalate_to: [anna@nord.example]}
`
	want := []string{"client nord/bakery: auto-schedule, reminders and escalation changed", "escalation of nord/bakery: people changed"}
	if got := apply(t, w, rules); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := apply(t, w, rules); len(got) != 0 {
		t.Errorf("again: %q", got)
	}
	stored := dbtest.Look[string](t, w, dbtest.SecondShard, `SELECT concat_ws(' ', auto_schedule, remind_after, remind_every, escalate_after, (SELECT count(*) FROM tenant.escalation_people)) FROM tenant.clients`)
	if stored != "t 24:00:00 48:00:00 96:00:00 1" {
		t.Errorf("stored %s", stored)
	}
	for change, want := range map[string]string{
		"remind_after: never":                "remind_every of the client bakery needs remind_after",
		"escalate_to: [nobody@nord.example]": "nobody@nord.example is no member of the workspace",
	} {
		if _, err := Apply(t.Context(), w.Store, parsed(t, "workspaces: [{slug: nord, clients: [{slug: bakery, "+change+"}]}]")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", change, err)
		}
	}
	if got := apply(t, w, "workspaces: [{slug: nord, clients: [{slug: bakery, remind_after: never, remind_every: never, escalate_after: never, escalate_to: []}]}]"); len(got) != 2 {
		t.Errorf("taken back: %q", got)
	}
}

func TestAPlanReachesWorkspacesThatAreNotNamed(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	apply(t, w, small)
	got := apply(t, w, "plans: [{name: studio, posts_a_month: 7}]")
	if n := dbtest.Look[int](t, w, dbtest.SecondShard, `SELECT posts_a_month FROM tenant.tenants`); n != 7 || len(got) != 2 {
		t.Errorf("the shard says %d; told %q", n, got)
	}
}

func TestACrashBetweenThePlanesIsRepairedByTheNextRun(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	apply(t, w, small)
	// As if the process had ended after the control plane's commit.
	for _, table := range []string{"slots", "accounts", "blackouts", "stage_people", "stages", "approvers", "client_access", "clients", "tenants"} {
		w.Super(t, dbtest.SecondShard, "DELETE FROM tenant."+table)
	}
	got := apply(t, w, small)
	if !slices.Contains(got, "client nord/bakery: made") || slices.Contains(got, "workspace nord: made") {
		t.Errorf("the repair told %q", got)
	}
	if again := apply(t, w, small); len(again) != 0 {
		t.Errorf("after the repair: %q", again)
	}
}

func TestApplyAtOnceMakesEverythingOnce(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	made := 0
	for range 4 {
		wg.Go(func() {
			doc := parsed(t, small)
			changes, err := Apply(t.Context(), w.Store, doc)
			if err != nil {
				t.Errorf("apply: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(changes) > 0 {
				made++
			}
		})
	}
	wg.Wait()
	if made != 1 {
		t.Errorf("%d of 4 runs changed something", made)
	}
}

func TestTokensAreSealedAndRenewedOnesAreKept(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	apply(t, w, small)
	id := dbtest.Look[model.AccountID](t, w, dbtest.SecondShard, `SELECT id FROM tenant.accounts`)
	tenant := dbtest.Look[model.TenantID](t, w, dbtest.SecondShard, `SELECT tenant_id FROM tenant.accounts`)
	sealed := dbtest.Look[[]byte](t, w, dbtest.SecondShard, `SELECT token FROM tenant.accounts`)
	if plain, err := w.Ring.Open(sealed, db.TokenAAD(tenant, id, "token")); err != nil || plain != "secret-one" {
		t.Fatalf("the token opens as %q, %v", plain, err)
	}
	w.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET token = $1`, w.Ring.Seal("renewed", db.TokenAAD(tenant, id, "token")))
	if again := apply(t, w, small); len(again) != 0 {
		t.Errorf("a run put the old token back: %q", again)
	}
	w.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET state = 'needs_reconnect', last_error = 'gone'`)
	got := apply(t, w, strings.ReplaceAll(small, "secret-one", "secret-two"))
	if state := dbtest.Look[string](t, w, dbtest.SecondShard, `SELECT state FROM tenant.accounts WHERE last_error IS NULL`); state != "active" || len(got) != 1 {
		t.Errorf("a new token leaves the account %s; told %q", state, got)
	}
}

func TestPasswordsAreHashedAndChangedOnesAreKept(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	apply(t, w, small)
	const hash = `SELECT password_hash FROM control.users WHERE email = 'anna@nord.example'`
	if ok, _, err := secret.CheckPassword(t.Context(), dbtest.Look[string](t, w, db.MainShard, hash), "first password", cheap); err != nil || !ok {
		t.Fatalf("the declared password does not sign in: %v", err)
	}
	w.Super(t, db.MainShard, `UPDATE control.users SET password_hash = 'changed since'`)
	if again := apply(t, w, small); len(again) != 0 {
		t.Errorf("a run put the old password back: %q", again)
	}
	w.Super(t, db.MainShard, `INSERT INTO control.sessions SELECT '\x01', id, '', now(), now(), now() FROM control.users WHERE name = 'Anna'`)
	got := apply(t, w, strings.ReplaceAll(small, "first password", "second password"))
	if n := dbtest.Look[int](t, w, db.MainShard, `SELECT count(*) FROM control.sessions`); n != 0 || !slices.Equal(got, []string{"user anna@nord.example: password changed"}) {
		t.Errorf("%d sessions are left; told %q", n, got)
	}
}

func TestRemovingTakesAwayAccessAndLinks(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	apply(t, w, small)
	w.Super(t, dbtest.SecondShard, `INSERT INTO tenant.review_links (tenant_id, token_hash, approver_id, expires_at, created_at) SELECT tenant_id, decode(repeat('00', 32), 'hex'), id, now(), now() FROM tenant.approvers`)
	const text = `
workspaces:
  - slug: nord
    members: [{user: eve@nord.example, remove: true}]
    clients: [{slug: bakery, stages: [], approvers: [{email: mia@bakery.example, remove: true}]}]`
	got := apply(t, w, text)
	if len(got) != 3 {
		t.Errorf("told %q", got)
	}
	if n := dbtest.Look[int](t, w, dbtest.SecondShard, `SELECT (SELECT count(*) FROM tenant.client_access) + (SELECT count(*) FROM tenant.review_links WHERE revoked_at IS NULL)`); n != 0 {
		t.Errorf("%d rows still let them in", n)
	}
	if again := apply(t, w, text); len(again) != 0 {
		t.Errorf("again: %q", again)
	}
}

func TestApplyLeavesAuditLines(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	apply(t, w, small)
	if n := dbtest.Look[int](t, w, dbtest.SecondShard, `SELECT count(*) FROM tenant.audit WHERE verb = 'declared' AND name = 'herald apply' AND user_id IS NULL`); n < 5 {
		t.Errorf("%d audit lines", n)
	}
	if n := dbtest.Look[int](t, w, dbtest.SecondShard, `SELECT count(*) FROM tenant.audit WHERE detail::text LIKE '%secret-one%' OR detail::text LIKE '%@%'`); n != 0 {
		t.Error("an audit line holds a token or an address")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(small)
	f.Add(string(example))
	f.Add("a: &a [*a]\nusers: *a")
	f.Add("users: [{email: a@b.c, name: &n [*n]}]")
	f.Add("? [a]\n: b")
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := Parse(Source{"f", []byte(text)})
		if err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("a problem without a line: %v", err)
		}
		if err == nil {
			for _, w := range doc.Workspaces {
				if !slugForm.MatchString(w.Slug) {
					t.Errorf("took the slug %q", w.Slug)
				}
			}
		}
	})
}

func TestApplyTellsWhatWasPlannedInsideABlackout(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	a := w.Agency(t, "nord", db.MainShard)
	client := a.Client(t, "bakery")
	a.Due(t, "Fresh bread", time.Hour, a.Account(t, client, network.Mastodon))
	due, err := model.At(w.Clock.Now().Add(time.Hour), "Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	day := due.Local.Date.String()
	said := apply(t, w, fmt.Sprintf(`
workspaces:
  - slug: nord
    clients:
      - slug: bakery
        blackouts: [{from: %sT00:00, to: %sT23:59, reason: Stocktaking}]
`, day, day))
	if !slices.ContainsFunc(said, func(line string) bool {
		return strings.HasPrefix(line, "blackouts of nord/bakery: 1 already planned inside wait for the end, the first of them due ")
	}) {
		t.Errorf("apply says %q", said)
	}
}
