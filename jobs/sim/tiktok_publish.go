package sim

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"
)

const (
	ttText       = 2200
	ttPhotoTitle = 90
	ttPhotoText  = 4000
	ttVideo      = 4_000_000_000
	ttPhoto      = 20_000_000
	ttPixels     = 1080 * 1920
	ttLeast      = 5_000_000 // of a piece
	ttMost       = 64 << 20  // of a piece
	ttLast       = 128 << 20 // of the last piece
	ttDaily      = 15        // posts of an account
	ttUploadLife = time.Hour
)

// ttPublish is one way of a post to the public. owner.mu guards it.
type ttPublish struct {
	id      string
	owner   *account
	entry   *entry
	pull    bool
	size    int64
	piece   int64
	pieces  int64
	arrived int64
	data    bytes.Buffer // its first part
	born    time.Time
	until   time.Time
	done    bool   // TikTok has all
	failed  string // the reason
}

// ttInfo is what a post says of itself.
type ttInfo struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Privacy     string `json:"privacy_level"`
	NoComment   bool   `json:"disable_comment"`
	NoDuet      bool   `json:"disable_duet"`
	NoStitch    bool   `json:"disable_stitch"`
	Cover       *int64 `json:"video_cover_timestamp_ms"`
	Paid        bool   `json:"brand_content_toggle"`
	Own         bool   `json:"brand_organic_toggle"`
	Synthetic   bool   `json:"is_aigc"`
	Music       bool   `json:"auto_add_music"`
}

type ttVideoInit struct {
	Info   ttInfo `json:"post_info"`
	Source struct {
		Source string `json:"source"`
		URL    string `json:"video_url"`
		Size   int64  `json:"video_size"`
		Piece  int64  `json:"chunk_size"`
		Pieces int64  `json:"total_chunk_count"`
	} `json:"source_info"`
}

type ttPhotoInit struct {
	Type   string `json:"media_type"`
	Mode   string `json:"post_mode"`
	Info   ttInfo `json:"post_info"`
	Source struct {
		Source string   `json:"source"`
		Images []string `json:"photo_images"`
		Cover  int      `json:"photo_cover_index"`
	} `json:"source_info"`
}

// check refuses what the rules for posts forbid.
func (i ttInfo) check(c *call) *reply {
	switch {
	case !slices.Contains([]string{"PUBLIC_TO_EVERYONE", "MUTUAL_FOLLOW_FRIENDS", "FOLLOWER_OF_CREATOR", "SELF_ONLY"}, i.Privacy):
		return ttBad(c, "privacy_level is required.")
	case !slices.Contains(ttPrivacy, i.Privacy):
		return ttError(c, http.StatusForbidden, "privacy_level_option_mismatch", "Privacy level is not among the options of the creator.")
	case i.Paid && i.Privacy == "SELF_ONLY":
		return ttBad(c, "Branded content cannot be private.")
	case i.Cover != nil && *i.Cover < 0:
		return ttBad(c, "video_cover_timestamp_ms is not negative.")
	}
	return nil
}

// room says whether the account may post once more today. owner.mu is held.
func (k *tiktok) room(c *call, a *account) *reply {
	a.sent = recent(a.sent, c.now.Add(-24*time.Hour))
	if len(a.sent) >= ttDaily {
		return ttError(c, http.StatusForbidden, "spam_risk_too_many_posts", "The daily post cap from the API is reached for the current user.")
	}
	a.sent = append(a.sent, c.now)
	return nil
}

// initVideo announces a video. One that is pulled is published by it.
func (k *tiktok) initVideo(c *call) *reply {
	var v ttVideoInit
	a, no := k.enter(c, &v, "video.publish")
	if no != nil {
		return no
	}
	step := Prepare
	if v.Source.Source == "PULL_FROM_URL" {
		step = Commit
	}
	return c.do(step, a, func() *reply {
		if no := v.Info.check(c); no != nil {
			return no
		}
		if no := v.check(c); no != nil {
			return no
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if no := k.room(c, a); no != nil {
			return no
		}
		return k.announce(c, a, v)
	})
}

func (v ttVideoInit) check(c *call) *reply {
	s := v.Source
	switch {
	case units(v.Info.Title) > ttText:
		return ttBad(c, "The title is too long.")
	case v.Info.Description != "" || v.Info.Music:
		return ttBad(c, "description and auto_add_music are of photos.")
	case s.Source == "PULL_FROM_URL" && (!webAddress(s.URL) || s.Size+s.Piece+s.Pieces > 0):
		return ttBad(c, "video_url is required, and nothing else.")
	case s.Source == "PULL_FROM_URL":
		return nil
	case s.Source != "FILE_UPLOAD" || s.URL != "":
		return ttBad(c, "source is PULL_FROM_URL or FILE_UPLOAD.")
	case s.Size <= 0 || s.Size > ttVideo:
		return ttBad(c, "video_size is out of range.")
	case s.Size < ttLeast && (s.Piece != s.Size || s.Pieces != 1):
		return ttBad(c, "A video of less than 5 MB goes up in one piece.")
	case s.Size >= ttLeast && (s.Piece < ttLeast || s.Piece > ttMost):
		return ttBad(c, "chunk_size is 5 MB to 64 MB.")
	case s.Pieces != max(s.Size/s.Piece, 1) || s.Pieces > 1000 || s.Size-(s.Pieces-1)*s.Piece > ttLast:
		return ttBad(c, "The total chunk count is invalid.")
	}
	return nil
}

func (k *tiktok) announce(c *call, a *account, v ttVideoInit) *reply {
	n := c.sim.next()
	p := &ttPublish{id: fmt.Sprintf("v_pub_file~v2-1.%d", n), owner: a, size: v.Source.Size, piece: v.Source.Piece, pieces: v.Source.Pieces, born: c.now, until: c.now.Add(ttUploadLife)}
	p.entry = v.Info.entry(c, "video", v.Info.Title)
	c.st.at(a.network).objects.Store(p.id, p)
	if v.Source.Source == "PULL_FROM_URL" {
		p.id, p.pull = fmt.Sprintf("v_pub_url~v2-1.%d", n), true
		c.st.at(a.network).objects.Store(p.id, p)
		b, err := c.pull(v.Source.URL, ttVideo)
		k.got(c, p, []blob{b}, err)
		return ttOK(c, map[string]any{"publish_id": p.id})
	}
	to := c.base() + "/tiktok/video/?upload_id=" + strconv.FormatInt(n, 10) + "&upload_token=t"
	c.st.at(a.network).objects.Store("up/"+strconv.FormatInt(n, 10), p)
	return ttOK(c, map[string]any{"publish_id": p.id, "upload_url": to})
}

func (i ttInfo) entry(c *call, kind, text string) *entry {
	e := &entry{
		Post:    Post{ID: strconv.FormatInt(7_000_000_000_000_000_000+c.sim.next()%1_000_000_000_000_000_000, 10), Kind: kind, Text: text},
		hidden:  i.Privacy != "PUBLIC_TO_EVERYONE",
		private: map[string]string{"privacy": i.Privacy},
	}
	if kind == "photo" {
		e.Title = i.Title
	}
	e.path = "/tiktok/p/" + e.ID
	return e
}

// initPhotos publishes photos, which are pulled.
func (k *tiktok) initPhotos(c *call) *reply {
	var v ttPhotoInit
	a, no := k.enter(c, &v, "video.publish")
	if no != nil {
		return no
	}
	return c.do(Commit, a, func() *reply {
		if no := v.check(c); no != nil {
			return no
		}
		if no := v.Info.check(c); no != nil {
			return no
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if no := k.room(c, a); no != nil {
			return no
		}
		p := &ttPublish{id: fmt.Sprintf("p_pub_url~v2.%d", c.sim.next()), owner: a, pull: true, born: c.now, entry: v.Info.entry(c, "photo", v.Info.Description)}
		c.st.at(a.network).objects.Store(p.id, p)
		var files []blob
		var err error
		for _, address := range v.Source.Images {
			b, no := c.pull(address, ttPhoto)
			files = append(files, b)
			if no != nil {
				err = no
			}
		}
		k.got(c, p, files, err)
		return ttOK(c, map[string]any{"publish_id": p.id})
	})
}

func (v ttPhotoInit) check(c *call) *reply {
	s := v.Source
	switch {
	case v.Type != "PHOTO" || v.Mode != "DIRECT_POST":
		return ttBad(c, "media_type is PHOTO, post_mode DIRECT_POST here.")
	case s.Source != "PULL_FROM_URL" || slices.ContainsFunc(s.Images, func(u string) bool { return !webAddress(u) }):
		return ttBad(c, "Photos are pulled from addresses.")
	case len(s.Images) < 1 || len(s.Images) > 35:
		return ttBad(c, "A post has 1 to 35 photos.")
	case s.Cover < 0 || s.Cover >= len(s.Images):
		return ttBad(c, "photo_cover_index is of one of the photos.")
	case units(v.Info.Title) > ttPhotoTitle || units(v.Info.Description) > ttPhotoText:
		return ttBad(c, "The title or the description is too long.")
	case v.Info.NoDuet || v.Info.NoStitch || v.Info.Synthetic || v.Info.Cover != nil:
		return ttBad(c, "These settings are of videos.")
	}
	return nil
}

// put takes a piece of a video. The address alone is the right to do so.
func (k *tiktok) put(c *call) *reply {
	q := c.r.URL.Query()
	c.params.values = q
	first, last, total, err := contentRange(c.r.Header.Get("Content-Range"))
	if last+1 == total {
		c.step = Commit
	}
	p, ok := thing[*ttPublish](c.st.at(c.place.name), "up/"+q.Get("upload_id"))
	if !ok || q.Get("upload_token") != "t" {
		return &reply{status: http.StatusNotFound}
	}
	c.account = p.owner
	kind := c.r.Header.Get("Content-Type")
	switch {
	case c.now.After(p.until):
		return &reply{status: http.StatusForbidden}
	case err != nil || first < 0 || total != p.size || c.r.ContentLength != last-first+1:
		return &reply{status: http.StatusRequestedRangeNotSatisfiable}
	case kind != "video/mp4" && kind != "video/quicktime" && kind != "video/webm":
		return &reply{status: http.StatusBadRequest}
	}
	return c.do(c.step, p.owner, func() *reply { return k.take(c, p, first, last) })
}

// take stores the piece whose turn it is.
func (k *tiktok) take(c *call, p *ttPublish, first, last int64) *reply {
	data, err := io.ReadAll(io.LimitReader(c.r.Body, last-first+1))
	p.owner.mu.Lock()
	defer p.owner.mu.Unlock()
	n := first / max(p.piece, 1)
	end := min((n+1)*p.piece, p.size)
	if n == p.pieces-1 {
		end = p.size
	}
	if err != nil || first != p.arrived || first%max(p.piece, 1) != 0 || last+1 != end {
		return &reply{status: http.StatusRequestedRangeNotSatisfiable}
	}
	p.arrived = last + 1
	if room := keptPart - int64(p.data.Len()); room > 0 {
		p.data.Write(data[:min(int64(len(data)), room)])
	}
	if p.arrived < p.size {
		return (&reply{status: http.StatusPartialContent}).with("Content-Range", fmt.Sprintf("bytes 0-%d/%d", p.arrived-1, p.size))
	}
	k.got(c, p, []blob{sorted(p.data.Bytes(), p.size)}, nil)
	return (&reply{status: http.StatusCreated}).with("Content-Range", fmt.Sprintf("bytes 0-%d/%d", p.size-1, p.size))
}

// got is the moment when TikTok has everything. What is wrong with a file it says
// later, when it is asked. owner.mu is held.
func (k *tiktok) got(c *call, p *ttPublish, files []blob, err error) {
	p.done = true
	p.entry.Time = c.now
	video := p.entry.Kind == "video"
	for _, b := range files {
		switch {
		case err != nil:
			p.failed = map[bool]string{true: "video_pull_failed", false: "photo_pull_failed"}[video]
		case video:
			p.failed = ttFilm(b)
		default:
			p.failed = ttPicture(b)
		}
		if p.failed != "" {
			return
		}
		p.entry.Media = append(p.entry.Media, c.keepMedia(b, ""))
	}
	c.publish(p.owner, p.entry)
}

func ttFilm(b blob) string {
	wide, high := b.width, b.height
	switch {
	case b.kind != "video" || !slices.Contains([]string{"video/mp4", "video/quicktime", "video/webm"}, b.mime) || b.size > ttVideo:
		return "file_format_check_failed"
	case b.long > 0 && (b.long < 3*time.Second || b.long > ttLongest*time.Second):
		return "duration_check_failed"
	case wide > 0 && (wide < 360 || high < 360 || wide > 4096 || high > 4096):
		return "picture_size_check_failed"
	}
	return ""
}

func ttPicture(b blob) string {
	switch {
	case b.mime != "image/jpeg" && b.mime != "image/webp", !b.whole(), b.size > ttPhoto:
		return "file_format_check_failed"
	case b.width*b.height > ttPixels:
		return "picture_size_check_failed"
	}
	return ""
}
