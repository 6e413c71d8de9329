package sim

import (
	"time"

	"herald/db/network"
)

// Post is one post as the public sees it.
type Post struct {
	ID       string       `json:"id"`
	Network  network.Name `json:"network"`
	Account  string       `json:"account"`
	Kind     string       `json:"kind"` // post, photo, video, reel, story, carousel, delivery
	Text     string       `json:"text"`
	Title    string       `json:"title,omitempty"`
	Link     string       `json:"link,omitempty"`
	Media    []Media      `json:"media"`
	Time     time.Time    `json:"time"`
	Address  string       `json:"address"`
	Stranger bool         `json:"stranger,omitempty"` // not made through the API
	Replies  []Reply      `json:"replies,omitempty"`

	seq  int64
	path string // of its page, from the simulator's base
}

// Media is one picture or video of a post.
type Media struct {
	Kind    string `json:"kind"` // image, video, audio or file
	Type    string `json:"type"`
	Address string `json:"address"`
	Alt     string `json:"alt"`
	Bytes   int64  `json:"bytes"`

	path string
}

// Reply is a comment under a post.
type Reply struct {
	ID   string    `json:"id"`
	Text string    `json:"text"`
	Time time.Time `json:"time"`
}

// entry is a stored post. owner.mu guards it.
type entry struct {
	Post
	owner   *account
	born    time.Time // when it was stored; Time is when it shows
	hidden  bool      // a draft, or not for the public
	gone    time.Time // when the network or its author took it away; zero if it stands
	edited  bool
	parent  string // Mastodon: the status it answers
	private map[string]string
}

// shows says whether the public sees it. owner.mu is held.
func (e *entry) shows(now time.Time) bool {
	return !e.hidden && !e.removed(now) && !e.Time.After(now)
}

// removed says whether it was taken away. owner.mu is held.
func (e *entry) removed(now time.Time) bool { return !e.gone.IsZero() && !now.Before(e.gone) }

// copied returns the post with addresses under base. owner.mu is held.
func (e *entry) copied(base string) Post {
	p := e.Post
	p.Address = base + e.path
	p.Media = make([]Media, len(e.Media))
	for i, m := range e.Media {
		m.Address = base + m.path
		p.Media[i] = m
	}
	p.Replies = append([]Reply(nil), e.Replies...)
	return p
}

// public returns what the account shows. An answer stands under its post.
func (a *account) public(now time.Time, base string) []Post {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []Post
	for _, e := range a.posts {
		if e.shows(now) && e.parent == "" {
			out = append(out, e.copied(base))
		}
	}
	return out
}

// newest calls see for the account's posts from the newest, until it answers
// false. mu is held while it runs.
func (a *account) newest(see func(*entry) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := len(a.posts) - 1; i >= 0; i-- {
		if !see(a.posts[i]) {
			return
		}
	}
}

// read calls see with the entry under its owner's lock.
func (e *entry) read(see func()) {
	e.owner.mu.Lock()
	defer e.owner.mu.Unlock()
	see()
}

// root is the post that begins the thread of e. The owner's lock is held.
func (c *call) root(e *entry) *entry {
	for e.parent != "" {
		above, ok := thing[*entry](c.st.at(c.place.name), e.parent)
		if !ok {
			return e
		}
		e = above
	}
	return e
}

// put stores e on a. The caller holds a.mu.
func (st *state) put(a *account, e *entry) {
	e.Network, e.Account, e.owner = a.network, a.id, a
	sh := st.at(a.network)
	sh.objects.Store(e.ID, e)
	if e.path != "" {
		sh.pages.Store(e.path, e)
	}
	a.posts = append(a.posts, e)
}
