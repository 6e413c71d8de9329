package bluesky

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/fnv"
	"net/url"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
)

// post is an app.bsky.feed.post record.
type post struct {
	Type   string   `json:"$type"`
	Text   string   `json:"text"`
	Made   string   `json:"createdAt"`
	Langs  []string `json:"langs,omitempty"`
	Facets []facet  `json:"facets,omitempty"`
	Embed  any      `json:"embed,omitempty"`
	Labels *labels  `json:"labels,omitempty"`
	Reply  *reply   `json:"reply,omitempty"`
}

type labels struct {
	Type   string  `json:"$type"`
	Values []label `json:"values"`
}

type label struct {
	Val string `json:"val"`
}

type reply struct {
	Root   written `json:"root"`
	Parent written `json:"parent"`
}

type images struct {
	Type   string  `json:"$type"`
	Images []image `json:"images"`
}

type image struct {
	Image  json.RawMessage `json:"image"`
	Alt    string          `json:"alt"`
	Aspect *aspect         `json:"aspectRatio,omitempty"`
}

type video struct {
	Type   string          `json:"$type"`
	Video  json.RawMessage `json:"video"`
	Alt    string          `json:"alt,omitempty"`
	Aspect *aspect         `json:"aspectRatio,omitempty"`
}

type aspect struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

type card struct {
	Type     string   `json:"$type"`
	External external `json:"external"`
}

type external struct {
	URI         string `json:"uri"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// record is the post as it is written, always the same for the same key.
func (r run) record(ctx context.Context, key string, refs []json.RawMessage) (string, error) {
	p, text := r.job.Post, parts(r.job)[0]
	facets, err := r.facets(ctx, text)
	if err != nil {
		return "", err
	}
	return marshal(post{
		Type: collection, Text: text, Made: made(key), Langs: languages(p.Options), Facets: facets,
		Embed: embed(p, refs), Labels: warning(p),
	})
}

// marshal leaves < and > as they are.
func marshal(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", &fault.Fault{Kind: fault.Validation, Code: "record", Say: "The post holds something that Bluesky cannot keep.", Cause: err}
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// embed is what the post shows beside its text.
func embed(p networks.Post, refs []json.RawMessage) any {
	switch {
	case p.Format == network.FormatVideo:
		m := p.Media[0]
		return video{Type: "app.bsky.embed.video", Video: refs[0], Alt: m.Alt, Aspect: aspectOf(m)}
	case len(p.Media) > 0:
		all := images{Type: "app.bsky.embed.images"}
		for i, m := range p.Media {
			all.Images = append(all.Images, image{Image: refs[i], Alt: m.Alt, Aspect: aspectOf(m)})
		}
		return all
	case p.Link != "":
		return cardOf(p)
	}
	return nil
}

func aspectOf(m networks.Media) *aspect {
	if m.Width <= 0 || m.Height <= 0 {
		return nil
	}
	return &aspect{m.Width, m.Height}
}

// cardOf shows a link. Bluesky reads nothing from the page, so that what is shown
// is what the writer entered; without a title it is the host.
func cardOf(p networks.Post) card {
	c := card{Type: "app.bsky.embed.external", External: external{
		URI: p.Link, Title: p.Options[network.OptLinkTitle], Description: p.Options[network.OptLinkWords]}}
	if u, err := url.Parse(p.Link); err == nil && c.External.Title == "" {
		c.External.Title = u.Hostname()
	}
	return c
}

func warning(p networks.Post) *labels {
	n, _ := network.Get(network.Bluesky)
	v := n.Value(network.Draft{Options: p.Options}, network.OptLabel)
	if v == "" || v == "none" || len(p.Media) == 0 {
		return nil
	}
	return &labels{Type: "com.atproto.label.defs#selfLabels", Values: []label{{v}}}
}

func languages(options map[string]string) []string {
	return strings.FieldsFunc(options[network.OptLanguage], func(r rune) bool { return r == ',' || r == ' ' })
}

// letters sort as their values do.
const letters = "234567abcdefghijklmnopqrstuvwxyz"

// tid is a record key for an instant: 53 bits of microseconds and 10 bits that
// keep the keys of posts of the same microsecond apart.
func tid(at time.Time, name string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	n := uint64(at.UnixMicro())&(1<<53-1)<<10 | uint64(sum.Sum32()&1023)
	key := make([]byte, 13)
	for i := range key {
		key[len(key)-1-i] = letters[n&31]
		n >>= 5
	}
	return string(key)
}

// made is the instant in a key, as records write it.
func made(key string) string {
	var n uint64
	for i := range len(key) {
		n = n<<5 | uint64(max(0, strings.IndexByte(letters, key[i])))
	}
	return time.UnixMicro(int64(n >> 10)).UTC().Format("2006-01-02T15:04:05.000Z")
}
