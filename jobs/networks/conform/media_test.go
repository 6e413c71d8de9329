package conform

import (
	"slices"
	"strings"
	"testing"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
)

// of is the rule for one kind of file in a format.
func of(rule network.FormatRule, kind network.MediaKind) network.FileRule {
	switch kind {
	case network.Video:
		return rule.Video
	case network.Document:
		return rule.Document
	}
	return rule.Image
}

// eachKind runs f for the kinds of file that each format takes.
func (p place) eachKind(f func(rule network.FormatRule, kind network.MediaKind)) {
	for _, rule := range p.Formats {
		for _, kind := range []network.MediaKind{network.Image, network.Video, network.Document} {
			if rule.Min > 0 && len(of(rule, kind).Types) > 0 {
				f(rule, kind)
			}
		}
	}
}

// with is a post of a format whose first file is f.
func (p place) with(w *world, rule network.FormatRule, f stuff) networks.Post {
	post := p.post(w, rule.Format)
	post.Media[0] = p.describe(w.file(f), rule)
	return post
}

func TestFiles(t *testing.T) {
	t.Parallel()
	everywhere(t,
		check{"media: every type of every format", nil, func(t *testing.T, p place) {
			p.eachKind(func(rule network.FormatRule, kind network.MediaKind) {
				for _, mime := range of(rule, kind).Types {
					t.Run(string(rule.Format)+" "+mime, func(t *testing.T) { oneType(t, p, rule, mime) })
				}
			})
		}},
		check{"media: as many files as there may be, in order", nil, func(t *testing.T, p place) {
			for _, rule := range p.Formats {
				if rule.Max > 1 {
					t.Run(string(rule.Format), func(t *testing.T) { manyFiles(t, p, rule) })
				}
			}
		}},
		check{"media: alt text arrives", nil, func(t *testing.T, p place) {
			p.formats(t, func(t *testing.T, f network.Format) { altArrives(t, p, f) })
		}},
		check{"media: types that the network does not take", place.looksAtNoFile, func(t *testing.T, p place) {
			p.eachKind(func(rule network.FormatRule, kind network.MediaKind) {
				for _, mime := range []string{"image/jpeg", "image/png", "image/gif", "image/bmp", "image/tiff", "image/webp", "video/mp4", "video/quicktime", "video/webm"} {
					if strings.HasPrefix(mime, string(kind)) && !slices.Contains(of(rule, kind).Types, mime) {
						t.Run(string(rule.Format)+" "+mime, func(t *testing.T) {
							w := newWorld(t, p)
							wantForbidden(t, w, p.with(w, rule, sample(mime)), network.MediaType)
						})
					}
				}
			})
		}},
		check{"media: a file that is not what it says", place.looksAtNoFile, func(t *testing.T, p place) {
			p.eachKind(func(rule network.FormatRule, kind network.MediaKind) {
				f := sample(of(rule, kind).Types[0])
				f.data = []byte(strings.Repeat("this is a text, whatever its name says\n", 100))
				f.Bytes, f.name = int64(len(f.data)), "text-"+f.name
				t.Run(string(rule.Format)+" "+string(kind), func(t *testing.T) {
					w := newWorld(t, p)
					wantRefused(t, w, p.with(w, rule, f))
				})
			})
		}},
		check{"media: a picture cut short", place.looksAtNoFile, func(t *testing.T, p place) {
			p.eachKind(func(rule network.FormatRule, kind network.MediaKind) {
				if kind != network.Image {
					return
				}
				f := sample("image/jpeg")
				f.data = f.data[:len(f.data)/2]
				f.Bytes, f.name = int64(len(f.data)), "cut-"+f.name
				t.Run(string(rule.Format), func(t *testing.T) {
					w := newWorld(t, p)
					wantRefused(t, w, p.with(w, rule, f))
				})
			})
		}},
		check{"media: no address, or one that gives nothing", nil, noAddress},
	)
}

func (p place) takesAnyFile() string {
	if p.Name == network.Webhook {
		return p.label() + " hands on addresses: what its receiver takes is the receiver's business, and the catalogue's bounds are ours"
	}
	return ""
}

// looksAtNoFile: a file is a file, and shown as one if it can not be shown as what
// it says.
func (p place) looksAtNoFile() string {
	if p.Name == network.Discord {
		return p.label() + " keeps whatever file it gets: the catalogue's types are those that it shows"
	}
	return p.takesAnyFile()
}

func oneType(t *testing.T, p place, rule network.FormatRule, mime string) {
	w := newWorld(t, p)
	post := p.with(w, rule, sample(mime))
	if no := p.blocked(post); no != "" {
		t.Fatalf("the catalogue refuses it: %s", no)
	}
	c := newCourier(w, w.jobOf(post))
	c.run(t.Context())
	c.wantState(t, published)
	if posts := w.public(); len(posts) != 1 || len(posts[0].Media) != len(post.Media) || posts[0].Media[0].Type != mime || posts[0].Media[0].Bytes != post.Media[0].Bytes {
		t.Errorf("got %+v, want the %s", posts, mime)
	}
}

func manyFiles(t *testing.T, p place, rule network.FormatRule) {
	w := newWorld(t, p)
	post := p.post(w, rule.Format)
	for i := len(post.Media); i < rule.Max; i++ {
		post.Media = append(post.Media, p.describe(w.file(photo("image/jpeg", 400, 400+i)), rule))
	}
	c := newCourier(w, w.jobOf(post))
	c.run(t.Context())
	c.wantState(t, published)
	var want, got []int64
	for _, m := range post.Media {
		want = append(want, m.Bytes)
	}
	for _, one := range w.public() {
		for _, m := range one.Media {
			got = append(got, m.Bytes)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got files of %v bytes, want %v", got, want)
	}
}

// altArrives: where the catalogue takes a description, the public has it; where
// not, nothing breaks over one.
func altArrives(t *testing.T, p place, f network.Format) {
	w := newWorld(t, p)
	post := p.post(w, f)
	if len(post.Media) == 0 {
		return
	}
	want := []string{}
	for i := range post.Media {
		want = append(want, post.Media[i].Alt)
		if post.Media[i].Alt == "" {
			post.Media[i].Alt = noPlace
		}
	}
	c := newCourier(w, w.jobOf(post))
	c.run(t.Context())
	c.wantState(t, published)
	for i, m := range w.public()[0].Media {
		if m.Alt != want[i] && (want[i] != "" || m.Alt != noPlace) {
			t.Errorf("file %d: got %q, want %q", i+1, m.Alt, want[i])
		}
	}
}

const noPlace = "A description that has no place here"

// wantForbidden: the catalogue refuses a post with a code, and the network
// refuses it too if it is sent all the same.
func wantForbidden(t *testing.T, w *world, post networks.Post, code string) {
	t.Helper()
	if got := w.place.blocked(post); !slices.Contains(strings.Fields(got), code) {
		t.Errorf("the catalogue says %q, want %s", got, code)
	}
	wantRefused(t, w, post)
}

// wantRefused: adapter and simulator end a post in a refusal that the writer can
// act on, and nothing is public.
func wantRefused(t *testing.T, w *world, post networks.Post) {
	t.Helper()
	c := newCourier(w, w.jobOf(post))
	for range most {
		c.attempt(t.Context())
		if c.state != ready {
			break
		}
	}
	if c.state == unknown { // Facebook works on a video after it took it
		c.run(t.Context())
	}
	if w.place.later && c.state == published {
		if no := fault.Of(c.follow(t.Context(), 1)); no != nil {
			c.state, c.last = failed, no
		}
	}
	w.wantPublic(0)
	if c.state != failed || c.last.Kind != fault.Validation || !sentence(c.last.Say) {
		t.Errorf("ended %s with %v, want a refusal", c.state, c.last)
	}
}

// noAddress: an adapter that can send bytes does; one that cannot says so, and
// an address that gives nothing is no reason to publish without the picture.
func noAddress(t *testing.T, p place) {
	for _, rule := range p.Formats {
		if rule.Min == 0 {
			continue
		}
		t.Run(string(rule.Format), func(t *testing.T) {
			w := newWorld(t, p)
			post := p.post(w, rule.Format)
			for i := range post.Media {
				post.Media[i].URL = ""
			}
			c := newCourier(w, w.jobOf(post))
			c.run(t.Context())
			if c.state == published {
				w.wantPublic(1)
				if got := w.public()[0].Media; len(got) != len(post.Media) || got[0].Bytes != post.Media[0].Bytes {
					t.Errorf("got %+v", got)
				}
			} else {
				c.wantState(t, failed)
				w.wantPublic(0)
			}
			if !p.Pulls || p.takesAnyFile() != "" || rule.Format == p.sent {
				return
			}
			w = newWorld(t, p)
			post = p.post(w, rule.Format)
			post.Media[0].URL = strings.Replace(post.Media[0].URL, signature, "sig=expired", 1)
			wantRefused(t, w, post)
		})
	}
}
