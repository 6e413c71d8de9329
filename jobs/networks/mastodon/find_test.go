package mastodon

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
)

func window() networks.Window {
	return networks.Window{Since: noon.Add(-2 * time.Minute), Until: noon.Add(30 * time.Minute)}
}

func TestFindTellsOurPostFromOthers(t *testing.T) {
	t.Parallel()
	ours := post{text: "Hello, world"}
	for name, tt := range map[string]struct {
		posts []post
		taken []string
		want  networks.Verdict
	}{
		"nothing there":               {nil, nil, networks.Absent},
		"ours":                        {[]post{ours}, nil, networks.Found},
		"ours, composed otherwise":    {[]post{{text: "  Hello, world\r\n"}}, nil, networks.Found},
		"ours, made unlisted":         {[]post{{text: "Hello, world", visibility: "unlisted"}}, nil, networks.Found},
		"another text":                {[]post{{text: "Hello, World"}}, nil, networks.Absent},
		"ours, tied to another":       {[]post{ours}, []string{"100"}, networks.Absent},
		"two alike, one is another's": {[]post{ours, ours}, []string{"100"}, networks.Found},
		"two alike":                   {[]post{ours, ours}, nil, networks.CantTell},
		"a reply with the same text":  {[]post{{text: "Hello, world", replyTo: "5"}}, nil, networks.Absent},
		"a private note alike":        {[]post{{text: "Hello, world", visibility: "direct"}}, nil, networks.Absent},
		"with a content warning":      {[]post{{text: "Hello, world", spoiler: "food"}}, nil, networks.Absent},
		"with a picture":              {[]post{{text: "Hello, world", media: []string{"11"}}}, nil, networks.Absent},
		"before the window":           {[]post{{text: "Hello, world", made: noon.Add(-3 * time.Minute)}}, nil, networks.Absent},
		"after the window":            {[]post{{text: "Hello, world", made: noon.Add(31 * time.Minute)}}, nil, networks.Absent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, a, job := newServer(t)
			for _, p := range tt.posts {
				s.add(p)
			}
			w := window()
			w.Taken = tt.taken
			f, err := a.Find(t.Context(), job, newHandles(), w)
			if err != nil || f.Verdict != tt.want || !strings.HasSuffix(f.Say, ".") {
				t.Errorf("got %+v, %v; want %s", f, err, tt.want)
			}
			if f.Verdict == networks.Found && (f.Receipt.ExternalID == "" || f.Receipt.Permalink == "") {
				t.Errorf("receipt %+v", f.Receipt)
			}
		})
	}
}

func TestFindKnowsAPostByItsFiles(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	job, h := withPictures(job, 2), newHandles()
	r := mustPublish(t, s, a, job, h)
	s.add(post{text: job.Post.Text, media: []string{"901", "902"}}) // a stranger's, alike
	s.posts[0].text = "the server changed it"
	f, err := a.Find(t.Context(), job, h, window())
	if err != nil || f.Verdict != networks.Found || f.Receipt.ExternalID != r.ExternalID {
		t.Errorf("got %+v, %v; want ours", f, err)
	}
	w := window()
	w.Taken = []string{r.ExternalID}
	if f, err = a.Find(t.Context(), job, h, w); err != nil || f.Verdict != networks.CantTell {
		t.Errorf("only the stranger's: got %+v, %v; want can't tell", f, err)
	}
}

func TestFindReadsAllPagesOfTheWindow(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	s.add(post{text: "long before", made: noon.Add(-time.Hour)})
	id := s.add(post{text: job.Post.Text})
	for range 95 {
		s.add(post{text: "a contest entry", visibility: "private"})
	}
	f, err := a.Find(t.Context(), job, newHandles(), window())
	if err != nil || f.Verdict != networks.Found || f.Receipt.ExternalID != id {
		t.Errorf("got %+v, %v; want %s", f, err, id)
	}
	if n := s.count("GET /api/v1/accounts/7/statuses"); n != 3 {
		t.Errorf("%d pages read, want 3", n)
	}
}

func TestFindCantTellIfTheWindowCouldNotBeReadWhole(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	for range maxSources + 1 { // every word of ours, and one more
		s.add(post{text: job.Post.Text + " entry"})
	}
	if f, err := a.Find(t.Context(), job, newHandles(), window()); err != nil || f.Verdict != networks.CantTell {
		t.Errorf("too many texts: %+v, %v", f, err)
	}
	s.posts = nil
	for range maxPages*pageSize + 1 {
		s.add(post{text: "x", visibility: "direct"})
	}
	if f, err := a.Find(t.Context(), job, newHandles(), window()); err != nil || f.Verdict != networks.CantTell {
		t.Errorf("too many pages: %+v, %v", f, err)
	}
}

func TestFindReadsOnlyTextsThatResemble(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	job.Post.Text = "Fresh bread, “today” #rye @miller@mill.example https://bakery.example/a/long/way/to/the/oven <b>&"
	for range maxSources + 1 {
		s.add(post{text: "Fresh rolls, “today”"})
	}
	if f, err := a.Find(t.Context(), job, newHandles(), window()); err != nil || f.Verdict != networks.Absent {
		t.Errorf("other texts only: %+v, %v", f, err)
	}
	id := s.add(post{text: job.Post.Text})
	if f, err := a.Find(t.Context(), job, newHandles(), window()); err != nil || f.Verdict != networks.Found || f.Receipt.ExternalID != id {
		t.Errorf("ours among them: %+v, %v", f, err)
	}
	if n := s.count("GET /api/v1/statuses/" + id + "/source"); n != 1 {
		t.Errorf("our text was read %d times, want once", n)
	}
}

func TestFindCantTellIfATextIsNotShown(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	s.add(post{text: job.Post.Text})
	s.hook = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/source") {
			return false
		}
		fail(w, 404, "Not found")
		return true
	}
	if f, err := a.Find(t.Context(), job, newHandles(), window()); err != nil || f.Verdict != networks.CantTell {
		t.Errorf("got %+v, %v", f, err)
	}
}

func TestFindAsksWhoTheAccountIsAndPassesOnFaults(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	job.Account.RemoteID = ""
	s.add(post{text: job.Post.Text})
	if f, err := a.Find(t.Context(), job, newHandles(), window()); err != nil || f.Verdict != networks.Found {
		t.Errorf("got %+v, %v", f, err)
	}
	s.hook = func(w http.ResponseWriter, r *http.Request) bool { fail(w, 503, "busy"); return true }
	_, err := a.Find(t.Context(), job, newHandles(), window())
	wantKind(t, err, fault.Transient, "http_503")
}

func TestAContentWarningWithoutTextIsFoundAsTheText(t *testing.T) {
	t.Parallel()
	d := draft{spoiler: "Look"}
	if !d.same("Look", "") || !d.same("", "Look") || d.same("Look", "Look") || d.same("", "") {
		t.Error("a warning without text is compared wrongly")
	}
}

func TestTheFirstCommentIsAReplyWrittenOnce(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	job.Post.FirstComment = "More at the shop"
	job.Post.Options = map[string]string{network.OptVisibility: "unlisted", network.OptSpoiler: "food"}
	h := newHandles()
	r := mustPublish(t, s, a, job, h)
	s.after = func(w http.ResponseWriter, _ *http.Request) bool { fail(w, 504, "timeout"); return true }
	_, err := a.Follow(t.Context(), job, r, h)
	wantKind(t, err, fault.Transient, "http_504")
	s.after = nil
	for range 3 {
		if _, err := a.Follow(t.Context(), job, r, h); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.posts) != 2 || s.posts[1].replyTo != r.ExternalID || s.posts[1].text != "More at the shop" || s.posts[1].visibility != "unlisted" || s.posts[1].key == s.posts[0].key {
		t.Errorf("posts %+v", s.posts)
	}
	if n := s.count("POST /api/v1/statuses"); n != 3 {
		t.Errorf("%d posts tried, want 3", n)
	}
}

func TestAnOldFirstCommentIsLookedForBeforeItIsWrittenAgain(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	job.Post.FirstComment = "More at the shop"
	h := newHandles()
	r := mustPublish(t, s, a, job, h)
	s.after = func(w http.ResponseWriter, _ *http.Request) bool { fail(w, 504, "timeout"); return true }
	_, err := a.Follow(t.Context(), job, r, h)
	wantKind(t, err, fault.Transient, "http_504")
	s.after, s.keys = nil, map[string]string{}
	s.pass(2 * time.Hour)
	if _, err := a.Follow(t.Context(), job, r, h); err != nil || len(s.posts) != 2 || h.Get(comment) != "101" {
		t.Errorf("%v, %d posts, comment %q", err, len(s.posts), h.Get(comment))
	}
}

func TestAMissingPermalinkIsReadAfterwards(t *testing.T) {
	t.Parallel()
	s, a, job := newServer(t)
	r := mustPublish(t, s, a, job, newHandles())
	r.Permalink = ""
	if r, err := a.Follow(t.Context(), job, r, newHandles()); err != nil || r.Permalink != "https://m.example/@a/100" {
		t.Errorf("%+v, %v", r, err)
	}
}
