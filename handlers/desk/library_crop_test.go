package desk_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"herald/db/model"
)

// part is what the numbers of a crop form say.
func (a answer) part(t *testing.T) string {
	t.Helper()
	var list []string
	for _, name := range []string{"x", "y", "width", "height"} {
		m := regexp.MustCompile(`<input[^>]* name="` + name + `"[^>]*>`).FindString(a.body)
		v := regexp.MustCompile(` value="([^"]*)"`).FindStringSubmatch(m)
		if v == nil {
			t.Fatalf("no number %s: %.2000s", name, a.body)
		}
		list = append(list, v[1])
	}
	return strings.Join(list, " ")
}

func TestACropIsChosenByNumbersAndCutsNothing(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	one := s.stock(t, 1)[0] // 301 × 300
	asset := fmt.Sprintf("/w/north/media/%d", one)
	crop := asset + "/crop"
	page := s.get(t, s.owner, crop+"?preset=instagram%2Fpost").want(t, 200, "Crop for Instagram post", "Instagram post takes shapes between 4:5 and 1.91:1.")
	if got := page.part(t); got != "0 0 301 300" {
		t.Errorf("the picture fits as it is, but the crop begins with %s", got)
	}
	if got := s.get(t, s.owner, crop+"?preset=instagram%2Fstory").want(t, 200, "Instagram story wants 9:16.").part(t); got != "69 6 162 288" {
		t.Errorf("a story begins with %s, want 9:16 in the middle", got)
	}
	form := func(pairs ...string) url.Values {
		f := url.Values{"preset": {"instagram/post"}, "shape": {"4:5"}, "do": {"save"}, "back": {asset}, "x": {"50"}, "y": {"0"}, "width": {"240"}, "height": {"300"}}
		for i := 0; i < len(pairs); i += 2 {
			f.Set(pairs[i], pairs[i+1])
		}
		return f
	}
	if got := s.submit(t, s.owner, crop, form("do", "fit")).want(t, 200).part(t); got != "30 0 240 300" {
		t.Errorf("4:5 begins with %s", got)
	}
	if a := s.submit(t, s.owner, crop, form()); a.status != 303 || a.to != asset {
		t.Fatalf("status %d to %s: %s", a.status, a.to, tags.ReplaceAllString(a.body, " "))
	}
	s.get(t, s.owner, asset).want(t, 200, "Cropped for Instagram post.", "Instagram post 240 × 300", "301 × 300")
	if s.count(t, "media") != 1 || s.get(t, s.owner, crop+"?preset=instagram%2Fpost").part(t) != "50 0 240 300" {
		t.Error("the crop is not what was chosen, or a second file was made")
	}
	for what, f := range map[string]url.Values{
		"The crop lies outside of the picture.":                                 form("x", "100"),
		"Instagram post does not take this shape. Choose one of those offered.": form("width", "30"),
		"The crop lies outside":                                                 form("width", "-5"),
	} {
		s.submit(t, s.owner, crop, f).want(t, 422, what)
	}
	s.submit(t, s.owner, crop, form("x", "nonsense")).want(t, 422, "The crop lies outside")
	s.submit(t, s.owner, crop, form("preset", "nowhere/post")).want(t, 404)
	s.get(t, s.owner, crop+"?preset=nowhere").want(t, 404, "Herald has no such crop.")
	s.submit(t, s.owner, crop, form("do", "whole"))
	if got := s.get(t, s.owner, crop+"?preset=instagram%2Fpost").part(t); got != "0 0 301 300" {
		t.Errorf("after it was taken back it begins with %s", got)
	}
	s.Super(t, s.agency.Shard, `UPDATE tenant.media SET state = 'processing'`)
	s.get(t, s.owner, crop+"?preset=instagram%2Fpost").want(t, 409, "This file is still being prepared.")
	s.Super(t, s.agency.Shard, `UPDATE tenant.media SET state = 'quarantined'`)
	s.get(t, s.owner, crop+"?preset=instagram%2Fpost").want(t, 409, "This file was refused when it was checked")
}

// TestCropsOfTheClientsNetworksComeFirst: the others wait in a fold, until one is
// chosen.
func TestCropsOfTheClientsNetworksComeFirst(t *testing.T) {
	t.Parallel()
	s := newStudio(t) // the client's account is one on Mastodon
	asset := fmt.Sprintf("/w/north/media/%d", s.stock(t, 1)[0])
	folded := func(preset string) bool {
		page := s.get(t, s.owner, asset).want(t, 200, "Networks that the client has no account on").body
		link, fold := strings.Index(page, "?preset="+url.QueryEscape(preset)), strings.Index(page, `class="fold crops-later"`)
		if link < 0 {
			t.Fatalf("no crop for %s", preset)
		}
		return link > fold
	}
	if folded("mastodon/post") || !folded("instagram/post") {
		t.Error("the client's network is in the fold, or another one is not")
	}
	s.submit(t, s.owner, asset+"/crop", url.Values{"preset": {"instagram/post"}, "shape": {"1:1"}, "do": {"save"}, "x": {"0"}, "y": {"0"}, "width": {"300"}, "height": {"300"}})
	if folded("instagram/post") {
		t.Error("a crop that was chosen is in the fold")
	}
}

func TestThePointToKeepInViewIsChosen(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	one := s.stock(t, 1)[0]
	asset := fmt.Sprintf("/w/north/media/%d", one)
	s.get(t, s.owner, asset+"/crop").want(t, 200, "Point to keep in view")
	if a := s.submit(t, s.owner, asset+"/focus", url.Values{"x": {"900"}, "y": {"500"}, "back": {asset}}); a.status != 303 {
		t.Fatalf("status %d", a.status)
	}
	s.get(t, s.owner, asset).want(t, 200, "90 % from the left, 50 % down")
	if got := s.get(t, s.owner, asset+"/crop?preset=instagram%2Fpost&shape=4:5").part(t); got != "61 0 240 300" {
		t.Errorf("4:5 begins with %s, want it at the right edge", got)
	}
	s.submit(t, s.owner, asset+"/focus", url.Values{"x": {"1001"}, "y": {"500"}}).want(t, 422, "The point lies outside of the picture.")
	s.submit(t, s.owner, asset+"/focus", url.Values{"x": {"here"}, "y": {"500"}}).want(t, 422)
	viewer := s.signIn(t, s.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{s.client: {model.MediaView}}))
	s.get(t, viewer, asset+"/crop").want(t, 403)
}
