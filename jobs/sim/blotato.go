package sim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
)

// blotato is Blotato's API. Its account is a connected account, whatever its
// network; what is published stands here.
type blotato struct{ sim *Sim }

const blotatoName = network.Name(network.Blotato)

func newBlotato(s *Sim) *place {
	b := &blotato{s}
	p := &place{
		name: blotatoName, title: "Blotato", mux: http.NewServeMux(),
		kinds: allKinds, complain: b.complain, stranger: b.stranger, decorate: func(*call, *reply) {},
	}
	p.on(s, "POST /v2/media/uploads", Prepare, b.initUpload)
	p.on(s, "PUT /store/{id}/{name}", Prepare, b.store)
	p.on(s, "POST /v2/posts", Commit, b.create)
	p.on(s, "GET /v2/posts", Find, b.list)
	p.on(s, "GET /v2/posts/{id}", Find, b.show)
	p.on(s, "GET /v2/users/me/accounts", Check, b.accounts)
	p.on(s, "GET /v2/users/me/accounts/{id}/subaccounts", Check, b.pages)
	p.on(s, "/", Check, func(*call) *reply { return blotatoError(http.StatusNotFound, "Not Found") })
	return p
}

func blotatoError(status int, message string) *reply {
	return answer(status, map[string]any{"statusCode": status, "message": message})
}

func blotatoBad(message string) *reply {
	return blotatoError(http.StatusUnprocessableEntity, message)
}

// complain says a fault in Blotato's words, which name no wait by themselves.
func (b *blotato) complain(_ *call, k Kind, status int, wait time.Duration) *reply {
	switch k {
	case RateLimit:
		return blotatoError(http.StatusTooManyRequests, "Rate limit exceeded").with("Retry-After", seconds(wait))
	case ExpiredToken:
		return blotatoError(http.StatusUnauthorized, "Unauthorized")
	case MissingPermission:
		return blotatoError(http.StatusForbidden, "Your plan does not include the API")
	case Invalid:
		return blotatoBad("The content is not acceptable")
	}
	return blotatoError(status, http.StatusText(status))
}

// enter finds the account of a key, or the one that the call names.
func (b *blotato) enter(c *call, id string) (*account, *reply) {
	key := c.r.Header.Get("blotato-api-key")
	a, _, v := c.admitByToken(key)
	if id != "" {
		a, _, v = c.admit(id, key)
	}
	switch v {
	case good:
		return a, b.paced(c, a)
	case noScope:
		return a, b.complain(c, MissingPermission, 0, 0)
	case elsewhere:
		return a, blotatoBad("Wrong Account ID")
	}
	return a, b.complain(c, ExpiredToken, 0, 0)
}

// blotatoPace is how many calls it takes in a minute: posts, looks and uploads.
var blotatoPace = map[Step]int{Commit: 30, Find: 60, Prepare: 120}

// paced refuses a call above the limit, and says nothing of when there is room.
func (b *blotato) paced(c *call, a *account) *reply {
	limit := c.sim.Knobs().CallLimit
	if limit < 0 {
		limit = blotatoPace[c.step]
	}
	if limit == 0 || a.room(string(c.step), c.now, pace{limit, time.Minute}) {
		return nil
	}
	return blotatoError(http.StatusTooManyRequests, "Rate limit exceeded")
}

// blotatoFile is an upload, which anybody may put who has its address.
type blotatoFile struct {
	owner *account
	blob  blob
	put   bool
}

func (b *blotato) initUpload(c *call) *reply {
	var v struct {
		Name string `json:"filename"`
	}
	err := c.object(&v)
	a, no := b.enter(c, "")
	switch {
	case no != nil:
		return no
	case err != nil:
		return blotatoBad(err.Error())
	case v.Name == "" || strings.Contains(v.Name, "/"):
		return blotatoBad("filename is required")
	}
	return c.do(Prepare, a, func() *reply {
		at := c.base() + "/blotato/store/" + strconv.FormatInt(c.sim.next(), 36) + "/f"
		c.st.at(blotatoName).objects.Store(at, &blotatoFile{owner: a})
		return answer(http.StatusCreated, map[string]any{"presignedUrl": at + "?sig=s", "publicUrl": at})
	})
}

func (b *blotato) store(c *call) *reply {
	f, ok := thing[*blotatoFile](c.st.at(blotatoName), c.base()+"/blotato/store/"+c.r.PathValue("id")+"/f")
	if !ok || c.r.URL.Query().Get("sig") != "s" {
		return &reply{status: http.StatusForbidden}
	}
	got, err := c.raw(1 << 30)
	return c.do(Prepare, f.owner, func() *reply {
		if err != nil || bodyIsForm(c.r) {
			return &reply{status: http.StatusBadRequest}
		}
		f.blob, f.put = got, true
		return &reply{status: http.StatusOK}
	})
}

// bodyIsForm: a presigned address takes raw bytes, not a form or JSON.
func bodyIsForm(r *http.Request) bool {
	kind, _ := bodyKind(r)
	return kind == "json" || kind == "multipart" || kind == "form"
}

// blotatoTargets are the members of each network's target: s text, b yes or no, n a
// number, l words; ! is required.
var blotatoTargets = map[string]string{
	"twitter": "", "bluesky": "", "linkedin": "pageId:s", "threads": "replyControl:s",
	"facebook":  "pageId:s! mediaType:reel|video|story link:s",
	"instagram": "mediaType:reel|story altText:s collaborators:l coverImageUrl:s audioName:s shareToFeed:b",
	"tiktok": "privacyLevel:SELF_ONLY|PUBLIC_TO_EVERYONE|MUTUAL_FOLLOW_FRIENDS|FOLLOWER_OF_CREATOR! disabledComments:b! disabledDuet:b! disabledStitch:b! isBrandedContent:b! " +
		"isYourBrand:b! isAiGenerated:b! title:s autoAddMusic:b isDraft:b imageCoverIndex:n videoCoverTimestamp:n",
	"pinterest": "boardId:s! title:s altText:s link:s",
	"youtube":   "title:s! privacyStatus:private|public|unlisted! shouldNotifySubscribers:b! isMadeForKids:b containsSyntheticMedia:b",
}

// blotatoMore is a post of a thread behind the first.
type blotatoMore struct {
	Text *string   `json:"text"`
	URLs *[]string `json:"mediaUrls"`
}

// blotatoThreads are the networks that have threads there.
var blotatoThreads = []string{"twitter", "threads", "bluesky"}

// thread answers the posts behind the first, each below the one before.
func (v blotatoBody) thread(n *network.Network, now func() (string, time.Time)) (list []Reply, no *reply) {
	content := v.Post.Content
	if len(content.More) > 0 && !slices.Contains(blotatoThreads, content.Platform) {
		return nil, blotatoBad("additionalPosts are not for " + content.Platform)
	}
	if len(content.More) > 10 {
		return nil, blotatoBad("additionalPosts has at most 10 items")
	}
	for _, more := range content.More {
		switch {
		case more.Text == nil || more.URLs == nil || strings.TrimSpace(*more.Text) == "":
			return nil, blotatoBad("additionalPosts need text and mediaUrls")
		case len(*more.URLs) > 0:
			return nil, blotatoBad("The media cannot be reached")
		case n.Count(*more.Text) > n.Text.Max:
			return nil, blotatoBad("text is too long")
		}
		id, at := now()
		list = append(list, Reply{ID: id, Text: *more.Text, Time: at})
	}
	return list, nil
}

// blotatoBody is a new post. A time that stands inside it is not seen, and the post
// goes out at once.
type blotatoBody struct {
	Post struct {
		Account json.RawMessage `json:"accountId"`
		Content struct {
			Text     string        `json:"text"`
			URLs     []string      `json:"mediaUrls"`
			Platform string        `json:"platform"`
			More     []blotatoMore `json:"additionalPosts"`
		} `json:"content"`
		Target json.RawMessage `json:"target"`
		Hidden string          `json:"scheduledTime"`
	} `json:"post"`
	Time string `json:"scheduledTime"`
	Next bool   `json:"useNextFreeSlot"`
}

func (b *blotato) create(c *call) *reply {
	var v blotatoBody
	err := c.object(&v)
	a, no := b.enter(c, strings.Trim(string(v.Post.Account), `"`))
	switch {
	case no != nil:
		return no
	case err != nil:
		return blotatoBad(err.Error())
	}
	return c.do(Commit, a, func() *reply {
		e, files, no := b.compose(c, v)
		if no != nil {
			return no
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		e.ID = strconv.FormatInt(c.sim.next(), 10)
		e.path, e.Time = "/blotato/p/"+e.ID, c.now
		if due, err := time.Parse(time.RFC3339, v.Time); err == nil && due.After(c.now) {
			e.Time = due
		}
		for _, f := range files {
			e.Media = append(e.Media, c.keepMedia(f, e.private["alt"]))
		}
		c.publish(a, e)
		if no := blotatoRefused(e, v.Post.Content.Platform, files); no != "" {
			e.private["failed"], e.gone = no, c.now
		}
		return answer(http.StatusCreated, map[string]any{"postSubmissionId": e.ID})
	})
}

func (b *blotato) compose(c *call, v blotatoBody) (*entry, []blob, *reply) {
	content := v.Post.Content
	members, ok := blotatoTargets[content.Platform]
	target, bad := readMembers("targetType:"+content.Platform+"! "+members, v.Post.Target)
	name, _ := network.FromWire(network.Blotato, content.Platform)
	n, known := network.Get(name)
	switch {
	case !ok || !known:
		return nil, nil, blotatoBad("platform is not known")
	case bad != "":
		return nil, nil, blotatoBad(bad)
	case len(content.URLs) > 20:
		return nil, nil, blotatoBad("mediaUrls has at most 20 items")
	case n.Text.Max > 0 && n.Count(content.Text) > n.Text.Max:
		return nil, nil, blotatoBad("text is too long")
	}
	e := &entry{Post: Post{Kind: "post", Text: content.Text, Title: target.text("title"), Link: target.text("link")},
		private: map[string]string{"alt": target.text("altText"), "as": target.text("mediaType")}}
	replies, no := v.thread(n, func() (string, time.Time) { return strconv.FormatInt(c.sim.next(), 10), c.now })
	if no != nil {
		return nil, nil, no
	}
	e.Replies = replies
	var files []blob
	for _, url := range content.URLs {
		f, ok := thing[*blotatoFile](c.st.at(blotatoName), url)
		if !ok || !f.put {
			return nil, nil, blotatoBad("The media cannot be reached")
		}
		files = append(files, f.blob)
		e.Kind = map[string]string{"image": "photo", "video": "video"}[f.blob.kind]
	}
	return e, files, nil
}

// blotatoRefused is what the network has against the files.
func blotatoRefused(e *entry, platform string, files []blob) string {
	name, _ := network.FromWire(network.Blotato, platform)
	if slices.ContainsFunc(files, broken) || against(name, e.Text, e.private["as"], e.Title, files, func(int) string { return e.private["alt"] }) != "" {
		return "Invalid File Format"
	}
	return ""
}

// show tells of a submission. One that nobody knows is in progress too.
func (b *blotato) show(c *call) *reply {
	id := c.r.PathValue("id")
	a, no := b.enter(c, "")
	if no != nil {
		return no
	}
	return c.do(Find, a, func() *reply {
		out := map[string]any{"postSubmissionId": id, "status": "in-progress"}
		e, ok := thing[*entry](c.st.at(blotatoName), id)
		if !ok || e.owner != a {
			return answer(http.StatusOK, out)
		}
		work := c.sim.faults.take(c, asyncKinds)
		e.read(func() {
			if work != nil && work.Kind == AsyncError && !e.removed(c.now) {
				e.private["failed"], e.gone = "The media could not be processed", c.now
			}
			switch {
			case e.private["failed"] != "":
				out["status"], out["errorMessage"] = "failed", e.private["failed"]
			case work != nil || e.removed(c.now):
			case e.Time.After(c.now):
				out["status"], out["scheduledTime"] = "scheduled", e.Time.Format(time.RFC3339)
			default:
				out["status"] = "published"
				if c.now.Sub(e.born) >= c.sim.Knobs().ReadLag {
					out["publicUrl"] = c.base() + e.path
				}
			}
		})
		return answer(http.StatusOK, out)
	})
}

// list has what was submitted through Blotato, newest first.
func (b *blotato) list(c *call) *reply {
	a, no := b.enter(c, "")
	if no != nil {
		return no
	}
	return c.do(Find, a, func() *reply {
		items, _ := c.listPage(a, 0, 100, func(e *entry) bool { return !e.Stranger }, func(e *entry) any {
			return map[string]any{"postSubmissionId": e.ID, "accountId": a.id, "status": "published", "content": map[string]any{"text": e.Text}, "createdAt": e.born.UTC().Format(time.RFC3339Nano)}
		})
		return answer(http.StatusOK, map[string]any{"items": items})
	})
}

func (b *blotato) accounts(c *call) *reply {
	a, no := b.enter(c, "")
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		items := []any{}
		if platform := c.r.URL.Query().Get("platform"); platform != "" {
			items = append(items, map[string]any{"id": a.id, "platform": platform, "fullname": a.Name(), "username": a.Handle()})
		}
		return answer(http.StatusOK, map[string]any{"items": items})
	})
}

func (b *blotato) pages(c *call) *reply {
	a, no := b.enter(c, c.r.PathValue("id"))
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		return answer(http.StatusOK, map[string]any{"items": []any{map[string]any{"id": "77" + a.id, "accountId": a.id, "name": a.Name()}}})
	})
}

func (b *blotato) stranger(st *state, accountID, text string) *entry {
	return b.sim.foreign(st, blotatoName, accountID, text, func(_ *account, n int64) (string, string) {
		id := strconv.FormatInt(n, 10)
		return id, "/blotato/p/" + id
	})
}
