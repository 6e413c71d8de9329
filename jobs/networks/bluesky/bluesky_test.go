package bluesky

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/nettest"
)

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	nettest.Walk(t, table, nettest.File(t, "errors.txt"))
}

func FuzzRefusalsKeepToTheRules(f *testing.F) {
	nettest.FuzzTable(f, table, `{"error":"InvalidSwap","message":"m"}`, `{"error":"RateLimitExceeded"}`, `{"error":7}`)
}

func TestARecordHoldsWhatTheWriterChose(t *testing.T) {
	t.Parallel()
	p, h, a, _ := setup(t)
	job := jobOf(networks.Post{Format: network.FormatLink, Text: "Look <here>", Link: "https://bakery.example/a?b=1&c=2",
		Options: map[string]string{network.OptLanguage: "en, de", network.OptLinkTitle: "Bread", network.OptLabel: "nudity"}})
	r, err := publish(t, a, job, h.Handles())
	key := tid(noon, "k")
	if err != nil || r.ExternalID != "at://did:plc:x/app.bsky.feed.post/"+key || r.Permalink != "https://bsky.app/profile/did:plc:x/post/"+key {
		t.Fatalf("got %+v, %v", r, err)
	}
	want := `{"$type":"app.bsky.feed.post","text":"Look <here>","createdAt":"2026-05-01T10:00:00.000Z","langs":["en","de"],` +
		`"embed":{"$type":"app.bsky.embed.external","external":{"uri":"https://bakery.example/a?b=1&c=2","title":"Bread","description":""}}}`
	if got := p.records[key]; got != want {
		t.Errorf("wrote %s\nwant  %s", got, want)
	}
}

func TestPicturesComeWithTheirDescriptionsAndAWarning(t *testing.T) {
	t.Parallel()
	p, h, a, _ := setup(t)
	job := jobOf(networks.Post{Format: network.FormatImages, Text: "Look", Media: []networks.Media{picture(1), picture(2)}, Options: map[string]string{network.OptLabel: "nudity"}})
	if _, err := publish(t, a, job, h.Handles()); err != nil {
		t.Fatal(err)
	}
	got := p.records[tid(noon, "k")]
	for _, part := range []string{`{"image":{"$type":"blob","ref":{"$link":"bafkpixel1"},"mimeType":"image/png","size":6},"alt":"loaf 1","aspectRatio":{"width":4,"height":3}}`,
		`"alt":"loaf 2"`, `"labels":{"$type":"com.atproto.label.defs#selfLabels","values":[{"val":"nudity"}]}`} {
		if !strings.Contains(got, part) {
			t.Errorf("%s lacks %s", got, part)
		}
	}
}

func TestTheSameRecordIsWrittenByEveryAttempt(t *testing.T) {
	t.Parallel()
	p, h, a, c := setup(t)
	kept, job := h.Handles(), jobOf(networks.Post{Format: network.FormatImage, Text: "Hi @cafe.example.com", Media: []networks.Media{picture(1)}})
	ready, err := a.Prepare(t.Context(), job, kept)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range ready.Handles { // as the pipeline does before a commit
		kept.Kept[name] = value
	}
	if _, err := a.Commit(t.Context(), ready); err != nil {
		t.Fatal(err)
	}
	first := p.records[ready.Handles[rkey]]
	c.at, job.Attempt = noon.Add(3*time.Hour), 2
	p.next = func(c nettest.Call) *nettest.Answer { // nobody is called so any more
		if strings.HasSuffix(c.Path, "resolveHandle") {
			a := say(400, "InvalidRequest")
			return &a
		}
		return nil
	}
	if _, err := publish(t, a, job, kept); err != nil || len(p.records) != 1 || p.records[ready.Handles[rkey]] != first {
		t.Errorf("%v, %d records", err, len(p.records))
	}
	if p.blobs != 2 {
		t.Errorf("%d uploads: what the server may have dropped has to be there again", p.blobs)
	}
}

func TestAFileThatTheServerLostIsUploadedAgain(t *testing.T) {
	t.Parallel()
	p, h, a, _ := setup(t)
	kept, job := h.Handles(), jobOf(networks.Post{Format: network.FormatImage, Media: []networks.Media{picture(1)}})
	lostOnce := true
	p.next = func(c nettest.Call) *nettest.Answer {
		if lostOnce && strings.HasSuffix(c.Path, "putRecord") {
			lostOnce = false
			a := say(400, "BlobNotFound")
			return &a
		}
		return nil
	}
	_, err := publish(t, a, job, kept)
	if f := fault.Of(err); f == nil || f.Kind != fault.Transient {
		t.Fatalf("got %v", err)
	}
	if _, err := publish(t, a, job, kept); err != nil || p.blobs != 2 {
		t.Errorf("%v after %d uploads", err, p.blobs)
	}
}

func TestAnAppPasswordSignsInOnceForAll(t *testing.T) {
	t.Parallel()
	p, h, a, c := setup(t)
	job := jobOf(networks.Post{Format: network.FormatText, Text: "Hi"})
	job.Account.Token = secret.NewToken("abcd-efgh-ijkl-mnop")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := publish(t, a, job, h.Handles()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if p.signs.Load() != 1 || h.Last().Header.Get("Authorization") != "Bearer A1" {
		t.Errorf("%d sign-ins, last with %s", p.signs.Load(), h.Last().Header.Get("Authorization"))
	}
	c.at = noon.Add(usualLife)
	if _, err := publish(t, a, job, h.Handles()); err != nil || p.signs.Load() != 2 {
		t.Errorf("an old session: %v, %d sign-ins", err, p.signs.Load())
	}
	p.next = func(c nettest.Call) *nettest.Answer {
		if c.Header.Get("Authorization") == "Bearer A2" {
			a := say(400, "ExpiredToken")
			return &a
		}
		return nil
	}
	_, err := publish(t, a, job, h.Handles())
	if f := fault.Of(err); f == nil || f.Kind != fault.Transient {
		t.Errorf("a session that was ended: %v", err)
	}
	if _, err := publish(t, a, job, h.Handles()); err != nil || p.signs.Load() != 3 {
		t.Errorf("afterwards: %v, %d sign-ins", err, p.signs.Load())
	}
}

func TestAWrongAppPasswordEndsTheConnection(t *testing.T) {
	t.Parallel()
	p, h, a, _ := setup(t)
	p.next = func(nettest.Call) *nettest.Answer { a := say(401, "AuthenticationRequired"); return &a }
	job := jobOf(networks.Post{Format: network.FormatText, Text: "Hi"})
	job.Account.Token = secret.NewToken("abcd-efgh-ijkl-mnop")
	_, err := a.Check(t.Context(), job.Account)
	if f := fault.Of(err); f == nil || f.Kind != fault.Auth || len(h.Calls()) != 1 {
		t.Errorf("got %v", err)
	}
}

func TestCheckLearnsWhereTheAccountLives(t *testing.T) {
	t.Parallel()
	_, _, a, _ := setup(t)
	got, err := a.Check(t.Context(), networks.Account{Handle: "@bakery.example", Token: secret.NewToken("abcd-efgh-ijkl-mnop")})
	if err != nil || got.RemoteID != "did:plc:x" || got.Handle != "@bakery.example" || got.Settings["pds"] != "https://morel.example" {
		t.Errorf("got %+v, %v", got, err)
	}
	for account, want := range map[string]string{"": "https://bsky.social", "pds.example/": "https://pds.example", "https://pds.example": "https://pds.example"} {
		if got := server(networks.Account{Address: account}); got != want {
			t.Errorf("%q is %s", account, got)
		}
	}
	if got := server(networks.Account{Settings: map[string]string{"pds": "https://morel.example"}}); got != "https://morel.example" {
		t.Errorf("learned: %s", got)
	}
}

func TestRefreshRotatesOrSignsInAnew(t *testing.T) {
	t.Parallel()
	p, h, a, _ := setup(t)
	const jwt = "e30.eyJleHAiOjE3Nzc2NDAwMDB9.c2ln"
	p.next = func(c nettest.Call) *nettest.Answer {
		if !strings.HasSuffix(c.Path, "refreshSession") || c.Header.Get("Authorization") != "Bearer OLD" {
			return nil
		}
		return &nettest.Answer{Body: `{"accessJwt":"` + jwt + `","refreshJwt":"NEW","did":"did:plc:x","handle":"h"}`}
	}
	got, err := a.Refresh(t.Context(), networks.Account{RemoteID: "did:plc:x", Refresh: secret.NewToken("OLD")})
	if err != nil || got.Access.Reveal() != jwt || got.Refresh.Reveal() != "NEW" || got.Expires.Unix() != 1777640000 {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = a.Refresh(t.Context(), networks.Account{RemoteID: "did:plc:x", Refresh: secret.NewToken("abcd-efgh-ijkl-mnop")})
	if err != nil || got.Access.Reveal() != "A1" || !got.Refresh.Empty() || !got.Expires.Equal(noon.Add(usualLife)) {
		t.Errorf("got %+v, %v", got, err)
	}
	if strings.Contains(h.Log(), "mnop") {
		t.Error("the password is in the log")
	}
	if _, err := a.Refresh(t.Context(), networks.Account{}); fault.Of(err).Kind != fault.Auth {
		t.Errorf("nothing to renew with: %v", err)
	}
}

func TestAVideoThatIsKnownAlreadyIsTaken(t *testing.T) {
	t.Parallel()
	p, h, a, _ := setup(t)
	p.next = func(c nettest.Call) *nettest.Answer {
		switch {
		case strings.HasSuffix(c.Path, "getServiceAuth"):
			return &nettest.Answer{Body: `{"token":"S"}`}
		case strings.HasSuffix(c.Path, "uploadVideo"):
			return &nettest.Answer{Status: 409, Body: `{"jobId":"j","did":"d","state":"JOB_STATE_COMPLETED","error":"already_exists","blob":{"$type":"blob","ref":{"$link":"bafkv"},"mimeType":"video/mp4","size":5}}`}
		}
		return nil
	}
	film := picture(1)
	film.Kind, film.Type = network.Video, "video/mp4"
	if _, err := publish(t, a, jobOf(networks.Post{Format: network.FormatVideo, Media: []networks.Media{film}}), h.Handles()); err != nil {
		t.Fatal(err)
	}
	if got := p.records[tid(noon, "k")]; !strings.Contains(got, `"video":{"$type":"blob","ref":{"$link":"bafkv"}`) {
		t.Errorf("wrote %s", got)
	}
	for _, c := range h.Calls() {
		if aud := c.Query.Get("aud"); strings.HasSuffix(c.Path, "getServiceAuth") && !strings.HasPrefix(aud, "did:web:127.0.0.1%3A") {
			t.Errorf("the pass is for %s", aud)
		}
	}
}

func TestAVideosFailureSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]fault.Kind{"validation_failure": fault.Validation, "encoding_failure": fault.Validation, "pds_upload_unsupported_blob_size": fault.Validation,
		"pds_upload_failure": fault.Transient, "generic_failure": fault.Transient, "": fault.Validation} {
		p, h, a, _ := setup(t)
		p.next = func(nettest.Call) *nettest.Answer {
			raw, _ := json.Marshal(map[string]any{"jobStatus": map[string]string{"jobId": "j", "state": "JOB_STATE_FAILED", "failureCode": code}})
			return &nettest.Answer{Body: string(raw)}
		}
		film, kept := picture(1), h.Handles()
		film.Kind, kept.Kept[videoJob] = network.Video, "j"
		_, err := a.Prepare(t.Context(), jobOf(networks.Post{Format: network.FormatVideo, Media: []networks.Media{film}}), kept)
		if f := fault.Of(err); f == nil || f.Kind != want || kept.Kept[videoJob] != "" {
			t.Errorf("%q: got %v, want %s", code, err, want)
		}
	}
}
