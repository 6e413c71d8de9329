package desk_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"herald/db/dbtest"
	"herald/db/model"
)

var seenField = regexp.MustCompile(`name="seen" value="([^"]*)"`)

// seenOf is the state that the first form of a page sends back.
func seenOf(t *testing.T, a answer) string {
	t.Helper()
	m := seenField.FindStringSubmatch(a.body)
	if m == nil {
		t.Fatal("the page has no form with a state")
	}
	return m[1]
}

func TestANewPasswordEndsTheOtherBrowsers(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	here, there := s.signIn(t, s.agency.Owner), s.signIn(t, s.agency.Owner)
	wrong := url.Values{"password": {"not mine"}, "secret": {"a new one of ten"}}
	if got := s.post(t, here, "/w/north/settings/password", wrong).want(t, 422).body; !strings.Contains(got, "That is not your password.") || strings.Contains(got, "not mine") {
		t.Error("a wrong password is not told, or repeated")
	}
	s.post(t, here, "/w/north/settings/password", url.Values{"password": {dbtest.Password}, "secret": {"short"}}).want(t, 422)
	s.get(t, there, "/w/north/settings/profile").want(t, 200)
	s.post(t, here, "/w/north/settings/password", url.Values{"password": {dbtest.Password}, "secret": {"a new one of ten"}}).want(t, 303)
	s.get(t, here, "/w/north/settings/profile").want(t, 200)
	s.get(t, there, "/w/north/settings/profile").want(t, 303)
	s.post(t, here, "/w/north/settings/password", url.Values{"password": {dbtest.Password}, "secret": {"a third of ten chars"}}).want(t, 422)
	for range 5 {
		s.post(t, here, "/w/north/settings/password", wrong)
	}
	s.post(t, here, "/w/north/settings/password", url.Values{"password": {"a new one of ten"}, "secret": {"a third of ten chars"}}).want(t, 429)
}

func TestABrowserIsSignedOutFromAnother(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	here, there, other := s.signIn(t, s.agency.Owner), s.signIn(t, s.agency.Owner), s.signIn(t, s.agency.Member(t, model.Admin, nil))
	key := regexp.MustCompile(`name="session" value="([0-9a-f]{64})"`)
	list := s.get(t, here, "/w/north/settings/profile").want(t, 200).body
	for _, m := range key.FindAllStringSubmatch(s.get(t, other, "/w/north/settings/profile").body+list, -1) {
		s.post(t, other, "/w/north/settings/sessions", url.Values{"session": {m[1]}}).want(t, 303) // another's is nothing to end
	}
	s.get(t, there, "/w/north/settings/profile").want(t, 200)
	for _, m := range key.FindAllStringSubmatch(list, -1) {
		s.post(t, here, "/w/north/settings/sessions", url.Values{"session": {m[1]}}).want(t, 303)
	}
	s.get(t, there, "/w/north/settings/profile").want(t, 303)
	s.get(t, here, "/w/north/settings/profile").want(t, 200)
	s.post(t, here, "/w/north/settings/sessions", url.Values{"session": {"zz"}}).want(t, 303)
}

// TestARefusedSettingKeepsWhatWasTyped sends forms that are refused, and one from a
// page that is out of date.
func TestARefusedSettingKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	seen := seenOf(t, s.get(t, s.owner, "/w/north/settings/general").want(t, 200))
	for _, c := range []struct {
		path string
		form url.Values
		says []string
	}{
		{"/w/north/settings/general", url.Values{"name": {""}, "zone": {"Asia/Tokyo"}, "seen": {seen}}, []string{"Say a name.", `value="Asia/Tokyo" selected`}},
		{"/w/north/settings/general", url.Values{"name": {"Ours"}, "zone": {"Mars/North"}, "seen": {seen}}, []string{"Choose a time zone", `value="Ours"`}},
		{"/w/north/settings/clients", url.Values{"name": {"New"}, "zone": {"Asia/Tokyo"}, "late_cutoff": {"-3"}}, []string{"number of hours", `value="-3"`, `value="New"`}},
		{"/w/north/settings/invitations", url.Values{"email": {"mia at north"}, "role": {"editor"}}, []string{"Write an e-mail address", `value="mia at north"`}},
		{"/w/north/settings/invitations", url.Values{"email": {"mia@north.example"}, "role": {"editor"}}, []string{"Choose at least one client", `value="mia@north.example"`}},
		{"/w/north/settings/profile", url.Values{"name": {strings.Repeat("a", 101)}, "zone": {""}, "seen": {"x"}}, []string{"at most 100 characters"}},
	} {
		got := s.post(t, s.owner, c.path, c.form).want(t, 422)
		for _, words := range c.says {
			if !strings.Contains(got.body, words) {
				t.Errorf("%s with %v lacks %q", c.path, c.form, words)
			}
		}
	}
	s.post(t, s.owner, "/w/north/settings/general", url.Values{"name": {"Ours"}, "zone": {"Asia/Tokyo"}, "seen": {seen}}).want(t, 303)
	stale := s.post(t, s.owner, "/w/north/settings/general", url.Values{"name": {"Theirs"}, "zone": {"Asia/Tokyo"}, "seen": {seen}}).want(t, 409)
	if !strings.Contains(stale.body, "Somebody changed this meanwhile") || !strings.Contains(stale.body, `value="Theirs"`) {
		t.Error("a form that is out of date is not told, or loses its words")
	}
}
