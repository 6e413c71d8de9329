package email

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"

	"herald/db/model"
)

var update = flag.Bool("update", false, "write the golden files anew")

var (
	noon = time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)
	due  = noon.Add(45 * time.Hour)
	end  = noon.Add(14 * 24 * time.Hour)
)

const link = "https://herald.example/review/1.AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE"

func batch() model.ApprovalMail {
	return model.ApprovalMail{
		Agency: "Nordwind Studio", Client: "Harbour Coffee", Sender: "Mia Berg", Until: &end,
		Posts: []model.ApprovalMailPost{
			{Post: 7, Excerpt: "Fresh beans from Sidamo land on Thursday. Come by for a cup, the first one is on us all morning long.", Client: "Harbour Coffee",
				Networks: []string{"facebook", "instagram"}, DueAt: &due, Zone: "Europe/Berlin", Stage: "Client"},
			{Post: 8, Excerpt: "Öffnungszeiten an Ostern: wie immer 🐣", Client: "Harbour Coffee", Networks: []string{"mastodon"}, Zone: "Europe/Berlin"},
		},
	}
}

func decided(v model.Verdict, done bool, words string) model.ApprovalMail {
	m := batch()
	m.Posts = m.Posts[:1]
	m.Posts[0].Verdict, m.Posts[0].Done, m.Posts[0].Words = v, done, words
	m.Sender = "Jonas Holm"
	return m
}

func notice() Notice {
	return Notice{
		Agency: "Nordwind Studio", Client: "Harbour Coffee", Network: "instagram", Account: "@harbour.coffee", Excerpt: "Fresh beans from Sidamo land on Thursday.",
		Reason: "refused_by_network", Say: "Instagram takes pictures from 4:5 to 1.91:1; this one is 9:16", DueAt: &due, Zone: "America/Argentina/Buenos_Aires", Waiting: 4,
	}
}

// letters is one of each kind, and of each kind's turns.
func letters() map[string]Letter {
	fresh := batch()
	fresh.Fresh = true
	several := batch()
	several.Client, several.Posts[0].Verdict, several.Posts[1].Verdict, several.Posts[1].Words = "", model.Approve, model.Reject, "Not at Easter."
	used := notice()
	used.Reason = "attempts_used_up"
	missed := notice()
	missed.Reason, missed.Say, missed.Excerpt = "missed", "", ""
	ended := notice()
	ended.Say = "Instagram says that the access was taken back"
	check := notice()
	check.Network, check.Account, check.Say = "webhook", "Shop", "Webhook has no list of posts to look into."
	second := notice()
	second.Network, second.Account, second.Reason, second.Say = "facebook", "Harbour Coffee", "", "The page is not published"
	shown := ReviewReminder("Jonas Holm", waited(batch()), link, now, false)
	shown.Stop = "https://herald.example/reminders/AbC"
	shown.Show(0, "post-1.7", "A cup of coffee on a quay")
	shown.Show(1, "post-2.7", "")
	ends, unrenewed := notice(), notice()
	ends.Network, ends.Excerpt, ends.Say, ends.Reason = "linkedin", "", "", ""
	unrenewed.Client, unrenewed.Excerpt, unrenewed.Say, unrenewed.Reason = "Café Sol", "", "Instagram cannot renew connections for a moment", ""
	return map[string]Letter{
		"pictures":          shown,
		"invitation":        Invitation(model.InvitationMail{Agency: "Nordwind Studio", Sender: "Mia Berg", Until: end, Zone: "Europe/Berlin"}, "https://herald.example/invitations/1.AbC"),
		"password":          Password("Mia Berg", model.PasswordMail{Until: end, Zone: "Europe/Berlin"}, "https://herald.example/passwords/AbC"),
		"review":            ReviewRequest("Jonas Holm", batch(), link, false),
		"review-fresh":      ReviewRequest("Jonas Holm", fresh, link, false),
		"review-late":       ReviewRequest("", batch(), link, true),
		"waiting":           ApprovalWaiting("Lea Sand", batch(), "https://herald.example/w/nordwind/approvals"),
		"decision-approved": Decision("Mia Berg", decided(model.Approve, true, ""), "https://herald.example/w/nordwind/posts/7"),
		"decision-stage":    Decision("Mia Berg", decided(model.Approve, false, "Lovely."), "https://herald.example/w/nordwind/posts/7"),
		"decision-changes":  Decision("Mia Berg", decided(model.RequestChanges, false, "Please say that it is free."), "https://herald.example/w/nordwind/posts/7"),
		"decision-rejected": Decision("Mia Berg", decided(model.Reject, false, ""), "https://herald.example/w/nordwind/posts/7"),
		"mention":           Mention("Lea Sand", decided("", false, "@Lea can you look at the price?"), "https://herald.example/w/nordwind/posts/7"),
		"held":              Held("Mia Berg", decided("", false, "The recipe is wrong."), "https://herald.example/w/nordwind/targets/7"),
		"let-go":            LetGo("Mia Berg", decided("", false, ""), "https://herald.example/w/nordwind/targets/7"),
		"given-back":        GivenBack("Mia Berg", decided("", false, ""), "https://herald.example/w/nordwind/posts/7"),
		"given-back-many":   GivenBack("Mia Berg", batch(), "https://herald.example/w/nordwind/posts"),
		"decision-several":  Decision("Mia Berg", several, "https://herald.example/w/nordwind/approvals"),
		"comment":           Comment("Mia Berg", decided("", false, "Could the first line be shorter?"), "https://herald.example/w/nordwind/approvals/31"),
		"failed":            TargetFailed("Mia Berg", []Notice{notice()}, "https://herald.example/w/nordwind/targets/31"),
		"failed-used-up":    TargetFailed("Mia Berg", []Notice{used}, "https://herald.example/w/nordwind/targets/31"),
		"failed-missed":     TargetFailed("Mia Berg", []Notice{missed}, "https://herald.example/w/nordwind/targets/31"),
		"manual-check":      ManualCheck("Mia Berg", []Notice{check}, "https://herald.example/w/nordwind/targets/31"),
		"failed-many":       TargetFailed("Mia Berg", []Notice{notice(), second}, "https://herald.example/w/nordwind/posts/7"),
		"manual-check-many": ManualCheck("Mia Berg", []Notice{check, second}, "https://herald.example/w/nordwind/posts/7"),
		"unscheduled":       Unscheduled("Mia Berg", decided("", false, ""), "https://herald.example/w/nordwind/posts/7"),
		"suggestion":        Suggestion("Mia Berg", decided("", false, "Open on Tuesday, from nine."), "https://herald.example/w/nordwind/approvals/31"),
		"reminder":          Reminder("Mia Berg", waited(batch()), "https://herald.example/w/nordwind/approvals", now),
		"reminder-review":   ReviewReminder("Jonas Holm", waited(batch()), link, now, false),
		"escalation":        Escalation("Mia Berg", waited(batch()), "https://herald.example/w/nordwind/approvals?box=others", now),
		"plan-passed":       PlanPassed("Mia Berg", decided("", false, ""), "https://herald.example/w/nordwind/posts/7"),
		"connect":           ConnectLink("Jonas Holm", connecting(), "https://herald.example/connect/1.AbC", false),
		"connect-late":      ConnectLink("", connecting(), "https://herald.example/connect/1.AbC", true),
		"connected":         Connected("Mia Berg", []model.ConnectMail{connected("bluesky", "@harbour.coffee", true)}, "https://herald.example/w/nordwind/accounts"),
		"connected-many":    Connected("Mia Berg", []model.ConnectMail{connected("facebook", "Harbour Coffee", false), connected("x", "@harbour", false)}, "https://herald.example/w/nordwind/accounts"),
		"connect-asked":     ConnectAsked("Mia Berg", connecting(), "https://herald.example/w/nordwind/clients/7/connect-links?again=3"),
		"reconnect":         NeedsReconnect("Mia Berg", ended, "https://herald.example/w/nordwind/accounts"),
		"ends":              ConnectionEnds("Mia Berg", []Notice{ends}, "https://herald.example/w/nordwind/accounts"),
		"ends-many":         ConnectionEnds("Mia Berg", []Notice{ends, unrenewed}, "https://herald.example/w/nordwind/accounts"),
	}
}

func connecting() model.ConnectMail {
	return model.ConnectMail{Agency: "Nordwind Studio", Client: "Harbour Coffee", Person: "Mia Berg", Networks: []string{"bluesky", "facebook", "google_business"}, Note: "Sorry to ask again!\n\nThe Facebook Page is the one with the <blue> logo.", Until: end, Zone: "Europe/Berlin"}
}

func connected(net, handle string, again bool) model.ConnectMail {
	return model.ConnectMail{Agency: "Nordwind Studio", Client: "Harbour Coffee", Person: "Jonas Holm", Accounts: []model.ConnectedAccount{{Network: net, Handle: handle, Again: again}}}
}

var now = time.Date(2026, 3, 3, 9, 0, 0, 0, time.UTC)

// waited is a mail about posts that have waited for a day.
func waited(m model.ApprovalMail) model.ApprovalMail {
	for i := range m.Posts {
		m.Posts[i].Since, m.Posts[i].Owing = new(now.Add(-24*time.Hour)), []string{"Jonas Holm", "Lea Sand"}
	}
	return m
}

func drawn(t *testing.T, l Letter) string {
	t.Helper()
	var b strings.Builder
	if err := Page(l).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is drawn differently; if that is meant, run go test ./views/email -update\ngot:\n%s", name, got)
	}
}

func TestEveryMailIsDrawnAsBefore(t *testing.T) {
	t.Parallel()
	for name, l := range letters() {
		golden(t, name+".html", strings.ReplaceAll(drawn(t, l), "><", ">\n<")+"\n")
		golden(t, name+".txt", "Subject: "+l.Subject+"\n\n"+l.Text())
	}
}

// said is what a reader of the HTML part reads, or hears of a picture.
func said(t *testing.T, page string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "style" && n.Parent.Data != "title" {
			words = append(words, strings.Fields(n.Data)...)
		}
		for _, a := range n.Attr {
			if a.Key == "alt" {
				words = append(words, strings.Fields(a.Val)...)
			}
		}
	}
	return strings.Join(words, " ")
}

func TestBothPartsSayTheSame(t *testing.T) {
	t.Parallel()
	for name, l := range letters() {
		page, plain := said(t, drawn(t, l)), strings.Join(strings.Fields(l.Text()), " ")
		parts := append([]string{l.Hello, l.Label, l.URL, l.Why, l.Agency}, append(l.Say, l.After...)...)
		for _, p := range l.Posts {
			if p.Picture != "" {
				parts = append(parts, p.Alt)
			}
			parts = append(parts, p.Client, p.Where, p.When, p.Stage, p.Excerpt, p.Verdict, p.Words)
		}
		for _, want := range parts {
			if !strings.Contains(page, want) || !strings.Contains(plain, want) {
				t.Errorf("%s: a part lacks %q\n%s\n%s", name, want, page, plain)
			}
		}
	}
}

var src = regexp.MustCompile(`(?i)<(script|link|iframe|object|form|base)\b|url\(|@import|\bon[a-z]+=`)

func TestAMailFetchesNothingAndLinksToOnePageOnly(t *testing.T) {
	t.Parallel()
	for name, l := range letters() {
		page := drawn(t, l)
		if found := src.FindString(page); found != "" {
			t.Errorf("%s holds %s", name, found)
		}
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			for _, a := range n.Attr {
				if a.Key == "src" && !strings.HasPrefix(a.Val, "cid:") {
					t.Errorf("%s fetches %s", name, a.Val)
				}
				if a.Key == "href" && a.Val != l.URL && a.Val != l.Stop {
					t.Errorf("%s links to %s", name, a.Val)
				}
			}
		}
		want := 1
		if l.Stop != "" {
			want = 2
		}
		if n := strings.Count(l.Text(), "https://"); n != want {
			t.Errorf("%s: the plain part has %d addresses", name, n)
		}
	}
}

const (
	crlf   = "Mia\r\nBcc: everybody@example.com\r\n\r\n<script>alert(1)</script>"
	hidden = "\u202egpj.exe\u2066\u200f\x00\ufeff"
)

func hostile() map[string]Letter {
	evil := crlf + hidden + `"><img src=x onerror=alert(1)> javascript:alert(1) ` + strings.Repeat("Ünsinn 👩‍👩‍👧‍👧 ", 5000) + strings.Repeat("x", 5000) + "z" + strings.Repeat("\u0301", 4000) + "\xff\xfe"
	m := model.ApprovalMail{Agency: evil, Client: evil, Sender: evil, Until: &end, Posts: []model.ApprovalMailPost{
		{Excerpt: evil, Client: evil, Networks: []string{evil}, DueAt: &due, Zone: "../../etc/passwd", Stage: evil, Verdict: model.Verdict(evil), Words: evil},
		{Excerpt: "", Verdict: model.Reject},
	}}
	one := m
	one.Posts = m.Posts[:1]
	n := Notice{Agency: evil, Client: evil, Network: evil, Account: evil, Excerpt: evil, Reason: evil, Say: evil, DueAt: &due, Zone: evil, Waiting: 1}
	return map[string]Letter{
		"review": pictured(ReviewRequest(evil, m, link, false), evil), "waiting": ApprovalWaiting(evil, m, link), "decision": Decision(evil, one, link), "decisions": Decision(evil, m, link), "back": GivenBack(evil, m, link),
		"failed": TargetFailed(evil, []Notice{n}, link), "check": ManualCheck(evil, []Notice{n}, link), "reconnect": NeedsReconnect(evil, n, link), "ends": ConnectionEnds(evil, []Notice{n}, link), "ends-many": ConnectionEnds(evil, []Notice{n, n}, link), "unscheduled": Unscheduled(evil, one, link), "passed": PlanPassed(evil, one, link), "reminder": Reminder(evil, waited(one), link, now), "escalation": Escalation(evil, waited(one), link, now), "nudge": ReviewReminder(evil, waited(one), link, now, true), "many": TargetFailed(evil, []Notice{n, n}, link),
	}
}

func pictured(l Letter, alt string) Letter {
	l.Show(0, "post-1.7", alt)
	return l
}

func TestHostileWordsStayWords(t *testing.T) {
	t.Parallel()
	for name, l := range hostile() {
		page, plain := drawn(t, l), l.Text()
		if strings.ContainsAny(l.Subject, "\r\n\x00\u202e\u2066") || utf8.RuneCountInString(l.Subject) > 1500 {
			t.Errorf("%s: subject %q", name, l.Subject)
		}
		for _, bad := range []string{"<script", "<img src=x", "<img src=\"x", "\r", "\x00", "\u202e", "\u2066", "\u200f"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s: %q came through", name, bad)
			}
		}
		if strings.ContainsAny(plain, "\r\x00\u202e") || strings.Contains(plain, "\nBcc:") {
			t.Errorf("%s: the plain part can be broken: %q", name, plain[:min(len(plain), 400)])
		}
		if !utf8.ValidString(page) || !utf8.ValidString(plain) || len(page) > 60_000 || len(plain) > 40_000 {
			t.Errorf("%s: %d and %d bytes", name, len(page), len(plain))
		}
	}
}

func TestAnAddressThatIsNoneIsNotLinked(t *testing.T) {
	t.Parallel()
	l := ApprovalWaiting("Mia", batch(), "javascript:alert(1)")
	if strings.Contains(drawn(t, l), `href="javascript:`) {
		t.Error("a script is linked")
	}
}

func TestLinesKeepWholeCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"  a \t b\r\nc ", 10, "a b c"},
		{"family 👩‍👩‍👧‍👧 and friends", 8, "family…"},
		{"family 👩‍👩‍👧‍👧 and friends", 9, "family 👩‍👩‍👧‍👧…"},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"", 3, ""},
		{"a\u2028b\u0085c", 9, "a b c"},
	} {
		if got := Line(c.in, c.n); got != c.want {
			t.Errorf("Line(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestTimesAreTheClientsAndAnUnknownZoneIsUTC(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string]string{
		"Europe/Berlin":                  "Tue 10 Mar 2026, 13:00 (Berlin)",
		"America/Argentina/Buenos_Aires": "Tue 10 Mar 2026, 09:00 (Buenos Aires)",
		"Moon/Base":                      "Tue 10 Mar 2026, 12:00 (UTC)",
		"":                               "Tue 10 Mar 2026, 12:00 (UTC)",
	} {
		if got := When(noon, zone); got != want {
			t.Errorf("%s: %s", zone, got)
		}
	}
	twice := time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC)
	if got := When(twice, "Europe/Berlin"); got != "Sun 25 Oct 2026, 02:30 (second time) (Berlin)" {
		t.Errorf("an hour that comes twice: %s", got)
	}
}

func TestABatchOfManyShowsSomeAndCountsTheRest(t *testing.T) {
	t.Parallel()
	m := batch()
	for len(m.Posts) < 33 {
		m.Posts = append(m.Posts, m.Posts[1])
	}
	l := ReviewRequest("Jonas", m, link, false)
	if len(l.Posts) != 20 || !strings.Contains(l.Text(), "And 13 more on the page.") || !strings.Contains(drawn(t, l), "And 13 more on the page.") {
		t.Errorf("%d posts shown:\n%s", len(l.Posts), l.Text())
	}
	if l.Subject != "Please review 33 posts for Harbour Coffee" {
		t.Errorf("subject %q", l.Subject)
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\r\nb", 5)
	f.Add("👩‍👩‍👧‍👧", 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = n%400 + 400 // 1 to 799
		got := Line(s, n)
		if strings.ContainsAny(got, "\r\n\x00\u2028\u202e") || !utf8.ValidString(got) || utf8.RuneCountInString(got) > 8*n {
			t.Errorf("Line(%q, %d) = %q", s, n, got)
		}
		if again := Line(got, n); again != got {
			t.Errorf("Line(%q, %d) = %q, and again %q", s, n, got, again)
		}
	})
}
