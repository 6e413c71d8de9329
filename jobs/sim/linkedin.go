package sim

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"herald/db/network"
)

// linkedin is the versioned REST API. An account is an organisation, or a member:
// its URN ends with its id. Uploads are in linkedin_media.go.
type linkedin struct{ sim *Sim }

const (
	liText    = 3000 // of the little text as it is sent
	liComment = 1250
	liAlt     = 4086
	liTitle   = 400
	liTwins   = 24 * time.Hour
)

var liVersion = regexp.MustCompile(`^20(2[5-9]|[3-9][0-9])(0[1-9]|1[0-2])$`)

// liOldest is the oldest version that still works.
const liOldest = "202510"

var liDesk = desk{id: "client_id", secret: "client_secret", apart: " ", life: 60 * 24 * time.Hour, hold: hold{365 * 24 * time.Hour, true}, tells: "refresh_token_expires_in", keeps: true}

func newLinkedIn(s *Sim) *place {
	l := &linkedin{s}
	p := &place{
		name: network.LinkedIn, title: "LinkedIn", mux: http.NewServeMux(),
		kinds: allKinds, complain: l.complain, stranger: l.stranger,
		decorate: func(c *call, rep *reply) { rep.with("X-Li-Uuid", c.id) },
	}
	p.on(s, "POST /rest/posts", Commit, l.createPost)
	p.on(s, "GET /rest/posts", Find, l.listPosts)
	p.on(s, "GET /rest/posts/{urn}", Find, l.showPost)
	p.on(s, "DELETE /rest/posts/{urn}", FollowUp, l.deletePost)
	p.on(s, "POST /rest/socialActions/{urn}/comments", FollowUp, l.createComment)
	p.on(s, "GET /rest/socialActions/{urn}/comments", FollowUp, l.listComments)
	for _, kind := range []string{"images", "videos", "documents"} {
		p.on(s, "POST /rest/"+kind, Prepare, func(c *call) *reply { return l.begin(c, kind) })
		p.on(s, "GET /rest/"+kind+"/{urn}", Prepare, l.showAsset)
	}
	p.on(s, "PUT /dms-uploads/{id}/{part}", Prepare, l.put)
	p.on(s, "GET /rest/organizationAcls", Check, l.acls)
	p.on(s, "GET /v2/userinfo", Check, l.userinfo)
	p.on(s, "GET /rest/organizations/{id}", Check, l.organisation)
	p.on(s, "GET /oauth/v2/authorization", Token, liDesk.consent)
	p.on(s, "POST /oauth/v2/accessToken", Token, liDesk.token)
	p.on(s, "POST /oauth/v2/revoke", Token, liDesk.revoke)
	p.on(s, "/", Check, func(*call) *reply {
		return liError(http.StatusNotFound, "RESOURCE_NOT_FOUND", "No virtual resource found")
	})
	return p
}

func liError(status int, code, message string) *reply {
	return answer(status, map[string]any{"status": status, "code": code, "message": message})
}

// complain says a fault in LinkedIn's words.
func (l *linkedin) complain(c *call, k Kind, status int, wait time.Duration) *reply {
	if c.step == Token {
		return oauthComplaint(k, status, wait)
	}
	switch k {
	case RateLimit:
		rep := liError(http.StatusTooManyRequests, "TOO_MANY_REQUESTS", "Resource level throttle APPLICATION_AND_MEMBER DAY limit reached")
		if wait > 0 {
			rep.with("Retry-After", seconds(wait))
		}
		return rep
	case ExpiredToken:
		return liError(http.StatusUnauthorized, "EXPIRED_ACCESS_TOKEN", "The token used in the request has expired")
	case MissingPermission:
		return liError(http.StatusForbidden, "ACCESS_DENIED", "Not enough permissions to access: POST /posts")
	case Invalid:
		return liError(http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", "Invalid value for field")
	}
	if status > http.StatusInternalServerError {
		return &reply{status: status, kind: "text/html", body: []byte("<html><body>upstream</body></html>")}
	}
	return liError(status, strings.ToUpper(strings.ReplaceAll(http.StatusText(status), " ", "_")), http.StatusText(status))
}

// open checks the headers, then finds the account that urn names and its token.
func (l *linkedin) open(c *call, urn string, scopes ...string) (*account, *reply) {
	if no := liHeaders(c); no != nil {
		return nil, no
	}
	id := urn[strings.LastIndexByte(urn, ':')+1:]
	if urn != "urn:li:organization:"+id && urn != "urn:li:person:"+id {
		return nil, liError(http.StatusBadRequest, "INVALID_URN_TYPE", "The URN type is not supported")
	}
	a, _, v := c.admit(id, c.bearer(), scopes...)
	return a, liVerdict(v)
}

func liHeaders(c *call) *reply {
	switch version := c.r.Header.Get("LinkedIn-Version"); {
	case version == "":
		return liError(http.StatusBadRequest, "VERSION_MISSING", "A version must be present. Please specify a version by adding the LinkedIn-Version header.")
	case !liVersion.MatchString(version), version < liOldest:
		return liError(http.StatusUpgradeRequired, "NONEXISTENT_VERSION", "Requested version "+version+" is not active")
	case c.r.Header.Get("X-Restli-Protocol-Version") != "2.0.0":
		return liError(http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", "X-Restli-Protocol-Version has to be 2.0.0")
	}
	return nil
}

func liVerdict(v verdict) *reply {
	switch v {
	case good:
		return nil
	case noScope, elsewhere:
		return liError(http.StatusForbidden, "ACCESS_DENIED", "Not enough permissions to access this resource")
	case expired:
		return liError(http.StatusUnauthorized, "EXPIRED_ACCESS_TOKEN", "The token used in the request has expired")
	case revoked:
		return liError(http.StatusUnauthorized, "REVOKED_ACCESS_TOKEN", "The token used in the request has been revoked by the user")
	case noToken:
		return liError(http.StatusUnauthorized, "EMPTY_ACCESS_TOKEN", "Empty oauth2 access token")
	}
	return liError(http.StatusUnauthorized, "INVALID_ACCESS_TOKEN", "Invalid access token")
}

// liPost is the body of a post. A member that is not here is refused.
type liPost struct {
	Author       string `json:"author"`
	Commentary   string `json:"commentary"`
	Visibility   string `json:"visibility"`
	Distribution struct {
		Feed    string   `json:"feedDistribution"`
		Targets []string `json:"targetEntities"`
		Third   []string `json:"thirdPartyDistributionChannels"`
	} `json:"distribution"`
	State     string     `json:"lifecycleState"`
	NoReshare bool       `json:"isReshareDisabledByAuthor"`
	Content   *liContent `json:"content"`
}

type liContent struct {
	Media   *liFile `json:"media"`
	Several *struct {
		Images []liFile `json:"images"`
	} `json:"multiImage"`
	Article *struct {
		Source    string `json:"source"`
		Title     string `json:"title"`
		Words     string `json:"description"`
		Thumbnail string `json:"thumbnail"`
	} `json:"article"`
}

type liFile struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Alt   string `json:"altText"`
}

func (l *linkedin) createPost(c *call) *reply {
	var b liPost
	if err := c.object(&b); err != nil {
		return liError(http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", err.Error())
	}
	a, no := l.open(c, b.Author, "w_organization_social", "w_member_social")
	if no != nil {
		return no
	}
	return c.do(Commit, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		return l.make(c, a, b)
	})
}

// make checks and stores a post. a.mu is held.
func (l *linkedin) make(c *call, a *account, b liPost) *reply {
	bad := func(code, message string) *reply { return liError(http.StatusBadRequest, code, message) }
	n := c.sim.next()
	e := &entry{Post: Post{ID: "urn:li:share:" + strconv.FormatInt(n, 10), Kind: "post", Time: c.now}, private: map[string]string{"author": b.Author, "raw": b.Commentary}}
	e.Text, e.path = liRead(b.Commentary), liPath(e.ID)
	switch {
	case utf8.RuneCountInString(b.Commentary) > liText:
		return bad("FIELD_LENGTH_TOO_LONG", "commentary length exceeds 3000")
	case b.State != "PUBLISHED" || b.Distribution.Feed != "MAIN_FEED":
		return bad("MISSING_FIELD", "lifecycleState and distribution are required")
	case !slices.Contains([]string{"PUBLIC", "CONNECTIONS", "LOGGED_IN"}, b.Visibility):
		return bad("INVALID_VALUE_FOR_FIELD", "visibility is not known")
	case b.Content == nil && strings.TrimSpace(b.Commentary) == "":
		return bad("INVALID_VALUE_BLANK_FIELD", "commentary is blank")
	}
	if b.Content != nil {
		if no := l.attach(c, a, e, *b.Content); no != nil {
			return no
		}
	}
	if c.sim.Knobs().Duplicates {
		if twin := a.twin(e, c.now); twin != "" {
			return liError(http.StatusUnprocessableEntity, "DUPLICATE_POST", "Content is a duplicate of "+twin)
		}
	}
	c.publish(a, e)
	return (&reply{status: http.StatusCreated}).with("x-restli-id", e.ID)
}

// twin is a post with the same content, or "". A deleted one counts. mu is held.
func (a *account) twin(e *entry, now time.Time) string {
	for _, other := range a.posts {
		if other.private["raw"] == e.private["raw"] && other.private["assets"] == e.private["assets"] && other.Link == e.Link && now.Sub(other.born) < liTwins {
			return other.ID
		}
	}
	return ""
}

// attach puts files or a card on a post. a.mu is held.
func (l *linkedin) attach(c *call, a *account, e *entry, b liContent) *reply {
	bad := func(code, message string) *reply { return liError(http.StatusBadRequest, code, message) }
	var files []liFile
	switch {
	case b.Article != nil:
		if !webAddress(b.Article.Source) || b.Article.Title == "" {
			return bad("MISSING_FIELD", "article needs source and title")
		}
		if utf8.RuneCountInString(b.Article.Title) > liTitle || utf8.RuneCountInString(b.Article.Words) > liAlt {
			return bad("FIELD_LENGTH_TOO_LONG", "article title or description is too long")
		}
		e.Link, e.Title = b.Article.Source, b.Article.Title
		return nil
	case b.Media != nil:
		files = []liFile{*b.Media}
	case b.Several != nil && len(b.Several.Images) >= 2 && len(b.Several.Images) <= 20:
		files = b.Several.Images
	default:
		return bad("INVALID_VALUE_FOR_FIELD", "content has none of its kinds, or multiImage not 2 to 20 images")
	}
	for _, f := range files {
		m, ok := thing[*liAsset](c.st.at(a.network), f.ID)
		switch {
		case !ok || m.owner != a || b.Several != nil && m.kind != "images":
			return bad("INVALID_URN_ID", "The asset "+f.ID+" does not exist")
		case utf8.RuneCountInString(f.Alt) > liAlt, utf8.RuneCountInString(f.Title) > liTitle:
			return bad("FIELD_LENGTH_TOO_LONG", "altText or title is too long")
		case m.kind == "documents" && strings.TrimSpace(f.Title) == "":
			return bad("MISSING_FIELD", "A document needs a title")
		case m.failed != "":
			return bad("MEDIA_ASSET_PROCESSING_FAILED", "The asset could not be processed")
		case m.status() != "AVAILABLE":
			return bad("MEDIA_ASSET_WAITING_UPLOAD", "The asset is not available yet")
		}
		e.Media = append(e.Media, c.keepMedia(m.data, f.Alt))
		e.private["assets"] += f.ID + " "
		e.Title = f.Title
	}
	return nil
}

var (
	liTag     = regexp.MustCompile(`^\{hashtag\|\\?#\|([^{}|]+)\}`)
	liMention = regexp.MustCompile(`^@\[([^\[\]]+)\]\(urn:li:(?:person|organization):[^()]+\)`)
)

// liRead is little text as the public reads it: the first sign of markup that
// means nothing ends it.
func liRead(s string) string {
	var out strings.Builder
	for at := 0; at < len(s); {
		rest := s[at:]
		r, size := utf8.DecodeRuneInString(rest)
		if m := liTag.FindStringSubmatch(rest); m != nil {
			out.WriteString("#" + m[1])
			at += len(m[0])
			continue
		}
		if m := liMention.FindStringSubmatch(rest); m != nil {
			out.WriteString(m[1])
			at += len(m[0])
			continue
		}
		if r == '\\' && len(rest) > 1 && strings.ContainsRune(`|{}@[]()<>#\*_~`, rune(rest[1])) {
			out.WriteByte(rest[1])
			at += 2
			continue
		}
		if r == '#' {
			next, _ := utf8.DecodeRuneInString(rest[1:])
			if unicode.IsLetter(next) || unicode.IsDigit(next) {
				out.WriteByte('#')
				at++
				continue
			}
		}
		if strings.ContainsRune(`|{}@[]()<>#\*_~`, r) {
			break
		}
		out.WriteString(rest[:size])
		at += size
	}
	return out.String()
}

func liPath(urn string) string { return "/linkedin/feed/update/" + urn }

func (l *linkedin) stranger(st *state, accountID, text string) *entry {
	e := l.sim.foreign(st, network.LinkedIn, accountID, text, func(_ *account, n int64) (string, string) {
		urn := "urn:li:share:" + strconv.FormatInt(n, 10)
		return urn, liPath(urn)
	})
	raw := regexp.MustCompile(`[|{}@\[\]()<>\\*_~]`).ReplaceAllString(text, `\$0`)
	e.read(func() { e.private["raw"], e.private["author"] = raw, "urn:li:organization:"+accountID })
	return e
}

// item is a post as LinkedIn lists it. owner.mu is held.
func (l *linkedin) item(e *entry) map[string]any {
	at := e.Time.UnixMilli()
	out := map[string]any{
		"id": e.ID, "author": e.private["author"], "commentary": e.private["raw"], "lifecycleState": "PUBLISHED", "visibility": "PUBLIC",
		"createdAt": at, "publishedAt": at, "lastModifiedAt": at,
	}
	switch assets := strings.Fields(e.private["assets"]); {
	case len(assets) == 1:
		out["content"] = map[string]any{"media": map[string]any{"id": assets[0]}}
	case len(assets) > 1:
		images := []any{}
		for _, id := range assets {
			images = append(images, map[string]any{"id": id})
		}
		out["content"] = map[string]any{"multiImage": map[string]any{"images": images}}
	case e.Link != "":
		out["content"] = map[string]any{"article": map[string]any{"source": e.Link, "title": e.Title}}
	}
	return out
}

func (l *linkedin) listPosts(c *call) *reply {
	c.params.values = c.r.URL.Query()
	if name := c.params.stray("author", "q", "count", "start", "sortBy"); name != "" || c.params.get("q") != "author" || c.r.Header.Get("X-RestLi-Method") != "FINDER" {
		return liError(http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", "Not a finder that exists: "+name)
	}
	a, no := l.open(c, c.params.get("author"), "r_organization_social", "r_member_social")
	if no != nil {
		return no
	}
	start, count, no := liSpan(c)
	if no != nil {
		return no
	}
	return c.do(Find, a, func() *reply {
		list, _ := c.listPage(a, start, count, func(*entry) bool { return true }, func(e *entry) any { return l.item(e) })
		return answer(http.StatusOK, map[string]any{"paging": map[string]any{"start": start, "count": count, "links": []any{}}, "elements": list})
	})
}

func liSpan(c *call) (start, count int, no *reply) {
	start, _ = strconv.Atoi(c.params.get("start"))
	count, err := strconv.Atoi(c.params.get("count"))
	if err != nil || count < 1 || count > 100 || start < 0 {
		return 0, 0, liError(http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", "count is 1 to 100")
	}
	return start, count, nil
}

// about finds the post that a path names, and its author's account.
func (l *linkedin) about(c *call, scopes ...string) (*entry, *account, *reply) {
	urn, _ := url.PathUnescape(c.r.PathValue("urn"))
	e, ok := thing[*entry](c.st.at(network.LinkedIn), urn)
	if !ok {
		if _, _, v := c.admitByToken(c.bearer()); v != good {
			return nil, nil, liVerdict(v)
		}
		return nil, nil, liError(http.StatusNotFound, "NOT_FOUND", "Could not find entity")
	}
	author := ""
	e.read(func() { author = e.private["author"] })
	a, no := l.open(c, author, scopes...)
	return e, a, no
}

func (l *linkedin) showPost(c *call) *reply {
	e, a, no := l.about(c, "r_organization_social", "r_member_social")
	if no != nil {
		return no
	}
	return c.do(Find, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		if e.removed(c.now) {
			return liError(http.StatusNotFound, "NOT_FOUND", "Could not find entity")
		}
		return answer(http.StatusOK, l.item(e))
	})
}

func (l *linkedin) deletePost(c *call) *reply {
	e, a, no := l.about(c, "w_organization_social", "w_member_social")
	if no != nil {
		return no
	}
	return c.do(FollowUp, a, func() *reply {
		e.read(func() { e.gone = c.now })
		return &reply{status: http.StatusNoContent}
	})
}

func (l *linkedin) createComment(c *call) *reply {
	var b struct {
		Actor   string `json:"actor"`
		Object  string `json:"object"`
		Message struct {
			Text string `json:"text"`
		} `json:"message"`
	}
	if err := c.object(&b); err != nil {
		return liError(http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", err.Error())
	}
	e, a, no := l.about(c, "w_organization_social", "w_member_social")
	if no != nil {
		return no
	}
	return c.do(FollowUp, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		switch {
		case b.Object != e.ID || b.Actor != e.private["author"] || e.removed(c.now):
			return liError(http.StatusBadRequest, "INVALID_URN_ID", "actor or object is not right")
		case strings.TrimSpace(b.Message.Text) == "":
			return liError(http.StatusBadRequest, "INVALID_VALUE_BLANK_FIELD", "message is blank")
		case utf8.RuneCountInString(b.Message.Text) > liComment:
			return liError(http.StatusBadRequest, "FIELD_LENGTH_TOO_LONG", "message length exceeds 1250")
		}
		id := strconv.FormatInt(c.sim.next(), 10)
		e.Replies = append(e.Replies, Reply{ID: id, Text: b.Message.Text, Time: c.now})
		c.spoke = true
		return answer(http.StatusCreated, map[string]any{"id": id, "object": e.ID, "commentUrn": "urn:li:comment:(" + e.ID + "," + id + ")"}).with("x-restli-id", id)
	})
}

func (l *linkedin) listComments(c *call) *reply {
	e, a, no := l.about(c, "r_organization_social", "r_member_social", "w_organization_social")
	if no != nil {
		return no
	}
	return c.do(FollowUp, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		list := []any{}
		for _, r := range e.Replies {
			list = append(list, map[string]any{"id": r.ID, "actor": e.private["author"], "message": map[string]string{"text": r.Text}, "created": map[string]any{"time": r.Time.UnixMilli()}})
		}
		return answer(http.StatusOK, map[string]any{"elements": list, "paging": map[string]any{"start": 0, "count": len(list)}})
	})
}

func (l *linkedin) userinfo(c *call) *reply {
	a, _, v := c.admitByToken(c.bearer())
	if v != good {
		return liVerdict(v)
	}
	return c.do(Check, a, func() *reply { return answer(http.StatusOK, map[string]any{"sub": a.id, "name": a.Name()}) })
}

// organisation says what one is called.
func (l *linkedin) organisation(c *call) *reply {
	a, no := l.open(c, "urn:li:organization:"+c.r.PathValue("id"), "rw_organization_admin", "r_organization_social")
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		return answer(http.StatusOK, map[string]any{"id": a.id, "localizedName": a.Name() + " (organisation)", "vanityName": a.Handle()})
	})
}

// acls says which organisations the token's member looks after: its own account.
func (l *linkedin) acls(c *call) *reply {
	if no := liHeaders(c); no != nil {
		return no
	}
	a, _, v := c.admitByToken(c.bearer(), "rw_organization_admin", "r_organization_social")
	if v != good {
		return liVerdict(v)
	}
	c.params.values = c.r.URL.Query()
	if c.params.get("q") != "roleAssignee" || c.r.Header.Get("X-RestLi-Method") != "FINDER" {
		return liError(http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", "Not a finder that exists")
	}
	return c.do(Check, a, func() *reply {
		list := []any{}
		if c.params.get("role") == "ADMINISTRATOR" && c.params.get("start") == "0" {
			list = append(list, map[string]any{"organization": "urn:li:organization:" + a.id, "role": "ADMINISTRATOR", "state": "APPROVED"})
		}
		return answer(http.StatusOK, map[string]any{"elements": list})
	})
}
