package desk_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

// stock adds n pictures to the bakery's library, past the Scope, newest last. They
// are called 1.jpg to n.jpg.
func (s *studio) stock(t *testing.T, n int) (all []model.MediaID) {
	t.Helper()
	return dbtest.Look[[]model.MediaID](t, s.World, s.agency.Shard, `
		WITH made AS (
			INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, thumb_path, sha256, bytes, uploaded_bytes, width, height, tags, created_at)
			SELECT $1, $2, 'ready', 'image', 'image/jpeg', g || '.jpg', 'x.jpg', 'y.jpg', sha256(g::text::bytea), 1000, 1000, 300 + g % 2, 200 + g % 3 * 100, ARRAY['tag ' || g % 50],
			       $3::timestamptz + g * interval '1 second' FROM generate_series(1, $4::int) g RETURNING id, tenant_id, tags, name)
		, words AS (INSERT INTO tenant.media_words (tenant_id, word, media_id) SELECT tenant_id, w, id FROM made, unnest(ARRAY['#' || tags[1], split_part(name, '.', 1)]) w)
		SELECT array_agg(id ORDER BY id) FROM made`, s.agency.ID, s.client, dbtest.Noon, n)
}

// used is a planned post with the file.
func (s *studio) used(t *testing.T, text string, id model.MediaID) db.PostPage {
	t.Helper()
	page, err := s.agency.Owner.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: text, Accounts: []model.AccountID{s.account}, Media: []model.ContentMedia{{ID: id, Alt: "x"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestTheLibraryListsAndFiltersByItsAddress(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	list := s.stock(t, 70)
	s.used(t, "Fresh bread", list[3])
	page := s.get(t, s.owner, "/w/north/media").want(t, 200, "70.jpg", "11.jpg", "Show more", "69 KB stored", "Not used yet", "No alt text")
	if strings.Contains(page.body, ">10.jpg<") {
		t.Error("the first page shows more than 60 files")
	}
	more := page.href(t, "Show more")
	next := s.get(t, s.owner, more).want(t, 200, "10.jpg", "In one post")
	if next.says("Show more") || strings.Contains(next.body, ">11.jpg<") {
		t.Error("the second page is not the rest")
	}
	r, _ := http.NewRequestWithContext(t.Context(), "GET", s.server.URL+more, nil)
	r.Header.Set("HX-Request", "true")
	if part := s.do(t, s.owner, r); !strings.HasPrefix(part.body, "<li") || strings.Contains(part.body, "<html") || !part.says("10.jpg") {
		t.Errorf("for htmx: %.300s", part.body)
	}
	for query, want := range map[string]struct{ shows, hides string }{
		"use=used":                      {"4.jpg", "5.jpg"},
		"use=unused":                    {"70.jpg", ">4.jpg"},
		"kind=video":                    {"No file matches these filters", "70.jpg"},
		"shape=portrait":                {"68.jpg", "69.jpg"},
		"tag=tag+7&tag=nothing":         {"No file matches", "7.jpg"},
		"tag=tag+7":                     {"57.jpg", "58.jpg"},
		"q=12":                          {"12.jpg", "13.jpg"},
		"order=oldest":                  {"1.jpg", "70.jpg"},
		"standing=stopped":              {"No file matches", "70.jpg"},
		"folder=none":                   {"70.jpg", "No file"},
		"from=2026-03-11":               {"No file matches", "70.jpg"},
		"to=2026-03-10&from=2026-03-10": {"70.jpg", "No file matches"},
		"from=yesterday&kind=sculpture": {"70.jpg", "No file matches"},
	} {
		page := s.get(t, s.owner, "/w/north/media?"+query).want(t, 200, want.shows)
		if strings.Contains(page.body, want.hides+"<") {
			t.Errorf("%s shows %s", query, want.hides)
		}
	}
	for query, one := range map[string]bool{"": false, fmt.Sprintf("client=%d", s.client): true} { // whose files they are goes without saying
		if page := s.get(t, s.owner, "/w/north/media?"+query); strings.Contains(page.body, `data-of-one`) != one {
			t.Errorf("%q: of one client: %t", query, !one)
		}
	}
	for query, status := range map[string]int{"client=77": 404, "client=x": 404, "folder=77": 404, "after=nonsense": 422} {
		s.get(t, s.owner, "/w/north/media?"+query).want(t, status)
	}
}

// submit sends a form without files as a browser does.
func (s *studio) submit(t *testing.T, who *http.Client, path string, form url.Values) answer {
	t.Helper()
	r, _ := http.NewRequestWithContext(t.Context(), "POST", s.server.URL+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.do(t, who, r)
}

// href is where the link leads that says a text.
func (a answer) href(t *testing.T, text string) string {
	t.Helper()
	for _, part := range strings.Split(a.body, "<a ")[1:] {
		tag, rest, _ := strings.Cut(part, ">")
		inside, _, _ := strings.Cut(rest, "</a>")
		if strings.Contains(tags.ReplaceAllString(inside, ""), text) {
			_, to, _ := strings.Cut(tag, `href="`)
			to, _, _ = strings.Cut(to, `"`)
			return strings.ReplaceAll(to, "&amp;", "&")
		}
	}
	t.Fatalf("no link says %q", text)
	return ""
}

// TestTheLibraryTakesTheSameStatementsHoweverMuchIsInIt: a page of 10,000 files
// costs what a page of 60 does.
func TestTheLibraryTakesTheSameStatementsHoweverMuchIsInIt(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	count := &counter{}
	options := s.Options()
	options.Tracer = count
	store, err := db.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	s.edge.Store = store
	measure := func() int64 {
		before := count.n.Load()
		s.get(t, s.owner, "/w/north/media").want(t, 200)
		return count.n.Load() - before
	}
	s.stock(t, 60)
	few := measure()
	s.Super(t, s.agency.Shard, `DELETE FROM tenant.media`)
	list := s.stock(t, 10_000)
	if many := measure(); many != few || few > 40 {
		t.Errorf("%d statements for 60 files, %d for 10,000", few, many)
	}
	tag := func(n int) int64 {
		form := url.Values{"tags": {fmt.Sprint("of ", n)}, "do": {"add"}}
		for _, id := range list[:n] {
			form.Add("media", fmt.Sprint(id))
		}
		before := count.n.Load()
		if a := s.submit(t, s.owner, "/w/north/media/tags", form); a.status != 303 {
			t.Fatalf("tag %d files: status %d", n, a.status)
		}
		return count.n.Load() - before
	}
	if one, many := tag(1), tag(300); many != one {
		t.Errorf("%d statements to tag one file, %d for 300", one, many)
	}
	if n := s.count(t, "audit WHERE verb = 'tagged'"); n != 301 {
		t.Errorf("%d lines in the log, want one for each file", n)
	}
}

func TestChosenFilesAreTaggedMovedAndDeleted(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	list := s.stock(t, 3)
	ids := func(pairs ...string) url.Values {
		f := url.Values{"media": {fmt.Sprint(list[0]), fmt.Sprint(list[1])}, "back": {"/w/north/media?view=list"}}
		for i := 0; i < len(pairs); i += 2 {
			f.Set(pairs[i], pairs[i+1])
		}
		return f
	}
	back := func(a answer, says string) {
		t.Helper()
		if a.status != 303 || a.to != "/w/north/media?view=list" {
			t.Fatalf("status %d to %s: %s", a.status, a.to, tags.ReplaceAllString(a.body, " "))
		}
		s.get(t, s.owner, a.to).want(t, 200, says)
	}
	folder := s.submit(t, s.owner, "/w/north/folders", url.Values{"client": {fmt.Sprint(s.client)}, "name": {"Summer"}})
	s.get(t, s.owner, folder.to).want(t, 200, "The folder “Summer” is there.", "Nothing lies here")
	number := strings.TrimPrefix(folder.to, "/w/north/media?folder=")

	back(s.submit(t, s.owner, "/w/north/media/tags", ids("tags", "Bread, #rolls", "do", "add")), "Tagged 2 files.")
	s.get(t, s.owner, "/w/north/media?tag=bread&tag=rolls").want(t, 200, "1.jpg", "2.jpg")
	back(s.submit(t, s.owner, "/w/north/media/tags", ids("tags", "bread", "do", "remove")), "Took the tags away from 2 files.")
	back(s.submit(t, s.owner, "/w/north/media/moves", ids("folder", number)), "Moved 2 files.")
	s.get(t, s.owner, folder.to).want(t, 200, "1.jpg", "2.jpg")
	s.submit(t, s.owner, "/w/north/media/tags", ids("tags", " , ")).want(t, 422, "Write at least one tag.")
	s.submit(t, s.owner, "/w/north/media/tags", url.Values{"tags": {"x"}}).want(t, 422, "Choose at least one file.")
	s.submit(t, s.owner, "/w/north/media/moves", url.Values{"media": {"77"}, "folder": {"0"}}).want(t, 404)

	post := s.used(t, "Fresh bread from seven", list[0])
	asked := s.submit(t, s.owner, "/w/north/media/deletions", ids()).want(t, 200, "Delete 2 files?", "A post uses one of these files. If you delete it, that post cannot go out as it is.", "Fresh bread from seven", "Delete all the same")
	if !strings.Contains(asked.body, fmt.Sprintf("/w/north/posts/%d", post.Post.ID)) || s.count(t, "media WHERE state = 'deleted'") != 0 {
		t.Error("it does not lead to the post, or deleted without an answer")
	}
	back(s.submit(t, s.owner, "/w/north/media/deletions", ids("sure", "used")), "Deleted 2 files.")
	if s.count(t, "media WHERE state = 'deleted'") != 2 {
		t.Error("not deleted")
	}
	last := url.Values{"media": {fmt.Sprint(list[2])}}
	s.submit(t, s.owner, "/w/north/media/deletions", last).want(t, 200, "Delete one file?", "No post uses it.")
	s.used(t, "It was taken into a post meanwhile", list[2])
	last.Set("sure", "unused")
	s.submit(t, s.owner, "/w/north/media/deletions", last).want(t, 409, "It was taken into a post meanwhile")
	if s.count(t, "media WHERE state = 'deleted'") != 2 {
		t.Error("deleted although a post uses it by now")
	}
}

func TestFoldersKeepWhatLiesInThem(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	list := s.stock(t, 1)
	make := func(parent, name string) string {
		a := s.submit(t, s.owner, "/w/north/folders", url.Values{"client": {fmt.Sprint(s.client)}, "name": {name}, "parent": {parent}, "back": {"/w/north/media"}})
		if a.status != 303 {
			t.Fatalf("%s: %d: %s", name, a.status, tags.ReplaceAllString(a.body, " "))
		}
		return strings.TrimPrefix(a.to, "/w/north/media?folder=")
	}
	top := make("", "Summer")
	inner := make(top, "Raw")
	if a := s.get(t, s.owner, "/w/north/media?folder="+inner).want(t, 200, "Raw"); a.href(t, "Summer") != "/w/north/media?folder="+top {
		t.Error("the way up is missing")
	}
	again := url.Values{"client": {fmt.Sprint(s.client)}, "name": {"SUMMER"}, "back": {"/w/north/media?view=list"}}
	if a := s.submit(t, s.owner, "/w/north/folders", again).want(t, 422, "1.jpg"); !strings.Contains(a.body, `role="alert"`) {
		t.Error("it does not say why")
	}
	s.submit(t, s.owner, "/w/north/folders", url.Values{"name": {"x"}}).want(t, 422, "Choose the client whose folder this is.")
	s.submit(t, s.owner, "/w/north/folders/"+inner, url.Values{"name": {" "}, "back": {"/w/north/media?folder=" + inner}}).want(t, 422, "Give the folder a name.", "Raw")
	if a := s.submit(t, s.owner, "/w/north/folders/"+inner, url.Values{"name": {"Originals"}, "back": {"https://evil.example/"}}); a.to != "/w/north/media" {
		t.Errorf("renamed: %d to %s", a.status, a.to)
	}
	s.submit(t, s.owner, "/w/north/media/moves", url.Values{"media": {fmt.Sprint(list[0])}, "folder": {inner}})
	s.submit(t, s.owner, "/w/north/folders/"+top+"/removal", nil).want(t, 409, "There are folders in this folder.")
	if a := s.submit(t, s.owner, "/w/north/folders/"+inner+"/removal", nil); a.status != 303 {
		t.Errorf("removed: %d", a.status)
	}
	s.get(t, s.owner, "/w/north/media?folder="+top).want(t, 200, "1.jpg")
}

func TestAFileIsDescribedAndNothingTypedIsLost(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	one := s.stock(t, 1)[0]
	path := fmt.Sprintf("/w/north/media/%d", one)
	form := url.Values{"seen": {"1"}, "name": {"Loaf.jpg"}, "alt": {"A loaf on a table"}, "tags": {"Bread, Rye"}}
	if a := s.submit(t, s.owner, path, form); a.status != 303 || a.to != path {
		t.Fatalf("status %d to %s", a.status, a.to)
	}
	s.get(t, s.owner, path).want(t, 200, "Saved.", "Loaf.jpg", "A loaf on a table", "Which networks take it", "Pictures , not in reels and stories", "1000 characters")
	s.get(t, s.owner, "/w/north/media?q=rye+loaf+table").want(t, 200, "Loaf.jpg")
	form.Set("alt", "Overtaken")
	s.submit(t, s.owner, path, form).want(t, 409, "This file was changed while you had it open.", "Overtaken")
	form.Set("seen", "2")
	form.Set("alt", strings.Repeat("x", 5001))
	s.submit(t, s.owner, path, form).want(t, 422, "An alt text has at most 5000 characters", strings.Repeat("x", 5001))
	form.Set("alt", "ok")
	form.Set("tags", strings.Repeat("y", 51))
	s.submit(t, s.owner, path, form).want(t, 422, "A tag has at most 50 characters")
	s.get(t, s.owner, path).want(t, 200, "A loaf on a table")

	r, _ := http.NewRequestWithContext(t.Context(), "POST", s.server.URL+path, strings.NewReader(url.Values{"seen": {"2"}, "name": {"Loaf.jpg"}, "alt": {""}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("HX-Request", "true")
	a := s.do(t, s.owner, r).want(t, 200, "Saved.", "No alt text")
	if !strings.Contains(a.body, fmt.Sprintf(`hx-target="#asset-%d-face"`, one)) || strings.Contains(a.body, "<html") {
		t.Errorf("for htmx: %.400s", a.body)
	}
}

func TestTheLibraryShowsWhatIsOnItsWayAndWhatStopped(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	list := s.stock(t, 4)
	set := func(i int, state, reason string, progress int) {
		s.Super(t, s.agency.Shard, `UPDATE tenant.media SET state = $2, reason = $3, progress = $4, original_path = 'o.jpg' WHERE id = $1`, list[i], state, reason, progress)
	}
	set(0, "scanning", "The virus scanner is away. The file waits.", 0)
	set(1, "processing", "", 42)
	set(2, "refused", "This picture is cut short.", 0)
	set(3, "quarantined", "It holds Win.Test.EICAR.", 0)
	page := s.get(t, s.owner, "/w/north/media").want(t, 200, "Not yet scanned", "The virus scanner is away. The file waits.", "Being prepared", "Refused This picture is cut short.", "Quarantined")
	if !strings.Contains(page.body, `value="42"`) || strings.Contains(page.body, "/m/") {
		t.Error("progress is missing, or a link leads to what is not ready")
	}
	watch := fmt.Sprintf("/w/north/media/standings?media=%d&media=%d", list[1], list[0])
	if !strings.Contains(page.body, strings.ReplaceAll(watch, "&", "&amp;")) {
		t.Errorf("the page does not ask how they stand: %s", page.body)
	}
	set(0, "ready", "", 0)
	part := s.get(t, s.owner, watch).want(t, 200, "Being prepared", "Not used yet")
	if !strings.Contains(part.body, fmt.Sprintf(`hx-get="/w/north/media/standings?media=%d"`, list[1])) {
		t.Errorf("it does not ask on: %.300s", part.body)
	}
	s.get(t, s.owner, "/w/north/media?standing=stopped").want(t, 200, "Refused", "Quarantined")
	refused := fmt.Sprintf("/w/north/media/%d", list[2])
	s.get(t, s.owner, refused).want(t, 200, "Try again")
	if a := s.submit(t, s.owner, refused+"/retries", nil); a.status != 303 {
		t.Errorf("retry: %d", a.status)
	}
	s.get(t, s.owner, refused).want(t, 200, "Being checked")
	s.submit(t, s.owner, fmt.Sprintf("/w/north/media/%d/retries", list[3]), nil).want(t, 409, "This file is harmful and stays locked away.")
}

// A file's page shows how far what is made of it is, and asks on until all is there.
func TestAFileShowsHowFarItsRenditionsAre(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	one := s.stock(t, 1)[0]
	at := fmt.Sprintf("/w/north/media/%d", one)
	asks := fmt.Sprintf(`hx-get="%s"`, at)
	if page := s.get(t, s.owner, at).want(t, 200); strings.Contains(page.body, "Made for networks</h3>") || strings.Contains(page.body, asks) {
		t.Error("it asks for what nobody wants made")
	}
	s.Super(t, s.agency.Shard, `INSERT INTO tenant.media_renditions (tenant_id, media_id, recipe, state, progress, wanted_at) VALUES
		($1, $2, 'video/mp4 1920x1080 codec=h264', 'making', 42, $3), ($1, $2, 'video/mp4 1280x720 codec=h264', 'waiting', 0, $3)`, s.agency.ID, one, dbtest.Noon)
	page := s.get(t, s.owner, at).want(t, 200, "MP4, 1920 × 1080", "Being made", "MP4, 1280 × 720", "Waits to be made")
	if !strings.Contains(page.body, `value="42"`) || !strings.Contains(page.body, asks) || !strings.Contains(page.body, `hx-select="#asset-made"`) {
		t.Errorf("progress is missing, or it does not ask on: %s", page.body[strings.Index(page.body, `id="asset-made"`):])
	}
	s.Super(t, s.agency.Shard, `UPDATE tenant.media_renditions SET state = 'failed', reason = 'This video does not come down to 8 MB.' WHERE state = 'waiting'`)
	s.Super(t, s.agency.Shard, `UPDATE tenant.media_renditions SET state = 'ready', progress = 100, path = 'x', bytes = 2000000, width = 1920, height = 1080 WHERE state = 'making'`)
	if page := s.get(t, s.owner, at).want(t, 200, "MP4, 1920 × 1080", "1.9 MB", "This video does not come down to 8 MB.", "Try again"); strings.Contains(page.body, asks) {
		t.Error("it asks on for what is there")
	}
	// Of a video that browsers do not play, one that they do is offered first.
	for codec, sources := range map[string]int{"h264": 1, "hevc": 2} {
		s.Super(t, s.agency.Shard, `UPDATE tenant.media SET kind = 'video', type = 'video/mp4', video_codec = $1`, codec)
		if page := s.get(t, s.owner, at).want(t, 200); strings.Count(page.body, "<source") != sources {
			t.Errorf("%s: %d sources, want %d", codec, strings.Count(page.body, "<source"), sources)
		}
	}
	s.get(t, s.owner, at+"/standing").want(t, 200, "MP4, 1920 × 1080") // the part that a file on its way asks for brings it along
}

func TestTheLibrarySaysHowFullItIs(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.stock(t, 95)
	for limit, says := range map[int]string{1_000_000: "93 KB of 977 KB used", 100_000: "93 KB of 98 KB used", 95_000: "It is full: delete files, or ask for more room"} {
		s.Super(t, s.agency.Shard, `UPDATE tenant.tenants SET media_bytes = $1`, limit)
		s.get(t, s.owner, "/w/north/media").want(t, 200, says)
	}
}

// TestWhoMayOnlyLookGetsNoForms: a viewer sees files and no way to change them, and
// of the posts that use them nothing that they may not see.
func TestWhoMayOnlyLookGetsNoForms(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	one := s.stock(t, 1)[0]
	s.used(t, "Not for everybody", one)
	viewer := s.signIn(t, s.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{s.client: {model.MediaView}}))
	page := s.get(t, viewer, "/w/north/media").want(t, 200, "1.jpg")
	asset := s.get(t, viewer, fmt.Sprintf("/w/north/media/%d", one)).want(t, 200, "A post that you may not see")
	for _, body := range []string{page.body, asset.body} {
		main := body[strings.Index(body, "<main"):]
		if strings.Contains(main[:strings.Index(main, "</main>")], `method="post"`) || strings.Contains(body, "Not for everybody") {
			t.Errorf("it shows too much: %s", main)
		}
	}
	s.submit(t, viewer, "/w/north/media/tags", url.Values{"media": {fmt.Sprint(one)}, "tags": {"x"}}).want(t, 403)
}

func TestFilesGoIntoTheLibraryByAPlainForm(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.get(t, s.owner, "/w/north/media").want(t, 200, "Drop files anywhere on this page")
	folder := s.submit(t, s.owner, "/w/north/folders", url.Values{"client": {fmt.Sprint(s.client)}, "name": {"Summer"}}).to
	form := s.get(t, s.owner, strings.Replace(folder, "/media?", "/media/new?", 1)).want(t, 200, "They go to Summer.")
	if !strings.Contains(form.body, `name="folder" value="`+strings.TrimPrefix(folder, "/w/north/media?folder=")) {
		t.Error("the form does not say the folder")
	}
	place := url.Values{"client": {fmt.Sprint(s.client)}, "folder": {strings.TrimPrefix(folder, "/w/north/media?folder=")}, "back": {folder}}
	jpg := photo(t, 300, 200, 90)
	a := s.post(t, s.owner, "/w/north/media/files", place, file{"a.jpg", jpg}, file{"b.mp4", picked(t, "landscape.mp4")})
	if a.status != 303 || a.to != folder {
		t.Fatalf("status %d to %s: %s", a.status, a.to, tags.ReplaceAllString(a.body, " "))
	}
	s.get(t, s.owner, folder).want(t, 200, "2 files in the library now.", "a.jpg", "b.mp4")
	a = s.post(t, s.owner, "/w/north/media/files", place, file{"again.jpg", jpg})
	s.get(t, s.owner, a.to).want(t, 200, "“again.jpg” was in the client's library already")
	s.post(t, s.owner, "/w/north/media/files", place, file{"c.jpg", photo(t, 30, 20, 4)}, file{"d.jpg", []byte("<html>")}).
		want(t, 422, "One file was not taken", "“d.jpg” is a web page (HTML)", "One file in the library now.", "They go to Summer.")
	s.post(t, s.owner, "/w/north/media/files", place).want(t, 422, "Choose a file first.")
	place.Del("client")
	s.post(t, s.owner, "/w/north/media/files", place, file{"e.jpg", jpg}).want(t, 422, "Choose the client whose files these are.")
}

// A picture may have less than a video, and a plain form takes less than script does.
func TestWhereFilesArePutItSaysHowLargeTheyMayBe(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	for limit, says := range map[int64]map[string]string{
		4 << 30:  {"/media": "GIF or HEIC up to 50 MB, PDF up to 100 MB, MP4 or MOV up to 4 GB", "/posts/new": "GIF or HEIC up to 50 MB, PDF up to 100 MB, MP4 or MOV up to 4 GB", "/media/new": "GIF or HEIC up to 50 MB, PDF up to 100 MB, MP4 or MOV up to 512 MB"},
		20 << 20: {"/media": "HEIC, MP4, MOV or PDF, up to 20 MB each", "/posts/new": "HEIC, MP4, MOV or PDF, up to 20 MB each", "/media/new": "HEIC, MP4, MOV or PDF, up to 20 MB each"},
	} {
		s.desk.Limits.UploadBytes = limit
		for at, say := range says {
			s.get(t, s.owner, "/w/north"+at).want(t, 200, say)
		}
	}
}

func TestFilesGoIntoTheLibraryByAddress(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	at := elsewhere(t, map[string][]byte{"/loaf.jpg": photo(t, 300, 200, 90), "/page.jpg": []byte("<!doctype html>")})
	folder := s.submit(t, s.owner, "/w/north/folders", url.Values{"client": {fmt.Sprint(s.client)}, "name": {"Summer"}}).to
	form := func(addresses string) url.Values {
		return url.Values{"client": {fmt.Sprint(s.client)}, "folder": {strings.TrimPrefix(folder, "/w/north/media?folder=")}, "back": {folder}, "do": {"fetch"}, "address": {addresses}}
	}
	a := s.post(t, s.owner, "/w/north/media/files", form(at+"/loaf.jpg"))
	if a.status != 303 || a.to != folder {
		t.Fatalf("status %d to %s: %s", a.status, a.to, tags.ReplaceAllString(a.body, " "))
	}
	s.get(t, s.owner, folder).want(t, 200, "One file in the library now.", "loaf.jpg")
	page := s.post(t, s.owner, "/w/north/media/files", form(at+"/page.jpg "+at+"/loaf.jpg")).
		want(t, 422, "One file was not taken", "“page.jpg” is a web page (HTML)", "“loaf.jpg” was in the client's library already")
	if !strings.Contains(page.body, `value="`+at+`/page.jpg"`) || strings.Contains(page.body, at+"/loaf.jpg") {
		t.Error("it does not offer to try the address again that failed, and no other")
	}
	s.post(t, s.owner, "/w/north/media/files", form("https://10.0.0.1/photo.jpg")).want(t, 422, "lies inside a private network")
	s.post(t, s.owner, "/w/north/media/files", form(" ")).want(t, 422, "Enter the address of a file first.")
	if n := s.count(t, "media"); n != 1 {
		t.Errorf("%d files", n)
	}
}

// TestAnAddressIsFetchedInPlace: the answer is the part of the form that takes
// addresses, with what to correct in it, or the files that came.
func TestAnAddressIsFetchedInPlace(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	defer s.develop(t)()
	at := elsewhere(t, map[string][]byte{"/loaf.jpg": photo(t, 300, 200, 90), "/page.jpg": []byte("<!doctype html>")})
	ask := func(client, addresses string) answer {
		r := s.request(t, "/w/north/media/files", url.Values{"client": {client}, "back": {"/w/north/media"}, "do": {"fetch"}, "address": {addresses}})
		r.Header.Set("HX-Request", "true")
		a := s.do(t, s.owner, r)
		if !strings.HasPrefix(a.body, `<div class="upload-address" id="upload-address-part">`) {
			t.Errorf("%s: %.300s", addresses, a.body)
		}
		return a
	}
	client := fmt.Sprint(s.client)
	a := ask(client, at+"/page.jpg "+at+"/loaf.jpg").want(t, 422, "“page.jpg” is a web page (HTML)")
	if strings.Count(a.body, "data-came=") != 1 || !strings.Contains(a.body, `value="`+at+`/page.jpg"`) {
		t.Errorf("one came, one did not: %s", a.body)
	}
	if a = ask(client, at+"/loaf.jpg").want(t, 200, "“loaf.jpg” was in the client's library already"); strings.Count(a.body, "data-came=") != 1 {
		t.Errorf("the same again: %s", a.body)
	}
	if a = ask("", at+"/loaf.jpg").want(t, 422, "Choose the client whose files these are."); !strings.Contains(a.body, at+"/loaf.jpg") {
		t.Errorf("the address is lost: %s", a.body)
	}
	ask(client, "https://10.0.0.1/photo.jpg").want(t, 422, "lies inside a private network")
	ask(client, " ").want(t, 422, "Enter the address of a file first.")
}

func TestACardBeginsAsItsBlurUnlessThatWouldShineThrough(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	var logo bytes.Buffer
	if err := png.Encode(&logo, image.NewNRGBA(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	place := url.Values{"client": {fmt.Sprint(s.client)}}
	s.post(t, s.owner, "/w/north/media/files", place, file{"photo.jpg", photo(t, 300, 200, 90)}, file{"logo.png", logo.Bytes()})
	page := s.get(t, s.owner, "/w/north/media").want(t, 200, "photo.jpg", "logo.png")
	if n := strings.Count(page.body, `class="asset-image"`); n != 2 {
		t.Fatalf("%d thumbnails", n)
	}
	if n := strings.Count(page.body, `src="data:image/bmp;base64,`); n != 1 {
		t.Errorf("%d blurs, want the photo's", n)
	}
}
