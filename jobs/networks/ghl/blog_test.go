package ghl

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/nettest"
)

// blog is a blog as far as these tests need it.
type blog struct {
	posts   string // of the list
	updated string
	taken   bool
	drafts  int
	refuse  string // the answer to a draft, which is made all the same if it is listed
	down    bool   // the list is
}

func (s *blog) answer(c nettest.Call) nettest.Answer {
	switch c.Name() {
	case "POST medias/upload-file":
		return nettest.Answer{Body: `{"fileId":"f1","url":"https://storage.example/loaf.jpg"}`}
	case "GET blogs/posts/url-slug-exists":
		return nettest.Answer{Body: fmt.Sprintf(`{"exists":%t}`, s.taken)}
	case "POST blogs/posts":
		s.drafts++
		if s.refuse != "" {
			return nettest.Answer{Status: 422, Body: s.refuse}
		}
		return nettest.Answer{Status: 201, Body: `{"data":{"_id":"p1","status":"DRAFT"}}`}
	case "PUT blogs/posts/p1":
		return nettest.Answer{Body: s.updated}
	case "GET blogs/posts/all":
		if s.down {
			return nettest.Answer{Status: 429, Body: `{"statusCode":429,"message":"Too Many Requests"}`}
		}
		return nettest.Answer{Body: `{"blogs":[` + s.posts + `]}`}
	case "GET blogs/categories":
		return nettest.Answer{Body: `{"categories":[{"_id":"c1","label":"News"},{"_id":"c2","label":"Bread; rolls"}]}`}
	case "GET blogs/authors":
		return nettest.Answer{Body: `{"authors":[{"_id":"nora1","name":"Nora"}]}`}
	case "GET blogs/site/all":
		return nettest.Answer{Body: `{"data":[{"_id":"b2","name":"Another"},{"_id":"b1","name":"The oven"}]}`}
	}
	return nettest.Answer{Status: 404, Body: `{"statusCode":404,"message":"Not Found"}`}
}

const updated = `{"updatedBlogPost":{"_id":"p1","status":"PUBLISHED","urlSlug":"a-loaf","canonicalLink":"https://oven.example/post/a-loaf"}}`

func openBlog(t testing.TB, s *blog) (*nettest.Host, *Blog) {
	h := nettest.New(t, s.answer)
	return h, NewBlog(networks.Env{Base: h.URL + "/x", HTTP: h.Client, Guarded: h.Client, Now: func() time.Time { return nettest.Noon }})
}

func article1(options map[string]string) networks.Job {
	all := map[string]string{"title": "A loaf", "excerpt": "How it is made", "author": "nora1"}
	for key, v := range options {
		all[key] = v
	}
	picture := networks.Media{Media: network.Media{Kind: network.Image, Type: "image/jpeg", Bytes: 3, Alt: "A loaf"}, Name: "loaf.jpg",
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("jpg")), nil }}
	return networks.Job{Key: "k", Attempt: 1, Post: networks.Post{Format: network.FormatImage, Text: "Take <flour>\n\nand water", Link: "https://oven.example", Media: []networks.Media{picture}, Options: all},
		Account: networks.Account{Network: network.GHLBlog, RemoteID: "b1", Token: secret.NewToken("pit-1"), Settings: map[string]string{"location_id": "loc"}}}
}

func (s *blog) publish(t *testing.T, b *Blog, job networks.Job, h networks.Handles) (networks.Receipt, error) {
	t.Helper()
	ready, err := b.Prepare(t.Context(), job, h)
	if err != nil {
		return networks.Receipt{}, err
	}
	return b.Commit(t.Context(), ready)
}

// TestABlogPostIsADraftOfOursThatIsThenPublished holds both calls against the members
// that GoHighLevel documents.
func TestABlogPostIsADraftOfOursThatIsThenPublished(t *testing.T) {
	t.Parallel()
	s := &blog{updated: updated}
	h, b := openBlog(t, s)
	job := article1(map[string]string{"slug": "a-loaf", "categories": "news, Rolls", "tags": "bread, #oven"})
	kept := h.Handles()
	_, err := s.publish(t, b, job, kept)
	wantKind(t, err, fault.Validation, "no_category")
	job.Post.Options["categories"] = "news, bread; rolls"
	r, err := s.publish(t, b, job, kept)
	if err != nil || r.ExternalID != "p1" || r.Permalink != "https://oven.example/post/a-loaf" || h.Count("POST medias/upload-file") != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	const frame = `{"title":"A loaf","locationId":"loc","blogId":"b1","imageUrl":"https://storage.example/loaf.jpg","description":"How it is made",` +
		`"rawHTML":"<p>Take &lt;flour&gt;</p>\n\n<p>and water</p>\n\n<p>https://oven.example</p>","status":%q,"imageAltText":"A loaf","categories":["c1","c2"],"tags":["bread","oven"],` +
		`"author":"nora1","urlSlug":%q,"publishedAt":"2026-05-01T10:00:00.000Z"}`
	for _, c := range h.Calls() {
		switch c.Name() {
		case "POST blogs/posts":
			wantJSON(t, c.File, fmt.Sprintf(frame, "DRAFT", keySlug(job)))
		case "PUT blogs/posts/p1":
			wantJSON(t, c.File, fmt.Sprintf(frame, "PUBLISHED", "a-loaf"))
		}
		if c.Header.Get("Version") != "v3" || c.Header.Get("Authorization") != "Bearer pit-1" {
			t.Errorf("%s: %v", c.Name(), c.Header)
		}
	}
	if !strings.HasPrefix(keySlug(job), "a-loaf-") || len(keySlug(job)) != len("a-loaf-")+12 {
		t.Errorf("our slug is %s", keySlug(job))
	}
}

func wantJSON(t *testing.T, got, want string) {
	t.Helper()
	var a, b any
	if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		t.Fatalf("no JSON: %s or %s", got, want)
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if string(x) != string(y) {
		t.Errorf("sent %s\nwant %s", x, y)
	}
}

func TestABlogPostIsRefusedBeforeAnythingIsMade(t *testing.T) {
	t.Parallel()
	s := &blog{taken: true}
	h, b := openBlog(t, s)
	for code, job := range map[string]networks.Job{"slug_taken": article1(map[string]string{"slug": "a-loaf"}), "options_missing": article1(map[string]string{"author": ""})} {
		_, err := s.publish(t, b, job, h.Handles())
		wantKind(t, err, fault.Validation, code)
	}
	job := article1(nil)
	job.Account.Settings = nil
	_, err := s.publish(t, b, job, h.Handles())
	wantKind(t, err, fault.Validation, "location_missing")
	if s.drafts != 0 {
		t.Errorf("%d drafts were made", s.drafts)
	}
}

// TestADraftWhoseAnswerWasLostIsFoundByItsSlug and not made a second time.
func TestADraftWhoseAnswerWasLostIsFoundByItsSlug(t *testing.T) {
	t.Parallel()
	job := article1(nil)
	s := &blog{updated: updated, posts: `{"_id":"p9","urlSlug":"another"},{"_id":"p1","status":"DRAFT","urlSlug":"` + keySlug(job) + `"}`}
	h, b := openBlog(t, s)
	kept := h.Handles()
	kept.Kept["draft.began"] = nettest.Noon.Add(-time.Minute).Format(time.RFC3339)
	if _, err := s.publish(t, b, job, kept); err != nil || s.drafts != 0 || kept.Kept["draft"] != "p1" {
		t.Errorf("%d drafts, %v", s.drafts, err)
	}
}

// TestADraftThatWasRefusedIsLookedFor: a 422 stands for a draft that was made too, and
// while the list cannot say so none is made beside it.
func TestADraftThatWasRefusedIsLookedFor(t *testing.T) {
	t.Parallel()
	s := &blog{updated: updated, refuse: `{"statusCode":422,"message":["no"]}`, down: true}
	h, b := openBlog(t, s)
	job, kept := article1(nil), h.Handles()
	_, err := s.publish(t, b, job, kept)
	wantKind(t, err, fault.Transient, "not_listed")
	s.down, s.posts = false, `{"_id":"p1","status":"DRAFT","urlSlug":"`+keySlug(job)+`"}`
	if r, err := s.publish(t, b, job, kept); err != nil || r.ExternalID != "p1" || s.drafts != 1 {
		t.Errorf("%+v, %v after %d drafts", r, err, s.drafts)
	}
	if r, err := s.publish(t, b, job, h.Handles()); err != nil || r.ExternalID != "p1" {
		t.Errorf("%+v, %v", r, err)
	}
	s.posts = ""
	_, err = s.publish(t, b, job, h.Handles())
	wantKind(t, err, fault.Validation, "invalid")
}

func TestWhatBecameOfADraft(t *testing.T) {
	t.Parallel()
	for posts, want := range map[string]networks.Verdict{
		`{"_id":"p1","status":"PUBLISHED","canonicalLink":"https://oven.example/post/a"}`: networks.Found, `{"_id":"p1","status":"DRAFT"}`: networks.Absent,
		`{"_id":"p2","status":"PUBLISHED"}`: networks.CantTell, ``: networks.CantTell, `{"_id":"p1","status":"ARCHIVED"}`: networks.CantTell, `{"_id":"p1","status":"PUBLISHED","archived":true}`: networks.CantTell,
	} {
		h, b := openBlog(t, &blog{posts: posts})
		kept := h.Handles()
		kept.Kept["draft"] = "p1"
		f, err := b.Find(t.Context(), article1(nil), kept, networks.Window{})
		if err != nil || f.Verdict != want || f.Verdict == networks.Found && f.Receipt.Permalink == "" {
			t.Errorf("%s: %+v, %v", posts, f, err)
		}
	}
	h, b := openBlog(t, &blog{})
	if f, err := b.Find(t.Context(), article1(nil), h.Handles(), networks.Window{}); err != nil || f.Verdict != networks.Absent || len(h.Calls()) != 0 {
		t.Errorf("without a draft: %+v, %v", f, err)
	}
}

func TestAnAnswerAboutAnotherPostDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"updatedBlogPost":{"_id":"p2","status":"PUBLISHED"}}`, `{"updatedBlogPost":{"_id":"p1","status":"DRAFT"}}`, `{}`, `<html>`} {
		s := &blog{updated: body}
		h, b := openBlog(t, s)
		_, err := s.publish(t, b, article1(nil), h.Handles())
		wantKind(t, err, fault.Unknown, "unparsable")
	}
}

func TestCheckKnowsTheBlogAndLearnsWhatThereIsToChoose(t *testing.T) {
	t.Parallel()
	_, b := openBlog(t, &blog{})
	p, err := b.Check(t.Context(), article1(nil).Account)
	if err != nil || p.Handle != "The oven" || p.Settings["authors"] != "nora1=Nora" || p.Settings["categories"] != "c1=News;c2=Bread%3B rolls" {
		t.Errorf("%+v, %v", p, err)
	}
	other := article1(nil).Account
	other.RemoteID = "b3"
	_, err = b.Check(t.Context(), other)
	wantKind(t, err, fault.Permission, "not_connected")
}

func FuzzABlogsRefusals(f *testing.F) {
	_, b := openBlog(f, &blog{})
	nettest.FuzzTable(f, b.door.Table, `{"statusCode":422,"message":["title should not be empty"]}`, `{"message":"urlSlug already exists"}`)
}
