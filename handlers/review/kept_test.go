package review_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
)

const wish = "Less <b>red</b>, please"

// wishShown is the wish as a field shows it.
const wishShown = "Less &lt;b&gt;red&lt;/b&gt;, please</textarea>"

// wishing is the form of a page that asks for changes.
func (s *site) wishing(t *testing.T, page string) url.Values {
	t.Helper()
	f := form(t, page, "/decisions")
	f.Set("verdict", "request_changes")
	f.Set("words", wish)
	return f
}

func (s *site) edit(t *testing.T, post db.PostPage, text string) db.PostPage {
	t.Helper()
	now, err := s.agency.Owner.Post(t.Context(), post.Post.ID)
	if err != nil {
		t.Fatal(err)
	}
	content := now.Version.Content
	content.Text = text
	edited, err := s.agency.Owner.SavePost(t.Context(), post.Post.ID, db.PostForm{Seen: now.Post.Revision, Content: content})
	if err != nil {
		t.Fatal(err)
	}
	return edited
}

// field is what the field of a form holds.
func field(t *testing.T, page, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `name="`+name+`"`)
	if !ok {
		t.Fatalf("the page has no field %s", name)
	}
	_, rest, _ = strings.Cut(rest, ">")
	text, _, _ := strings.Cut(rest, "</textarea>")
	return strings.TrimSpace(text)
}

func TestWordsOnALinkThatEndedAreShownUntilTheFreshOneIsAskedFor(t *testing.T) {
	t.Parallel()
	for why, end := range map[string]func(*site){
		"ran out":   func(s *site) { s.Clock.Advance(15 * 24 * time.Hour) },
		"took this": func(s *site) { s.Super(t, dbtest.SecondShard, `UPDATE tenant.review_links SET revoked_at = now()`) },
	} {
		s := newSite(t)
		path := s.ask(t, "dana@client.example", s.agency.Post(t, "Hello", s.account))
		page := s.get(t, path).body
		end(s)
		late := s.do(t, "POST", path+"/decisions", s.wishing(t, page))
		s.wantStatus(t, late, 410, why, "This link no longer works", "What you wrote was not recorded, and it is not lost", wishShown)
		remark := form(t, page, "/comments")
		remark.Set("body", wish)
		s.wantStatus(t, s.do(t, "POST", path+"/comments", remark), 410, wishShown)
		s.wantStatus(t, s.do(t, "POST", path+"/links", form(t, late.body, "/links")), 200, "A fresh link is on its way", "What you wrote is still below", wishShown)
		again := s.wishing(t, s.get(t, s.link(t, "dana@client.example")).body)
		s.wantStatus(t, s.do(t, "POST", s.link(t, "dana@client.example")+"/decisions", again), 303)
	}
}

func TestWordsOfSomebodyWhoIsNoApproverAnyMoreAreShownWithoutAWayOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.ask(t, "dana@client.example", s.agency.Post(t, "Hello", s.account))
	page := s.get(t, path).body
	s.Super(t, dbtest.SecondShard, `UPDATE tenant.approvers SET revoked_at = now()`)
	late := s.do(t, "POST", path+"/decisions", s.wishing(t, page))
	s.wantStatus(t, late, 410, "no longer asks you for approvals", "another way", wishShown)
	if strings.Contains(late.body, "/links") {
		t.Error("a fresh link is offered to somebody who is asked no more")
	}
}

func TestAPageThatIsOldComesBackFreshWithItsWords(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.ask(t, "dana@client.example", s.agency.Post(t, "Hello", s.account), s.agency.Post(t, "There", s.account))
	page := s.get(t, path).body
	s.Clock.Advance(25 * time.Hour)

	remark := form(t, page, "/comments")
	remark.Set("body", "One question")
	back := s.do(t, "POST", path+"/comments", remark)
	s.wantStatus(t, back, 403, "open for too long", "nothing was recorded")
	if got := field(t, back.body, "body"); got != "One question" {
		t.Errorf("the comment is %q", got)
	}
	remark.Set("page", form(t, back.body, "/comments").Get("page"))
	s.wantStatus(t, s.do(t, "POST", path+"/comments", remark), 303)

	back = s.do(t, "POST", path+"/decisions", s.wishing(t, page))
	s.wantStatus(t, back, 403, wishShown, `<details class="review-no" open>`)
	if strings.Contains(back.body, "Your role") || s.decisions(t) != 0 {
		t.Errorf("%d decisions, or a word of a role to a client", s.decisions(t))
	}
	s.wantStatus(t, s.do(t, "POST", path+"/decisions", s.wishing(t, back.body)), 303)
	if said := dbtest.Look[string](t, s.World, dbtest.SecondShard, `SELECT words FROM tenant.decisions`); said != wish {
		t.Errorf("recorded %q", said)
	}
	old := s.do(t, "POST", path+"/links", form(t, page, "/comments"))
	s.wantStatus(t, old, 403, "open for too long")
}

func TestWordsAboutAVersionThatIsGoneCanBeSentAsAComment(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	post := s.agency.Post(t, "Open on Monday", s.account)
	path := s.ask(t, "dana@client.example", post)
	page := s.get(t, path).body
	s.edit(t, post, "Open on Tuesday")

	back := s.do(t, "POST", path+"/decisions", s.wishing(t, page))
	s.wantStatus(t, back, 409, wishShown, "Send them as a comment")
	remark := form(t, back.body, "/comments")
	remark.Set("body", field(t, back.body, "body"))
	s.wantStatus(t, s.do(t, "POST", path+"/comments", remark), 303)
}

func TestWordsAboutAnOlderVersionGoToTheNewerOne(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	post := s.agency.Post(t, "Open on Monday", s.account)
	path := s.ask(t, "dana@client.example", post)
	page := s.get(t, path).body
	s.ask(t, "dana@client.example", s.edit(t, post, "Open on Tuesday"))

	var back answer
	for _, status := range []int{409, 403} {
		if status == 403 {
			s.Clock.Advance(25 * time.Hour)
		}
		back = s.do(t, "POST", path+"/decisions", s.wishing(t, page))
		s.wantStatus(t, back, status, "This is a newer version")
		if got := field(t, back.body, "words"); !strings.Contains(got, "Less &lt;b&gt;") {
			t.Errorf("%d: the field holds %q", status, got)
		}
	}
	s.wantStatus(t, s.do(t, "POST", path+"/decisions", s.wishing(t, back.body)), 303)
}

func TestWordsAfterTheDecisionAreNotSwallowed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.ask(t, "dana@client.example", s.agency.Post(t, "Hello", s.account))
	first := s.wishing(t, s.get(t, path).body)
	s.wantStatus(t, s.do(t, "POST", path+"/decisions", first), 303)
	s.wantStatus(t, s.do(t, "POST", path+"/decisions", first), 303) // pressed twice
	first.Set("words", "And a larger logo")
	back := s.do(t, "POST", path+"/decisions", first)
	s.wantStatus(t, back, 409, "You have already decided on this", "Send them as a comment")
	if got := field(t, back.body, "body"); got != "And a larger logo" {
		t.Errorf("the comment holds %q", got)
	}
}
