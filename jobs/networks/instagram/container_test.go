package instagram

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/nettest"
)

func TestEachShapeIsMadeOfTheDocumentedContainers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ forms, log string }{
		"image": {`alt_text=Loaf 1&caption=Look&collaborators=["ann","bob"]&image_url=https://herald.example/m/1`,
			"GET 17841/content_publishing_limit note container.begun POST 17841/media note container GET 17901 note container.tries POST 17841/media_publish"},
		"reel": {`caption=Watch&media_type=REELS&share_to_feed=false&thumb_offset=1500&video_url=https://herald.example/m/film`,
			"GET 17841/content_publishing_limit note container.begun POST 17841/media note container GET 17901 note container.tries POST 17841/media_publish"},
		"story": {`image_url=https://herald.example/m/1&media_type=STORIES`,
			"GET 17841/content_publishing_limit note container.begun POST 17841/media note container GET 17901 note container.tries POST 17841/media_publish"},
		"carousel": {`alt_text=Loaf 1&image_url=https://herald.example/m/1&is_carousel_item=true
is_carousel_item=true&media_type=VIDEO&video_url=https://herald.example/m/film
alt_text=Loaf 3&image_url=https://herald.example/m/3&is_carousel_item=true
caption=Look&children=17901,17902,17903&media_type=CAROUSEL`,
			"GET 17841/content_publishing_limit note container.begun POST 17841/media note child.1 POST 17841/media note child.2 POST 17841/media note child.3 " +
				"GET 17901 GET 17902 GET 17903 POST 17841/media note container GET 17904 note container.tries POST 17841/media_publish"},
	} {
		h := host(t, newAccount())
		a := adapter(h)
		ready, err := a.Prepare(t.Context(), jobOf(posts()[name]), h.Handles())
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Commit(t.Context(), ready)
		if err != nil || r.ExternalID == "" || h.Last().Form.Encode() != "creation_id="+ready.Handles[container] {
			t.Errorf("%s: got %+v, %v by %v", name, r, err, h.Last().Form)
		}
		var forms []string
		for _, c := range h.Calls() {
			if c.Name() == "POST 17841/media" {
				form, _ := url.QueryUnescape(c.Form.Encode())
				forms = append(forms, form)
			}
			if c.Header.Get("Authorization") != "Bearer PT" || strings.Contains(c.Query.Encode()+c.Form.Encode(), "PT") {
				t.Errorf("%s leaks or lacks the token", c.Name())
			}
		}
		if got := strings.Join(forms, "\n"); got != want.forms {
			t.Errorf("%s: made\n%s\nwant\n%s", name, got, want.forms)
		}
		if log := strings.ReplaceAll(h.Log(), "\n", " "); log != want.log {
			t.Errorf("%s: went\n%s\nwant\n%s", name, log, want.log)
		}
	}
}

// prepare runs Prepare against a container that answers body when asked how
// far it is, begun so long ago.
func prepare(t *testing.T, body nettest.Answer, age time.Duration) (*nettest.Handles, *nettest.Host, error) {
	t.Helper()
	acc := newAccount()
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		if c.Name() == "GET 17900" {
			return body
		}
		return acc.answer(c)
	})
	kept := h.Handles()
	kept.Kept[container], kept.Kept[graph.ContainerBegun] = "17900", noon.Add(-age).Format(time.RFC3339)
	_, err := adapter(h).Prepare(t.Context(), jobOf(posts()["image"]), kept)
	return kept, h, err
}

func TestAContainerIsWaitedForAtAGentlePace(t *testing.T) {
	t.Parallel()
	body := nettest.Answer{Body: nettest.File(t, "container_progress.json")}
	for age, wait := range map[time.Duration]time.Duration{0: 10 * time.Second, 2 * time.Minute: 30 * time.Second} {
		kept, _, err := prepare(t, body, age)
		if f := fault.Of(err); f == nil || f.Kind != fault.Waiting || f.Wait != wait || kept.Get(container) != "17900" {
			t.Errorf("after %v: got %v", age, err)
		}
	}
}

func TestAContainerThatNeverGetsReadyCostsAnAttempt(t *testing.T) {
	t.Parallel()
	kept, _, err := prepare(t, nettest.Answer{Body: nettest.File(t, "container_progress.json")}, 2*time.Hour)
	if f := fault.Of(err); f == nil || f.Kind != fault.Transient || kept.Get(container) != "" {
		t.Errorf("got %v with %v", err, kept.Kept)
	}
}

func TestAContainerThatFailedSaysWhyAndIsForgotten(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		nettest.File(t, "container_error.json"):                    "validation 352/2207026",
		`{"status":"Error: Media download failed, code 2207003"}`:  "transient -2/2207003", // an empty status_code
		`{"status_code":"","status":"Error: something"}`:           "transient status_error",
		`{"status_code":"ERROR","status":"Error: 2207050 locked"}`: "auth 25/2207050",
		`{"status_code":"ERROR"}`:                                  "transient status_error",
		`{"status_code":"ERROR","status":"Error: 2207085 Fatal"}`:  "validation 2207085",
	} {
		kept, _, err := prepare(t, nettest.Answer{Body: body}, time.Minute)
		f := fault.Of(err)
		if f == nil || string(f.Kind)+" "+f.Code != want || f.Say == "" || kept.Get(container) != "" {
			t.Errorf("%s: got %v with %v", body, err, kept.Kept)
		}
	}
}

func TestAnExpiredOrVanishedContainerIsMadeAnew(t *testing.T) {
	t.Parallel()
	gone := []nettest.Answer{{Body: `{"status_code":"EXPIRED","status":"Expired"}`}, refuse(100, 33), refuse(24, 2207008)}
	for _, answer := range gone {
		kept, h, err := prepare(t, answer, time.Hour)
		if err != nil || kept.Get(container) != "17901" {
			t.Errorf("got %v with %v after\n%s", err, kept.Kept, h.Log())
		}
	}
	for _, answer := range gone[1:] { // just made: it is only not visible yet
		kept, _, err := prepare(t, answer, time.Minute)
		if f := fault.Of(err); f == nil || f.Kind != fault.Waiting || kept.Get(container) != "17900" {
			t.Errorf("got %v with %v", err, kept.Kept)
		}
	}
}

func TestAContainerOfYesterdayIsNotUsed(t *testing.T) {
	t.Parallel()
	kept, h, err := prepare(t, nettest.Answer{Body: `{"status_code":"FINISHED"}`}, 24*time.Hour)
	if err != nil || kept.Get(container) != "17901" || h.Count("GET 17900") != 0 {
		t.Errorf("got %v with %v", err, kept.Kept)
	}
}

func TestAContainerThatFailsToPublishTwiceIsReplaced(t *testing.T) {
	t.Parallel()
	h := host(t, newAccount())
	kept := h.Handles()
	var ids []string
	for range 3 {
		ready, err := adapter(h).Prepare(t.Context(), jobOf(posts()["image"]), kept)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, ready.Handles[container])
	}
	if ids[0] != ids[1] || ids[1] == ids[2] {
		t.Errorf("published %v", ids)
	}
}

func TestAContainerThatAnEarlierAttemptPublishedIsNotPublishedAgain(t *testing.T) {
	t.Parallel()
	acc := newAccount()
	h := host(t, acc)
	acc.containers["17900"] = &made{state: graph.Published}
	kept := h.Handles()
	kept.Kept[container], kept.Kept[graph.ContainerBegun] = "17900", noon.Format(time.RFC3339)
	ready, err := adapter(h).Prepare(t.Context(), jobOf(posts()["image"]), kept)
	if err != nil {
		t.Fatal(err)
	}
	_, err = adapter(h).Commit(t.Context(), ready)
	if f := fault.Of(err); f == nil || f.Kind != fault.Unknown || h.Count("POST 17841/media_publish") != 0 {
		t.Errorf("got %v after\n%s", err, h.Log())
	}
}

func TestOnlyTheBadFileOfACarouselIsFetchedAnew(t *testing.T) {
	t.Parallel()
	acc := newAccount()
	bad := true
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		if c.Name() == "GET 17902" && bad {
			bad = false
			return nettest.Answer{Body: `{"status_code":"ERROR","status":"Error: 2207053"}`}
		}
		return acc.answer(c)
	})
	kept := h.Handles()
	_, err := adapter(h).Prepare(t.Context(), jobOf(posts()["carousel"]), kept)
	if f := fault.Of(err); f == nil || f.Kind != fault.Transient {
		t.Fatalf("got %v", err)
	}
	if _, err := adapter(h).Prepare(t.Context(), jobOf(posts()["carousel"]), kept); err != nil || kept.Get("child.1") != "17901" || kept.Get("child.2") != "17904" {
		t.Errorf("got %v with %v", err, kept.Kept)
	}
}

func TestAUsedUpQuotaWaitsBeforeAnythingIsMade(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]fault.Kind{
		`{"data":[{"quota_usage":50,"config":{"quota_total":50,"quota_duration":86400}}]}`: fault.RateLimited,
		nettest.File(t, "limit.json"): "",
		`{"data":[]}`:                 "",
		`<html>`:                      "",
		`{"error":{"code":190}}`:      fault.Auth,
		`{"error":{"code":10}}`:       "",
	} {
		acc := newAccount()
		h := nettest.New(t, func(c nettest.Call) nettest.Answer {
			if c.Name() == "GET 17841/content_publishing_limit" {
				return nettest.Answer{Body: body}
			}
			return acc.answer(c)
		})
		_, err := adapter(h).Prepare(t.Context(), jobOf(posts()["image"]), h.Handles())
		f := fault.Of(err)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: got %v", body, err)
		case want != "" && (f == nil || f.Kind != want || h.Count("POST 17841/media") != 0):
			t.Errorf("%s: got %v after\n%s", body, err, h.Log())
		case want == fault.RateLimited && f.Wait != time.Hour:
			t.Errorf("waits %v", f.Wait)
		}
	}
}

func TestPublishingFaultsAreWhatTheyProve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer  nettest.Answer
		attempt int
		want    fault.Kind
	}{
		{nettest.Answer{Status: 400, Body: nettest.File(t, "not_ready.json")}, 1, fault.Transient},
		{refuse(4, 2207051), 1, fault.Unknown},
		{refuse(9, 2207042), 1, fault.RateLimited},
		{refuse(24, 2207008), 1, fault.Transient},
		{refuse(24, 2207008), 2, fault.Unknown},
		{refuse(-1, 2207001), 1, fault.Unknown},
		{refuse(25, 2207050), 1, fault.Auth},
		{nettest.Answer{Body: `{}`}, 1, fault.Unknown},
		{nettest.Answer{Body: `<html>`}, 1, fault.Unknown},
		{nettest.Answer{Body: `{"id":"17900"}`}, 1, fault.Unknown}, // the container again, not the post
		{nettest.Answer{Status: 502, Body: `<html>`}, 1, fault.Unknown},
		{nettest.Answer{Close: true}, 1, fault.Unknown},
	} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer { return c.answer })
		job := jobOf(posts()["image"])
		job.Attempt = c.attempt
		_, err := adapter(h).Commit(t.Context(), networks.Ready{Job: job, Handles: map[string]string{container: "17900"}})
		if f := fault.Of(err); f == nil || f.Kind != c.want || f.Say == "" {
			t.Errorf("%+v, attempt %d: got %v, want %s", c.answer, c.attempt, err, c.want)
		}
	}
}

func TestAPostIsNeverPublishedWithoutItsMedia(t *testing.T) {
	t.Parallel()
	h := host(t, newAccount())
	for name, post := range posts() {
		post.Media = nil
		if _, err := adapter(h).Prepare(t.Context(), jobOf(post), h.Handles()); fault.Of(err).Kind != fault.Validation {
			t.Errorf("%s: got %v", name, err)
		}
		post.Media = append([]networks.Media(nil), posts()[name].Media...)
		post.Media[0].URL = ""
		if _, err := adapter(h).Prepare(t.Context(), jobOf(post), h.Handles()); fault.Of(err).Kind != fault.Validation {
			t.Errorf("%s without an address: got %v", name, err)
		}
	}
	if len(h.Calls()) != 0 {
		t.Errorf("called\n%s", h.Log())
	}
}
