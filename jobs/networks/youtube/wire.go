package youtube

import (
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
)

// video is a video as YouTube describes it.
type video struct {
	ID      string `json:"id"`
	Snippet struct {
		ChannelID   string    `json:"channelId"`
		Title       string    `json:"title"`
		Description string    `json:"description"`
		Published   time.Time `json:"publishedAt"`
	} `json:"snippet"`
	Status status `json:"status"`
}

// status is what became of a video.
type status struct {
	Upload   string `json:"uploadStatus"`
	Failure  string `json:"failureReason"`
	Rejected string `json:"rejectionReason"`
	Privacy  string `json:"privacyStatus"`
}

// gone says that there is nothing to see and never will be.
func (s status) gone() bool {
	return s.Upload == "failed" || s.Upload == "rejected" || s.Upload == "deleted"
}

// details are what a video is made with.
type details struct {
	Snippet snippet `json:"snippet"`
	Status  choices `json:"status"`
}

type snippet struct {
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Category    string   `json:"categoryId"`
	Language    string   `json:"defaultLanguage,omitempty"`
}

type choices struct {
	Privacy   string `json:"privacyStatus"`
	ForKids   bool   `json:"selfDeclaredMadeForKids"`
	Synthetic bool   `json:"containsSyntheticMedia,omitempty"`
}

// describe is what the post says of its video.
func describe(p networks.Post) details {
	option := func(key string) string { return value(p, key) }
	return details{
		Snippet: snippet{Title: option(network.OptTitle), Description: body(p), Tags: network.Tags(option(network.OptTags)),
			Category: option(network.OptCategory), Language: option(network.OptLanguage)},
		Status: choices{Privacy: option(network.OptPrivacy), ForKids: option(network.OptForKids) == "true", Synthetic: option(network.OptSynthetic) == "true"},
	}
}

// body is the description: the text, and the link below it.
func body(p networks.Post) string {
	n, _ := network.Get(network.YouTube)
	return n.Body(network.Draft{Text: p.Text, Link: p.Link})
}

// value is what was chosen, else what the catalogue says for nothing.
func value(p networks.Post, key string) string {
	n, _ := network.Get(network.YouTube)
	return n.Value(network.Draft{Options: p.Options}, key)
}

// same says whether a listed video is described as the post describes its own.
// YouTube trims both texts.
func (v video) same(p networks.Post) bool {
	return network.Fingerprint(v.Snippet.Title) == network.Fingerprint(value(p, network.OptTitle)) &&
		network.Fingerprint(v.Snippet.Description) == network.Fingerprint(body(p))
}

// watch is where people see a video.
func watch(id string) string { return "https://www.youtube.com/watch?v=" + id }

// idLike says whether a word can be the id of a video.
func idLike(s string) bool {
	return len(s) >= 6 && len(s) <= 20 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}
