package sim

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"herald/db/network"
)

// wpTime is how the site writes a time.
const wpTime = "2006-01-02T15:04:05"

// wpDate is a time as the site writes it, or none.
type wpDate string

// UnmarshalJSON takes a time with or without its zone, which is UTC.
func (d *wpDate) UnmarshalJSON(raw []byte) error {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	at, err := time.Parse(wpTime, strings.TrimSuffix(s, "Z"))
	if err != nil {
		return errors.New("date_gmt is no date")
	}
	*d = wpDate(at.Format(wpTime))
	return nil
}

var wpNoSlug = regexp.MustCompile(`[^a-z0-9]+`)

// date gives a post that leaves the drafts its time, now if it has none, and the slug
// that it lacks. One whose time is ahead waits for it. a.mu is held.
func (t *wordpress) date(c *call, a *account, e *entry) {
	e.Time = c.now
	if at, err := time.Parse(wpTime, e.private["date"]); err == nil {
		e.Time = at
	}
	if e.private["slug"] == "" {
		words := strings.Trim(wpNoSlug.ReplaceAllString(strings.ToLower(e.Title), "-"), "-")
		e.private["slug"] = t.freeSlug(a, words)
	}
	if e.private["slug"] == "" {
		e.private["slug"] = e.ID
	}
}

// trusts says whether the login may write any markup: only one that was declared with
// that right may, as an administrator.
func (t *wordpress) trusts(c *call) bool {
	_, password, _ := c.r.BasicAuth()
	g, v := c.st.at(network.WordPress).look(strings.ReplaceAll(password, " ", ""), !c.sim.opts.Closed, c.now)
	return v == good && slices.Contains(g.scopes, "unfiltered_html")
}

// wpTags are the elements that anybody may write, and wpAttributes what may stand in
// them.
var (
	wpTags = strings.Fields("a abbr b blockquote br cite code del div em figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins li ol p pre q s small span strong sub sup " +
		"table tbody td th thead tr u ul")
	wpAttributes = strings.Fields("alt class height href id rel src target title width")
)

// wpKses takes away the tags and the attributes that not everybody may write, without
// a word; what stands between the tags stays.
func wpKses(content string) string {
	var out strings.Builder
	z := html.NewTokenizer(strings.NewReader(content))
	for z.Next() != html.ErrorToken {
		raw := string(z.Raw())
		switch tok := z.Token(); tok.Type {
		case html.TextToken, html.CommentToken:
			out.WriteString(raw)
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			if slices.Contains(wpTags, tok.Data) {
				out.WriteString(wpTag(tok, raw))
			}
		}
	}
	return out.String()
}

// wpTag is a tag without what may not stand in it.
func wpTag(tok html.Token, raw string) string {
	kept := slices.DeleteFunc(slices.Clone(tok.Attr), func(a html.Attribute) bool {
		value := strings.ToLower(strings.TrimSpace(a.Val))
		return !slices.Contains(wpAttributes, a.Key) || strings.HasPrefix(value, "javascript:") || strings.HasPrefix(value, "data:")
	})
	if len(kept) == len(tok.Attr) {
		return raw
	}
	tok.Attr = kept
	return tok.String()
}
