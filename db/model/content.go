package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Content is everything of a version that reaches a network, and nothing else:
// whatever is here is covered by the hash, is approved, and is what is sent.
// Labels, notes and the time are not part of it.
type Content struct {
	Text         string                          `json:"text"`
	Link         string                          `json:"link,omitempty"`
	FirstComment string                          `json:"first_comment,omitempty"`
	Media        []ContentMedia                  `json:"media,omitempty"`
	Variants     map[string]Variant              `json:"variants,omitempty"` // by network name
	Options      map[AccountID]map[string]string `json:"options,omitempty"`
	Accounts     []AccountID                     `json:"accounts"`
	Plain        bool                            `json:"plain,omitempty"`  // links are not tagged, whatever the rule
	Tagged       []Tagged                        `json:"tagged,omitempty"` // what goes out where links are tagged
}

// Tagged is what some accounts get in place of what was written for them: the same,
// with campaign parameters on its links, as they were when the version was made.
type Tagged struct {
	Accounts     []AccountID `json:"accounts"`
	Text         string      `json:"text"`
	Link         string      `json:"link,omitempty"`
	FirstComment string      `json:"first_comment,omitempty"`
}

// Same says whether two send the same.
func (t Tagged) Same(u Tagged) bool {
	return t.Text == u.Text && t.Link == u.Link && t.FirstComment == u.FirstComment
}

// Variant is what one network gets instead of the shared parts. A nil field
// takes the shared one.
type Variant struct {
	Text         *string         `json:"text,omitempty"`
	Link         *string         `json:"link,omitempty"`
	FirstComment *string         `json:"first_comment,omitempty"`
	Media        *[]ContentMedia `json:"media,omitempty"`
}

// ContentMedia is one attachment: the asset, its bytes by hash, its alt text, and
// how it was framed when the version was written. What people do to the asset
// later does not change what was approved.
type ContentMedia struct {
	ID     MediaID         `json:"id"`
	SHA256 string          `json:"sha256"` // hex, of the uploaded bytes
	Alt    string          `json:"alt,omitempty"`
	Crops  map[string]Crop `json:"crops,omitempty"` // by preset, of the networks that the version goes to
	Focal  *Focal          `json:"focal,omitempty"` // nil: the centre
}

// Framed returns the attachment's crop and focal point for a preset.
func (m ContentMedia) Framed(preset string) (Crop, Focal) {
	if m.Focal != nil {
		return m.Crops[preset], *m.Focal
	}
	return m.Crops[preset], Centre
}

// Part is the effective content for one account.
type Part struct {
	Text         string
	Link         string
	FirstComment string
	Media        []ContentMedia
	Options      map[string]string
}

// For returns what one account on a network would get.
func (c Content) For(network string, account AccountID) Part {
	p := c.Written(network, account)
	for _, t := range c.Tagged {
		if slices.Contains(t.Accounts, account) {
			p.Text, p.Link, p.FirstComment = t.Text, t.Link, t.FirstComment
		}
	}
	return p
}

// Untagged is the content as it was written, before links were tagged.
func (c Content) Untagged() Content {
	c.Tagged = nil
	return c
}

// Written returns what was written for one account on a network.
func (c Content) Written(network string, account AccountID) Part {
	p := Part{c.Text, c.Link, c.FirstComment, c.Media, c.Options[account]}
	v := c.Variants[network]
	if v.Text != nil {
		p.Text = *v.Text
	}
	if v.Link != nil {
		p.Link = *v.Link
	}
	if v.FirstComment != nil {
		p.FirstComment = *v.FirstComment
	}
	if v.Media != nil {
		p.Media = *v.Media
	}
	return p
}

// AllMedia returns the ids of every asset that any part uses, once each, sorted.
func (c Content) AllMedia() []MediaID {
	seen := map[MediaID]bool{}
	for _, m := range c.Media {
		seen[m.ID] = true
	}
	for _, v := range c.Variants {
		if v.Media != nil {
			for _, m := range *v.Media {
				seen[m.ID] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Canonical returns the bytes that are stored and hashed. Two contents that send
// the same have the same bytes: accounts are sorted, line ends are LF, and what
// says nothing is left out.
func (c Content) Canonical() []byte {
	c.Text, c.FirstComment = lineEnds(c.Text), lineEnds(c.FirstComment)
	c.Link = strings.TrimSpace(c.Link)
	c.Accounts = slices.Compact(slices.Sorted(slices.Values(c.Accounts)))
	c.Variants = tidyVariants(c.Variants)
	c.Options = tidyOptions(c.Options)
	c.Tagged = tidyTagged(c.Tagged)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(c); err != nil {
		panic("content cannot fail to encode: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Hash is SHA-256 over Canonical, as the database computes it too.
func (c Content) Hash() [32]byte { return sha256.Sum256(c.Canonical()) }

// ReadContent reads canonical bytes back.
func ReadContent(canonical []byte) (c Content, err error) {
	err = json.Unmarshal(canonical, &c)
	return c, err
}

func tidyVariants(in map[string]Variant) map[string]Variant {
	out := map[string]Variant{}
	for name, v := range in {
		v.Text, v.FirstComment = lineEndsIn(v.Text), lineEndsIn(v.FirstComment)
		if v != (Variant{}) {
			out[name] = v
		}
	}
	return out
}

func tidyOptions(in map[AccountID]map[string]string) map[AccountID]map[string]string {
	out := map[AccountID]map[string]string{}
	for id, options := range in {
		kept := map[string]string{}
		for k, v := range options {
			if v != "" {
				kept[k] = v
			}
		}
		if len(kept) > 0 {
			out[id] = kept
		}
	}
	return out
}

func tidyTagged(in []Tagged) (out []Tagged) {
	for _, t := range in {
		t.Text, t.FirstComment = lineEnds(t.Text), lineEnds(t.FirstComment)
		out = append(out, t)
	}
	return out
}

func lineEnds(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func lineEndsIn(s *string) *string {
	if s == nil {
		return nil
	}
	t := lineEnds(*s)
	return &t
}

// Excerpt returns the first words of a text for lists: one line, at most n runes.
func Excerpt(text string, n int) string {
	words := strings.Join(strings.Fields(text), " ")
	runes := []rune(words)
	if len(runes) <= n {
		return words
	}
	return strings.TrimRight(string(runes[:n-1]), " ") + "…"
}
