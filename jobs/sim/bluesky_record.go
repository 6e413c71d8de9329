package sim

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

var skyKey = regexp.MustCompile(`^[234567a-j][234567a-z]{12}$`)

// skyWrite is the body of a call that writes a record.
type skyWrite struct {
	Repo       string          `json:"repo"`
	Collection string          `json:"collection"`
	RKey       string          `json:"rkey"`
	Validate   *bool           `json:"validate"`
	Record     json.RawMessage `json:"record"`
	SwapRecord *string         `json:"swapRecord"`
	SwapCommit string          `json:"swapCommit"`
}

// skyRecord is a post as it is written.
type skyRecord struct {
	Type   string          `json:"$type"`
	Text   *string         `json:"text"`
	Made   string          `json:"createdAt"`
	Langs  []string        `json:"langs"`
	Facets []skyFacet      `json:"facets"`
	Embed  json.RawMessage `json:"embed"`
	Reply  *skyReply       `json:"reply"`
	Tags   []string        `json:"tags"`
	Labels *skyLabels      `json:"labels"`
}

type skyFacet struct {
	Type  string `json:"$type"`
	Index struct {
		Start *int `json:"byteStart"`
		End   *int `json:"byteEnd"`
	} `json:"index"`
	Features []struct {
		Type string `json:"$type"`
		URI  string `json:"uri"`
		DID  string `json:"did"`
		Tag  string `json:"tag"`
	} `json:"features"`
}

type skyReply struct {
	Root   skyPointer `json:"root"`
	Parent skyPointer `json:"parent"`
}

type skyPointer struct {
	URI string `json:"uri"`
	CID string `json:"cid"`
}

type skyLabels struct {
	Type   string `json:"$type"`
	Values []struct {
		Val string `json:"val"`
	} `json:"values"`
}

// putRecord writes a record at a key that the caller chose. The same record a
// second time changes nothing.
func (b *bluesky) putRecord(c *call) *reply {
	return b.write(c, func(w skyWrite, old *entry, cid string) *reply {
		switch {
		case w.RKey == "":
			return skyInvalid("Input must have the property \"rkey\"")
		case old != nil && old.private["cid"] == cid:
			c.outcome = "replayed"
			return answer(http.StatusOK, map[string]any{"uri": old.ID, "cid": cid, "validationStatus": "valid"})
		case old != nil:
			return skyError(http.StatusBadRequest, "InvalidSwap", "Record was at %s", old.private["cid"])
		}
		return nil
	})
}

// createRecord writes a new record. A key that is taken is a plain failure.
func (b *bluesky) createRecord(c *call) *reply {
	return b.write(c, func(_ skyWrite, old *entry, _ string) *reply {
		if old != nil {
			return skyError(http.StatusInternalServerError, "InternalServerError", "Internal Server Error")
		}
		return nil
	})
}

func (b *bluesky) write(c *call, clash func(skyWrite, *entry, string) *reply) *reply {
	a, no := b.open(c)
	if no != nil {
		return no
	}
	var w skyWrite
	if err := c.object(&w); err != nil {
		return skyInvalid("%s", err)
	}
	c.key = w.RKey
	if no := b.repo(a, w.Repo); no != nil {
		return no
	}
	var r skyRecord
	if err := strict(w.Record, &r); err != nil {
		return skyInvalid("Invalid %s record: %s", skyPost, err)
	}
	step := Commit
	if r.Reply != nil {
		step = FollowUp
	}
	return c.do(step, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		return b.make(c, a, w, r, clash)
	})
}

// make checks and stores a record. a.mu is held.
func (b *bluesky) make(c *call, a *account, w skyWrite, r skyRecord, clash func(skyWrite, *entry, string) *reply) *reply {
	switch {
	case w.Collection != skyPost || r.Type != skyPost:
		return skyInvalid("Only %s records are simulated", skyPost)
	case w.RKey != "" && !skyKey.MatchString(w.RKey):
		return skyInvalid("Invalid record key: %s", w.RKey)
	}
	rkey := w.RKey
	if rkey == "" {
		rkey = skyTID(uint64(c.sim.next()))
	}
	cid := skyID("bafyrei", []byte(canonical(w.Record)))
	uri := skyURI(a.id, skyPost, rkey)
	old, _ := thing[*entry](c.st.at(a.network), uri)
	if old != nil && old.removed(c.now) {
		old = nil
	}
	if no := clash(w, old, cid); no != nil {
		return no
	}
	e := &entry{
		Post:    Post{ID: uri, Kind: "post", Text: *orEmpty(r.Text), Time: c.now, path: "/bluesky/profile/" + url.PathEscape(a.id) + "/post/" + rkey},
		private: map[string]string{"rkey": rkey, "cid": cid, "record": string(w.Record)},
	}
	for _, check := range []func(*call, *account, skyRecord, *entry) *reply{b.text, b.facets, b.around, b.answers} {
		if no := check(c, a, r, e); no != nil {
			return no
		}
	}
	b.keepFiles(c, a, e)
	c.publish(a, e)
	commit := map[string]string{"cid": skyID("bafyrei", uri+cid), "rev": skyTID(uint64(c.sim.next()))}
	return answer(http.StatusOK, map[string]any{"uri": uri, "cid": cid, "commit": commit, "validationStatus": "valid"})
}

func orEmpty(s *string) *string {
	if s == nil {
		return new(string)
	}
	return s
}

// canonical is JSON whose keys are in order, so that the same record has one form.
func canonical(raw []byte) string {
	var v any
	_ = json.Unmarshal(raw, &v)
	out, _ := json.Marshal(v)
	return string(out)
}

func (b *bluesky) text(_ *call, _ *account, r skyRecord, _ *entry) *reply {
	made, err := time.Parse(time.RFC3339Nano, r.Made)
	switch {
	case r.Text == nil:
		return skyInvalid("Invalid %s record: Record must have the property \"text\"", skyPost)
	case uniseg.GraphemeClusterCount(*r.Text) > 300:
		return skyInvalid("Invalid %s record: Record/text must not be longer than 300 graphemes", skyPost)
	case len(*r.Text) > 3000:
		return skyInvalid("Invalid %s record: Record/text must not be longer than 3000 characters", skyPost)
	case *r.Text == "" && len(r.Embed) == 0:
		return skyInvalid("Invalid %s record: there is nothing in it", skyPost)
	case err != nil || !strings.HasSuffix(r.Made, "Z") || made.Year() < 2020:
		return skyInvalid("Invalid %s record: Record/createdAt must be an RFC 3339 datetime", skyPost)
	case len(r.Langs) > 3 || slices.ContainsFunc(r.Langs, func(l string) bool { return !skyLang.MatchString(l) }):
		return skyInvalid("Invalid %s record: Record/langs", skyPost)
	case len(r.Tags) > 8:
		return skyInvalid("Invalid %s record: Record/tags must not have more than 8 elements", skyPost)
	}
	return nil
}

var skyLang = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{1,8})*$`)

// facets checks that every range lies between characters, in UTF-8 bytes.
func (b *bluesky) facets(_ *call, _ *account, r skyRecord, _ *entry) *reply {
	last := 0
	for i, f := range r.Facets {
		start, end := f.Index.Start, f.Index.End
		if start == nil || end == nil || *start < last || *end <= *start || *end > len(*r.Text) ||
			!utf8.RuneStart((*r.Text + "x")[*start]) || !utf8.RuneStart((*r.Text + "x")[*end]) || len(f.Features) == 0 {
			return skyInvalid("Invalid %s record: Record/facets/%d/index", skyPost, i)
		}
		last = *end
		for _, what := range f.Features {
			u, err := url.Parse(what.URI)
			switch {
			case what.Type == "app.bsky.richtext.facet#link" && err == nil && (u.Scheme == "https" || u.Scheme == "http"):
			case what.Type == "app.bsky.richtext.facet#mention" && what.DID != "":
			case what.Type == "app.bsky.richtext.facet#tag" && what.Tag != "" && what.Tag[0] != '#' && uniseg.GraphemeClusterCount(what.Tag) <= 64:
			default:
				return skyInvalid("Invalid %s record: Record/facets/%d/features", skyPost, i)
			}
		}
	}
	return nil
}

// around is the embed and the labels.
func (b *bluesky) around(c *call, a *account, r skyRecord, e *entry) *reply {
	if r.Labels != nil && (r.Labels.Type != "com.atproto.label.defs#selfLabels" || len(r.Labels.Values) > 10) {
		return skyInvalid("Invalid %s record: Record/labels", skyPost)
	}
	if r.Labels != nil {
		for _, l := range r.Labels.Values {
			e.private["spoiler"] = l.Val
		}
	}
	return b.embed(c, a, r.Embed, e)
}

// answers ties a reply to what it answers. a.mu is held, and only the account's
// own posts are known.
func (b *bluesky) answers(c *call, a *account, r skyRecord, e *entry) *reply {
	if r.Reply == nil {
		return nil
	}
	root, isRoot := thing[*entry](c.st.at(a.network), r.Reply.Root.URI)
	parent, isParent := thing[*entry](c.st.at(a.network), r.Reply.Parent.URI)
	if !isRoot || !isParent || root.private["cid"] != r.Reply.Root.CID || parent.private["cid"] != r.Reply.Parent.CID || root.owner != a {
		return skyInvalid("Invalid %s record: Record/reply does not point to a record", skyPost)
	}
	e.parent, e.Kind = parent.ID, "reply"
	root.Replies = append(root.Replies, Reply{ID: e.ID, Text: e.Text, Time: c.now})
	return nil
}

func (b *bluesky) getRecord(c *call) *reply {
	if no := b.query(c, "repo", "collection", "rkey", "cid"); no != nil {
		return no
	}
	if c.bearer() != "" { // anybody may read; who shows a token has to show a good one
		if _, no := b.open(c); no != nil {
			return no
		}
	}
	uri := skyURI(c.params.get("repo"), c.params.get("collection"), c.params.get("rkey"))
	return c.do(Find, c.account, func() *reply {
		e, ok := thing[*entry](c.st.at(c.place.name), uri)
		var out map[string]any
		if ok {
			e.read(func() {
				if !e.removed(c.now) {
					out = map[string]any{"uri": e.ID, "cid": e.private["cid"], "value": json.RawMessage(e.private["record"])}
				}
			})
		}
		if out == nil {
			return skyError(http.StatusBadRequest, "RecordNotFound", "Could not locate record: %s", uri)
		}
		return answer(http.StatusOK, out)
	})
}

// listRecords gives the newest keys first.
func (b *bluesky) listRecords(c *call) *reply {
	a, no := b.open(c)
	if no != nil {
		return no
	}
	if no := b.query(c, "repo", "collection", "limit", "cursor", "reverse"); no != nil {
		return no
	}
	if no := b.repo(a, c.params.get("repo")); no != nil {
		return no
	}
	limit, err := strconv.Atoi(c.params.get("limit"))
	if c.params.get("limit") == "" {
		limit, err = 50, nil
	}
	if err != nil || limit < 1 || limit > 100 {
		return skyInvalid("limit is 1 to 100")
	}
	return c.do(Find, a, func() *reply {
		lag, cursor := c.lag(), c.params.get("cursor")
		var list []*entry
		a.newest(func(e *entry) bool {
			if !e.removed(c.now) && !(lag > 0 && c.now.Sub(e.born) < lag) && (cursor == "" || e.private["rkey"] < cursor) {
				list = append(list, e)
			}
			return true
		})
		slices.SortFunc(list, func(x, y *entry) int { return strings.Compare(y.private["rkey"], x.private["rkey"]) })
		records := []any{}
		out := map[string]any{}
		for _, e := range list[:min(limit, len(list))] {
			records = append(records, map[string]any{"uri": e.ID, "cid": e.private["cid"], "value": json.RawMessage(e.private["record"])})
			out["cursor"] = e.private["rkey"]
		}
		out["records"] = records
		return answer(http.StatusOK, out)
	})
}

func (b *bluesky) deleteRecord(c *call) *reply {
	a, no := b.open(c)
	if no != nil {
		return no
	}
	var w struct {
		Repo       string `json:"repo"`
		Collection string `json:"collection"`
		RKey       string `json:"rkey"`
	}
	if err := c.object(&w); err != nil {
		return skyInvalid("%s", err)
	}
	if no := b.repo(a, w.Repo); no != nil {
		return no
	}
	return c.do(FollowUp, a, func() *reply {
		if e, ok := thing[*entry](c.st.at(a.network), skyURI(a.id, w.Collection, w.RKey)); ok {
			e.read(func() { e.gone = c.now })
		}
		return answer(http.StatusOK, map[string]any{})
	})
}
