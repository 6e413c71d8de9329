package desk_test

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"herald/db/blob"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/secret"
)

// shelf is a studio with one picture, and links to it.
type shelf struct {
	*studio
	media model.MediaID
	bytes []byte // what is published
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{studio: newStudio(t)}
	form := s.upload(t, s.fresh(t), file{"Ünser \"Brot\".jpg", photo(t, 300, 200, 90)}).form(t)
	_, _ = fmt.Sscan(form.Get("media"), &s.media)
	a := s.get(t, s.owner, s.link(secret.ForMember, "original", time.Hour))
	if a.status != 200 {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	s.bytes = []byte(a.body)
	return s
}

func (s *shelf) link(to secret.Audience, name string, life time.Duration) string {
	return "/m/" + s.Ring.SignMedia(to, secret.MediaLink{Tenant: int64(s.agency.ID), Media: int64(s.media), File: name}, s.Clock.Now().Add(life))
}

func TestALinkIsGoodForItsAudienceOnly(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	nobody := &http.Client{}
	viewer := s.signIn(t, s.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{s.client: {model.PostsView, model.MediaView}}))
	elsewhere := s.signIn(t, s.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{s.agency.Client(t, "forest"): model.Viewer.Grants()}))
	outsider := s.signIn(t, s.Agency(t, "south", dbtest.SecondShard).Owner)
	for name, c := range map[string]struct {
		who    *http.Client
		link   string
		status int
	}{
		"member":                      {s.owner, s.link(secret.ForMember, "original", time.Hour), 200},
		"viewer of the client":        {viewer, s.link(secret.ForMember, "thumbnail", time.Hour), 200},
		"viewer of another client":    {elsewhere, s.link(secret.ForMember, "thumbnail", time.Hour), 404},
		"member of another agency":    {outsider, s.link(secret.ForMember, "original", time.Hour), 404},
		"a member's link, no session": {nobody, s.link(secret.ForMember, "original", time.Hour), 403},
		"network":                     {nobody, s.link(secret.ForNetwork, "original", time.Hour), 200},
		"approver":                    {nobody, s.link(secret.ForApprover, "thumbnail", time.Hour), 200},
		"run out":                     {s.owner, s.link(secret.ForMember, "original", -time.Second), 410},
		"network's, run out":          {nobody, s.link(secret.ForNetwork, "original", -time.Second), 410},
		"unknown file":                {nobody, s.link(secret.ForNetwork, "../../etc/passwd", time.Hour), 404},
		"forged":                      {s.owner, s.link(secret.ForMember, "original", time.Hour) + "A", 404},
		"nonsense":                    {s.owner, "/m/nonsense", 404},
		"a review link's purpose":     {nobody, "/m/" + s.Ring.Sign("review page", make([]byte, 30), s.Clock.Now().Add(time.Hour)), 404},
	} {
		if a := s.get(t, c.who, c.link); a.status != c.status {
			t.Errorf("%s: %d, want %d", name, a.status, c.status)
		}
	}
}

func TestALinkCoversTheWorkspace(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	other := s.Agency(t, "south", dbtest.SecondShard)
	for _, tenant := range []model.TenantID{other.ID, 999_999} {
		forged := "/m/" + s.Ring.SignMedia(secret.ForNetwork, secret.MediaLink{Tenant: int64(tenant), Media: int64(s.media), File: "original"}, s.Clock.Now().Add(time.Hour))
		if a := s.get(t, s.owner, forged); a.status != 404 {
			t.Errorf("workspace %d: %d", tenant, a.status)
		}
	}
}

// TestLinksAreDeadOnceAFileIsNotReady: those that were issued before, too.
func TestLinksAreDeadOnceAFileIsNotReady(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	links := map[secret.Audience]string{}
	for _, to := range []secret.Audience{secret.ForMember, secret.ForNetwork, secret.ForApprover} {
		for _, name := range []string{"original", "thumbnail"} {
			links[to+"/"+secret.Audience(name)] = s.link(to, name, time.Hour)
		}
	}
	for _, state := range []string{"ready", "quarantined", "refused", "scanning", "uploading", "deleted"} {
		s.Super(t, s.agency.Shard, `UPDATE tenant.media SET state = $1`, state)
		want := map[bool]int{true: 200, false: 404}[state == "ready"]
		for name, link := range links {
			if a := s.get(t, s.owner, link); a.status != want || want == 404 && strings.Contains(a.body, string(s.bytes)) {
				t.Errorf("%s, %s: %d, want %d", state, name, a.status, want)
			}
		}
	}
}

// TestDrawingsAndPagesAreNeverServedAsThemselves: whatever got into the store.
func TestDrawingsAndPagesAreNeverServedAsThemselves(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for ext, kind := range map[string]string{"svg": "", "html": "", "xml": "", "js": "", "pdf": "application/pdf"} {
		key := blob.Key(int64(s.agency.ID), s.Clock.Now(), ext)
		if _, err := s.blobs.Put(t.Context(), key, strings.NewReader("<svg onload=alert(1)>"), blob.Options{Size: blob.Unknown}); err != nil {
			t.Fatal(err)
		}
		s.Super(t, s.agency.Shard, `UPDATE tenant.media SET path = $1, type = 'image/svg+xml', name = 'a.html'`, key)
		h := s.get(t, s.owner, s.link(secret.ForMember, "original", time.Hour)).header
		if h.Get("Content-Type") != cmp.Or(kind, "application/octet-stream") || !strings.HasPrefix(h.Get("Content-Disposition"), "attachment; ") ||
			h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %v", ext, h)
		}
	}
}

func TestAStoreThatIsAwayIsSaidInWords(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.blobs.fail(fmt.Errorf("open media: %w: s3.internal:9000", blob.ErrAway))
	a := s.get(t, &http.Client{}, s.link(secret.ForNetwork, "original", time.Hour))
	if a.status != 503 || !strings.Contains(a.body, "The place where files are kept can&#39;t be reached just now.") || strings.Contains(a.body, "s3.internal") {
		t.Errorf("%d: %s", a.status, a.body)
	}
}

func TestFilesAreServedForLookingAtAndInRanges(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	link := s.link(secret.ForNetwork, "original", time.Hour)
	ask := func(method string, header ...string) answer {
		r, _ := http.NewRequestWithContext(t.Context(), method, s.server.URL+link, nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		return s.do(t, &http.Client{}, r)
	}
	whole := ask("GET")
	for name, want := range map[string]string{
		"Content-Type": "image/jpeg", "X-Content-Type-Options": "nosniff", "Accept-Ranges": "bytes",
		"Content-Length": fmt.Sprint(len(s.bytes)), "Content-Disposition": `inline; filename*=utf-8''%C3%9Cnser%20%22Brot%22.jpg`,
	} {
		if got := whole.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if csp := whole.header.Get("Content-Security-Policy"); !strings.Contains(csp, "sandbox") || !strings.Contains(csp, "default-src 'none'") {
		t.Errorf("policy %q", csp)
	}
	if part := ask("GET", "Range", "bytes=10-19"); part.status != 206 || part.body != string(s.bytes[10:20]) {
		t.Errorf("range: %d, %d bytes", part.status, len(part.body))
	}
	if out := ask("GET", "Range", fmt.Sprintf("bytes=%d-", len(s.bytes))); out.status != 416 {
		t.Errorf("range behind the end: %d", out.status)
	}
	if head := ask("HEAD"); head.status != 200 || head.body != "" || head.header.Get("Content-Length") != fmt.Sprint(len(s.bytes)) {
		t.Errorf("head: %d", head.status)
	}
	if same := ask("GET", "If-None-Match", whole.header.Get("ETag")); same.status != 304 || whole.header.Get("ETag") == "" {
		t.Errorf("unchanged: %d", same.status)
	}
	if !bytes.HasPrefix(s.bytes, []byte("\xff\xd8\xff")) {
		t.Error("not a JPEG")
	}
	if post := ask("POST"); post.status != 405 {
		t.Errorf("post: %d", post.status)
	}
}
