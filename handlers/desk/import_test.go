package desk_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"herald/db"
	"herald/db/dbtest"
)

// send brings a table along as a browser does.
func (b *wall) send(t *testing.T, who *db.Scope, name, table string, pairs ...string) *httptest.ResponseRecorder {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i+1 < len(pairs); i += 2 {
		_ = form.WriteField(pairs[i], pairs[i+1])
	}
	if name != "" {
		part, _ := form.CreateFormFile("file", name)
		_, _ = part.Write([]byte(table))
	}
	_ = form.Close()
	in := httptest.NewRecorder()
	if err := b.edge.Sessions.SignIn(in, httptest.NewRequest("POST", "/signin", nil), who.Actor.User); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/w/north/imports", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.AddCookie(in.Result().Cookies()[0])
	w := httptest.NewRecorder()
	b.mux.ServeHTTP(w, r)
	return w
}

func TestATableIsLookedAtBeforeItIsImported(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	client := []string{"client", fmt.Sprint(b.acme)}
	wantPage(t, b.send(t, b.agency.Owner, "", "", client...), 422, "Choose a file.")
	wantPage(t, b.send(t, b.agency.Owner, "x.csv", "Text\n", client...), 422, "This table has no rows.", "selected")
	wantPage(t, b.send(t, b.agency.Owner, "x.csv", "Text\nx\n"), 422, "Choose the client")
	got := b.send(t, b.agency.Owner, "plan <b>.csv", "Words,Wann,Network\n\"=1+1\nhello\",3/4/2026 10:00,mastodon\nbroken,never,mastodon\n", client...)
	there := got.Header().Get("Location")
	if got.Code != 303 || !strings.HasPrefix(there, "/w/north/imports/") {
		t.Fatalf("%d to %q: %s", got.Code, there, got.Body)
	}
	wantPage(t, owner("GET", there, nil), 200, "plan &lt;b&gt;.csv", "Say which column holds the text.", "What the columns mean")
	form := url.Values{"column": {"text", "day", "networks"}, "days": {"day"}, "do": {"look"}}
	page := owner("POST", there, form)
	wantPage(t, page, 200, "One row makes no post", "“never” is no day with a time", "=1+1", "Fri 3 Apr 2026, 10:00", "Import one post", "Mastodon @")
	form.Set("days", "month")
	wantPage(t, owner("POST", there, form), 200, "2 rows make no post", "That time has passed") // 4 March
	wantPage(t, owner("POST", there, url.Values{"column": {"text", "text", "networks"}, "do": {"start"}}), 422, "Two columns mean the same")
	form.Set("days", "day")
	form.Set("do", "start")
	for range 2 {
		if w := owner("POST", there, form); w.Code != 303 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	wantPage(t, owner("GET", there, nil), 200, "The import is about to begin.", "<progress")
	wantPage(t, owner("POST", there+"/removal", url.Values{}), 409, "This import is at work")
	again := b.send(t, b.agency.Owner, "same.csv", "Words,Wann,Network\n\"=1+1\nhello\",3/4/2026 10:00,mastodon\nbroken,never,mastodon\n", client...)
	if again.Code != 303 || again.Header().Get("Location") != there {
		t.Errorf("the same file leads to %q", again.Header().Get("Location"))
	}
	wantPage(t, owner("GET", "/w/north/imports", nil), 200, "plan &lt;b&gt;.csv", "0 of 2 rows done")
}

func TestRefusedRowsAreTakenAlongAsATableThatHarmsNobody(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	there := b.send(t, b.agency.Owner, "plan.csv", "Text,Network\n\"=HYPERLINK(\"\"http://evil.example\"\")\",nowhere\nfine,mastodon\n", "client", fmt.Sprint(b.acme)).Header().Get("Location")
	b.Super(t, dbtest.SecondShard, `UPDATE tenant.imports SET state = 'done', finished_at = now(), done = 2`)
	b.Super(t, dbtest.SecondShard, `INSERT INTO tenant.import_rows (tenant_id, import_id, row, say) SELECT tenant_id, id, 0, 'There is no network “nowhere”.' FROM tenant.imports`)
	page := owner("GET", there, nil)
	wantPage(t, page, 200, "No post made", "Line 2", "There is no network “nowhere”.", there+"/refused.csv")
	file := owner("GET", there+"/refused.csv", nil)
	want := "\ufeffText,Network,Problem\r\n\"'=HYPERLINK(\"\"http://evil.example\"\")\",nowhere,There is no network “nowhere”.\r\n"
	if got := file.Body.String(); got != want || !strings.Contains(file.Header().Get("Content-Disposition"), "plan refused.csv") {
		t.Errorf("%q, %q", got, file.Header().Get("Content-Disposition"))
	}
}
