package googlebusiness

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/nettest"
	"herald/jobs/networks/rest"
)

const (
	us   = "accounts/1/locations/2"
	ours = us + "/localPosts/3"
)

var (
	noon   = nettest.Noon
	window = networks.Window{Since: noon.Add(-2 * time.Minute), Until: noon.Add(2 * time.Minute)}
	all    = rest.Table{Network: "Google", Read: read, Rows: rows}
)

func adapter(h *nettest.Host) *Adapter {
	return New(networks.Env{Base: h.URL + "/x", HTTP: h.Client, ClientID: "app", ClientSecret: "hush", Now: func() time.Time { return noon }})
}

func jobOf(post networks.Post) networks.Job {
	return networks.Job{Key: "k", Attempt: 1, Post: post, Account: networks.Account{Network: network.GoogleBusiness, RemoteID: us, Token: secret.NewToken("AT"), Refresh: secret.NewToken("RT")}}
}

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	nettest.Walk(t, all, nettest.File(t, "errors.txt"))
}

func FuzzRefusalsKeepToTheRules(f *testing.F) {
	nettest.FuzzTable(f, all, `{"error":{"code":400,"status":"INVALID_ARGUMENT","details":[{"errorDetails":[{"message":"PHOTO_FETCH_FAILED"}]}]}}`)
}

func TestEachKindIsWhatWasMeant(t *testing.T) {
	t.Parallel()
	opts := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	dates := []string{network.OptEvent, "Tasting", network.OptStarts, "2026-05-01", network.OptEnds, "2026-05-02 18:30"}
	const when = `"event":{"title":"Tasting","schedule":{"startDate":{"year":2026,"month":5,"day":1},"endDate":{"year":2026,"month":5,"day":2},"endTime":{"hours":18,"minutes":30}}}`
	for name, c := range map[string]struct {
		post networks.Post
		want string
	}{
		"text":  {networks.Post{Format: network.FormatText, Text: "Look"}, `{"languageCode":"en","summary":"Look","topicType":"STANDARD"}`},
		"link":  {networks.Post{Format: network.FormatLink, Text: "Look", Link: "https://a.example", Options: opts(network.OptButton, "BOOK", network.OptLanguage, "de")}, `{"languageCode":"de","summary":"Look","topicType":"STANDARD","callToAction":{"actionType":"BOOK","url":"https://a.example"}}`},
		"call":  {networks.Post{Format: network.FormatText, Text: "Look", Options: opts(network.OptButton, "CALL")}, `{"languageCode":"en","summary":"Look","topicType":"STANDARD","callToAction":{"actionType":"CALL"}}`},
		"photo": {networks.Post{Format: network.FormatImage, Media: []networks.Media{{URL: "https://h.example/1"}}}, `{"languageCode":"en","topicType":"STANDARD","media":[{"mediaFormat":"PHOTO","sourceUrl":"https://h.example/1"}]}`},
		"event": {networks.Post{Format: network.FormatText, Text: "Look", Options: opts(append([]string{network.OptKind, "EVENT"}, dates...)...)}, `{"languageCode":"en","summary":"Look","topicType":"EVENT",` + when + `}`},
		"offer": {networks.Post{Format: network.FormatLink, Text: "Look", Link: "https://a.example", Options: opts(append([]string{network.OptKind, "OFFER", network.OptCoupon, "ROLLS", network.OptTerms, "One each"}, dates...)...)},
			`{"languageCode":"en","summary":"Look","topicType":"OFFER",` + when + `,"offer":{"couponCode":"ROLLS","redeemOnlineUrl":"https://a.example","termsConditions":"One each"}}`},
	} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer {
			return nettest.Answer{Body: `{"name":"` + ours + `","state":"LIVE","searchUrl":"https://google.example/p"}`}
		})
		ready, err := adapter(h).Prepare(t.Context(), jobOf(c.post), h.Handles())
		if err != nil || len(h.Calls()) != 0 {
			t.Fatalf("%s: %v", name, err)
		}
		r, err := adapter(h).Commit(t.Context(), ready)
		if err != nil || r.ExternalID != ours || r.Permalink != "https://google.example/p" || h.Last().File != c.want || h.Last().Path != "/x/v4/"+us+"/localPosts" {
			t.Errorf("%s: %+v, %v, sent %s\nwant %s", name, r, err, h.Last().File, c.want)
		}
	}
}

func TestWhatIsAcceptedIsAskedAboutByItsName(t *testing.T) {
	t.Parallel()
	state := "PROCESSING"
	h := nettest.New(t, func(nettest.Call) nettest.Answer {
		return nettest.Answer{Body: `{"name":"` + ours + `","state":"` + state + `"}`}
	})
	a, kept, job := adapter(h), h.Handles(), jobOf(networks.Post{Format: network.FormatText, Text: "Look"})
	ready, _ := a.Prepare(t.Context(), job, kept)
	if _, err := a.Commit(t.Context(), ready); fault.Of(err).Code != "accepted" || fault.Of(err).Kind != fault.Unknown || kept.Get(name) != ours {
		t.Fatalf("got %v with %v", err, kept.Kept)
	}
	if _, err := a.Find(t.Context(), job, kept, window); fault.Of(err).Kind != fault.Transient {
		t.Errorf("in work: %v", err)
	}
	state = "LIVE"
	if f, err := a.Find(t.Context(), job, kept, window); err != nil || f.Verdict != networks.Found || f.Receipt.ExternalID != ours {
		t.Errorf("live: %+v, %v", f, err)
	}
	ready, _ = a.Prepare(t.Context(), job, kept)
	if _, err := a.Commit(t.Context(), ready); fault.Of(err).Code != "already_published" {
		t.Errorf("again: %v", err)
	}
	state = "REJECTED"
	if f, err := a.Find(t.Context(), job, kept, window); err != nil || f.Verdict != networks.Absent {
		t.Errorf("turned down: %+v, %v", f, err)
	}
	if _, err := a.Prepare(t.Context(), job, kept); fault.Of(err).Code != "rejected" || kept.Get(name) != "" {
		t.Errorf("turned down: %v with %v", err, kept.Kept)
	}
	ready, _ = a.Prepare(t.Context(), job, kept)
	if _, err := a.Commit(t.Context(), ready); fault.Of(err).Kind != fault.Validation { // 200 and REJECTED is no success
		t.Errorf("at once: %v", err)
	}
}

func TestWithoutANameTheListDecides(t *testing.T) {
	t.Parallel()
	item := `{"name":"` + ours + `","summary":"Look","topicType":"STANDARD","state":"LIVE","createTime":"2026-05-01T10:00:00Z"}`
	for list, want := range map[string]networks.Verdict{
		item: networks.Found, item + "," + item: networks.CantTell, strings.Replace(item, "LIVE", "REJECTED", 1): networks.Absent, strings.Replace(item, "STANDARD", "EVENT", 1): networks.Absent,
		strings.Replace(item, "T10:", "T08:", 1): networks.Absent, strings.Replace(item, `"state"`, `"media":[{}],"state"`, 1): networks.Absent, "": networks.Absent,
	} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Body: `{"localPosts":[` + list + `]}`} })
		f, err := adapter(h).Find(t.Context(), jobOf(networks.Post{Format: network.FormatText, Text: "Look "}), h.Handles(), window)
		if err != nil || f.Verdict != want || h.Last().Query.Get("pageSize") != "100" {
			t.Errorf("%s: %+v, %v", list, f, err)
		}
	}
}

func TestCheckLooksForTheLocation(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"locations":[{"name":"locations/2","title":"Bakery","metadata":{"canOperateLocalPost":true}}]}`: "", `{"locations":[{"name":"locations/2","metadata":{"canOperateLocalPost":false}}]}`: "no_posts", `{"locations":[{"name":"locations/9"}]}`: "no_location",
	} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Body: body} })
		p, err := adapter(h).Check(t.Context(), jobOf(networks.Post{}).Account)
		if f := fault.Of(err); f == nil && (want != "" || p.Name != "Bakery" || p.RemoteID != us) || f != nil && f.Code != want || h.Last().Path != "/x/v1/accounts/1/locations" || h.Last().Query.Get("readMask") == "" {
			t.Errorf("%s: %+v, %v", body, p, err)
		}
	}
	job := jobOf(networks.Post{Format: network.FormatText, Text: "a"})
	job.Account.RemoteID = "locations/2"
	if _, err := New(networks.Env{}).Prepare(t.Context(), job, nil); fault.Of(err).Code != "account_unknown" {
		t.Errorf("half a name: %v", err)
	}
}

func FuzzAListNeverPanics(f *testing.F) {
	f.Add(`{"name":"a","createTime":"2026-05-01T10:00:00Z","event":null,"callToAction":{}}`, "2026-05-01 1:")
	f.Fuzz(func(t *testing.T, raw, at string) {
		var l local
		if json.Unmarshal([]byte(raw), &l) == nil {
			l.like(post{})
			l.receipt("")
		}
		dateOf(at)
		timeOf(at)
	})
}
