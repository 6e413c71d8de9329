package tiktok

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// announced is what a new publish is called, and where its bytes go.
type announced struct {
	ID     string `json:"publish_id"`
	Upload string `json:"upload_url"`
}

// creator is what an account may do now.
type creator struct {
	Username string   `json:"creator_username"`
	Nickname string   `json:"creator_nickname"`
	Privacy  []string `json:"privacy_level_options"`
	Longest  int64    `json:"max_video_post_duration_sec"`
	Silent   bool     `json:"comment_disabled"`
	NoDuet   bool     `json:"duet_disabled"`
	NoStitch bool     `json:"stitch_disabled"`
}

// status is how far TikTok is with a publish. The ids of posts are numbers of more
// digits than a float keeps.
type status struct {
	Status  string        `json:"status"`
	Fail    string        `json:"fail_reason"`
	Posts   []json.Number `json:"publicaly_available_post_id"`
	Arrived int64         `json:"uploaded_bytes"`
}

// The states of a publish.
const (
	sendingState = "PROCESSING_UPLOAD"
	complete     = "PUBLISH_COMPLETE"
	failed       = "FAILED"
)

// read finds the refusal that every answer may hold, a 2xx too.
func read(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		Error *struct {
			Code    json.RawMessage `json:"code"` // a number in older answers
			Message string          `json:"message"`
			LogID   string          `json:"log_id"`
		} `json:"error"`
	}
	if json.Unmarshal(a.Body, &body) != nil || body.Error == nil {
		return rest.Problem{}, false
	}
	code := strings.Trim(string(body.Error.Code), `"`)
	if code == "" || code == "ok" || code == "0" || code == "null" {
		return rest.Problem{}, false
	}
	return rest.Problem{Code: code, Message: body.Error.Message, RequestID: body.Error.LogID}, true
}

type videoInit struct {
	Info   info   `json:"post_info"`
	Source source `json:"source_info"`
}

type photoInit struct {
	Type   string `json:"media_type"`
	Mode   string `json:"post_mode"`
	Info   info   `json:"post_info"`
	Source photos `json:"source_info"`
}

// info is what is said of a post. A photo's text is its description.
type info struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Privacy     string `json:"privacy_level"`
	NoComment   bool   `json:"disable_comment"`
	NoDuet      *bool  `json:"disable_duet,omitempty"`
	NoStitch    *bool  `json:"disable_stitch,omitempty"`
	Paid        bool   `json:"brand_content_toggle"`
	Own         bool   `json:"brand_organic_toggle"`
	Synthetic   *bool  `json:"is_aigc,omitempty"`
	Music       *bool  `json:"auto_add_music,omitempty"`
	Cover       *int64 `json:"video_cover_timestamp_ms,omitempty"`
}

type source struct {
	Source string `json:"source"`
	URL    string `json:"video_url,omitempty"`
	Size   int64  `json:"video_size,omitempty"`
	Piece  int64  `json:"chunk_size,omitempty"`
	Pieces int64  `json:"total_chunk_count,omitempty"`
}

type photos struct {
	Source string   `json:"source"`
	Images []string `json:"photo_images"`
	Cover  int      `json:"photo_cover_index"`
}

// info is what the post says.
func (u *upload) info() info {
	p := u.job.Post
	n, _ := network.Get(network.TikTok)
	n = n.With(u.job.Account.Settings)
	on := func(key string) bool { return n.Value(network.Draft{Options: p.Options}, key) == "true" }
	whom := value(p, network.OptDisclose)
	i := info{Privacy: value(p, network.OptPrivacy), NoComment: !on(network.OptComments), Paid: whom == "paid" || whom == "both", Own: whom == "own" || whom == "both"}
	if p.Format != network.FormatVideo {
		i.Title, i.Description, i.Music = value(p, network.OptTitle), p.Text, new(on(network.OptMusic))
		return i
	}
	i.Title, i.NoDuet, i.NoStitch, i.Synthetic = p.Text, new(!on(network.OptDuet)), new(!on(network.OptStitch)), new(on(network.OptSynthetic))
	if ms, err := strconv.ParseInt(value(p, network.OptThumbOffset), 10, 64); err == nil {
		i.Cover = &ms
	}
	return i
}

// pull is the call that makes a post of files that TikTok fetches.
func (u *upload) pull() (path string, body any) {
	p := u.job.Post
	if p.Format == network.FormatVideo {
		return "post/publish/video/init/", videoInit{u.info(), source{Source: "PULL_FROM_URL", URL: p.Media[0].URL}}
	}
	list := photos{Source: "PULL_FROM_URL"}
	for _, m := range p.Media {
		list.Images = append(list.Images, m.URL)
	}
	if n, err := strconv.Atoi(value(p, network.OptCoverPicture)); err == nil && n >= 1 && n <= len(list.Images) {
		list.Cover = n - 1
	}
	return "post/publish/content/init/", photoInit{"PHOTO", "DIRECT_POST", u.info(), list}
}

// value is what was chosen, else what the catalogue says for nothing.
func value(p networks.Post, key string) string {
	n, _ := network.Get(network.TikTok)
	return n.Value(network.Draft{Options: p.Options}, key)
}

// address is where people see a post of a creator.
func address(username string, p networks.Post, id string) string {
	kind := "video"
	if p.Format != network.FormatVideo {
		kind = "photo"
	}
	return "https://www.tiktok.com/@" + url.PathEscape(cmp.Or(username, "_")) + "/" + kind + "/" + url.PathEscape(id)
}
