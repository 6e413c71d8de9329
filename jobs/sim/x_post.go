package sim

import (
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/unicode/norm"
)

// xPost is the body of a post. A member that is not here is refused.
type xPost struct {
	Text  *string `json:"text"`
	Media *struct {
		IDs    []string `json:"media_ids"`
		Tagged []string `json:"tagged_user_ids"`
	} `json:"media"`
	Reply *struct {
		To string `json:"in_reply_to_tweet_id"`
	} `json:"reply"`
	Replies string `json:"reply_settings"`
	AI      bool   `json:"made_with_ai"`
	Paid    bool   `json:"paid_partnership"`
}

const (
	xText  = 280
	xTwins = 24 * time.Hour // for which the same text is refused, if the knob says so
)

func (t *x) createPost(c *call) *reply {
	a, no := t.open(c, "tweet.write")
	if no != nil {
		return no
	}
	var b xPost
	if err := c.object(&b); err != nil {
		return xInvalid("body", "%s", err)
	}
	step := Commit
	if b.Reply != nil {
		step = FollowUp
	}
	return c.do(step, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		told, rep := t.spend(c, a)
		if rep == nil {
			rep = t.make(c, a, b)
		}
		for name, value := range told {
			rep.with(name, value)
		}
		return rep
	})
}

// make checks and stores a post. a.mu is held.
func (t *x) make(c *call, a *account, b xPost) *reply {
	text := *orEmpty(b.Text)
	files := []*xMedia{}
	if b.Media != nil {
		var no *reply
		if files, no = t.attach(c, a, b.Media.IDs); no != nil {
			return no
		}
	}
	switch weight := xWeight(text); {
	case strings.TrimSpace(text) == "" && len(files) == 0:
		return xInvalid("text", "The post has neither text nor media.")
	case weight > xText:
		return xForbidden("Tweet needs to be a bit shorter.")
	case len(xCash.FindAllString(text, -1)) > 1:
		return xForbidden("You are only allowed a maximum of one cashtag per post.")
	case b.Replies != "" && !slices.Contains([]string{"following", "mentionedUsers", "subscribers", "verified"}, b.Replies):
		return xInvalid("reply_settings", "%s is not one of [following,mentionedUsers,subscribers,verified]", b.Replies)
	case c.sim.Knobs().Duplicates && text != "" && a.said(text, c.now.Add(-xTwins), c.now):
		return xForbidden("You are not allowed to create a Tweet with duplicate content.")
	}
	n := c.sim.next()
	id := xID(n)
	e := &entry{
		Post:    Post{ID: id, Kind: "post", Text: text, Time: c.now, path: "/x/" + a.Handle() + "/status/" + id},
		private: map[string]string{"replies": b.Replies},
	}
	if b.Reply != nil {
		if no := t.answers(c, e, b.Reply.To); no != nil {
			return no
		}
	}
	for _, f := range files {
		f.used = true
		e.Media = append(e.Media, c.keepMedia(f.data, f.alt))
		e.private["keys"] += f.key() + " "
	}
	c.publish(a, e)
	shown, _ := xShorten(e)
	return answer(http.StatusCreated, map[string]any{"data": map[string]any{"id": id, "text": shown, "edit_history_post_ids": []string{id}}})
}

// said tells whether the account has a post of that text since then. mu is held.
func (a *account) said(text string, since, now time.Time) bool {
	return slices.ContainsFunc(a.posts, func(e *entry) bool { return e.Text == text && e.born.After(since) && !e.removed(now) })
}

// answers ties a reply to what it answers: a post of the caller's own, since
// others have to mention the app's account first. The owner's lock is held.
func (t *x) answers(c *call, e *entry, to string) *reply {
	parent, ok := thing[*entry](c.st.at(c.place.name), to)
	switch {
	case !ok || parent.owner != c.account || parent.removed(c.now):
		return xForbidden("You attempted to reply to a Tweet that is deleted or not visible to you.")
	case c.sim.Knobs().Summoned:
		return xForbidden("You are not permitted to perform this action.")
	}
	e.parent, e.Kind = to, "reply"
	root := c.root(parent)
	root.Replies = append(root.Replies, Reply{ID: e.ID, Text: e.Text, Time: c.now})
	return nil
}

func (t *x) deletePost(c *call) *reply {
	a, no := t.open(c, "tweet.write")
	if no != nil {
		return no
	}
	return c.do(FollowUp, a, func() *reply {
		if e, ok := thing[*entry](c.st.at(a.network), c.r.PathValue("id")); ok && e.owner == a {
			e.read(func() { e.gone = c.now })
		}
		return answer(http.StatusOK, map[string]any{"data": map[string]bool{"deleted": true}})
	})
}

var (
	xCash = regexp.MustCompile(`(^|\s)\$[A-Za-z]{1,6}([._][A-Za-z]{1,2})?\b`)
	// An address begins where no letter, digit or sign of a name stands before it.
	xLink = regexp.MustCompile(`(?i)(^|[^a-z0-9@＠$#＃_./-])((https?://)?((?:[\p{L}\p{N}](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?\.)+[a-z]{2,})(:\d+)?([/?][^\s<>"]*)?)`)
)

// xLinks are the addresses of a text, as pairs of byte offsets.
func xLinks(text string) (list [][2]int) {
	for at := 0; at < len(text); {
		m := xLink.FindStringSubmatchIndex(text[at:])
		if m == nil {
			return list
		}
		start, end, host := at+m[4], at+m[5], text[at+m[8]:at+m[9]]
		top := host[strings.LastIndexByte(host, '.')+1:]
		_, known := publicsuffix.PublicSuffix("a." + strings.ToLower(top))
		bare := m[6] < 0 && strings.IndexFunc(host, func(r rune) bool { return r > 0x24f }) >= 0
		if !known || bare {
			at += max(m[5]-1, 1)
			continue
		}
		end -= len(text[start:end]) - len(strings.TrimRight(text[start:end], ".,;:!?'\")]"))
		list, at = append(list, [2]int{start, end}), end
	}
	return list
}

// xWeight counts a text as X does: 23 for an address, two for an emoji, one or
// two for other characters.
func xWeight(text string) (n int) {
	at := 0
	for _, l := range xLinks(text) {
		n += xWeigh(text[at:l[0]]) + 23
		at = l[1]
	}
	return n + xWeigh(text[at:])
}

func xWeigh(text string) (n int) {
	clusters := uniseg.NewGraphemes(norm.NFC.String(text))
	for clusters.Next() {
		rs := clusters.Runes()
		if len(rs) > 1 && slices.ContainsFunc(rs, func(r rune) bool { return r == 0x20e3 || r == 0xfe0f || r >= 0x1f000 && r < 0x1fb00 }) {
			n += 2
			continue
		}
		for _, r := range rs {
			n++
			if !(r <= 4351 || r >= 8192 && r <= 8205 || r >= 8208 && r <= 8223 || r >= 8242 && r <= 8247) {
				n++
			}
		}
	}
	return n
}

// xEntity is an address that X put its own in place of.
type xEntity struct {
	Start    int    `json:"start"`
	End      int    `json:"end"`
	URL      string `json:"url"`
	Expanded string `json:"expanded_url"`
	Display  string `json:"display_url"`
	MediaKey string `json:"media_key,omitempty"`
}

// xShorten is a post's text as X gives it: addresses replaced, markup escaped,
// an address of the media at its end.
func xShorten(e *entry) (text string, list []xEntity) {
	add := func(display, expanded, key string) {
		short := "https://t.co/" + shortcode(e.seq*1000 + int64(len(list)))[:10]
		start := len([]rune(text))
		text += short
		list = append(list, xEntity{start, start + len(short), short, expanded, display, key})
	}
	at := 0
	for _, l := range xLinks(e.Text) {
		text += html.EscapeString(e.Text[at:l[0]])
		expanded := e.Text[l[0]:l[1]]
		if !strings.HasPrefix(strings.ToLower(expanded), "http") {
			expanded = "http://" + expanded
		}
		add(strings.TrimPrefix(expanded, "https://"), expanded, "")
		at = l[1]
	}
	text = strings.TrimRightFunc(text+html.EscapeString(e.Text[at:]), unicode.IsSpace)
	if len(e.Media) > 0 {
		if text != "" {
			text += " "
		}
		add("pic.x.com", "https://x.com/x/status/"+e.ID+"/photo/1", strings.Fields(e.private["keys"])[0])
	}
	return text, list
}
