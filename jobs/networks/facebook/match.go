package facebook

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/graph"
)

const listFields = "id,message,created_time,is_published,permalink_url,status_type," +
	"attachments{media_type,url,target,subattachments{media_type,url,target}},application"

// listed is a post as the Page's list shows it.
type listed struct {
	ID          graph.ID    `json:"id"`
	Message     string      `json:"message"`
	Created     graph.Time  `json:"created_time"`
	Published   *bool       `json:"is_published"`
	Permalink   string      `json:"permalink_url"`
	Attachments attachments `json:"attachments"`
	Application struct {
		ID graph.ID `json:"id"`
	} `json:"application"`
}

type attachments struct {
	Data []attachment `json:"data"`
}

type attachment struct {
	MediaType string `json:"media_type"`
	URL       string `json:"url"`
	Target    struct {
		ID  graph.ID `json:"id"`
		URL string   `json:"url"`
	} `json:"target"`
	Parts attachments `json:"subattachments"`
}

// search is one look-up: what is looked for, and what fits so far.
type search struct {
	job     networks.Job
	uploads []string // ids of our own pictures and video
	window  networks.Window
	span    graph.Span
	app     string

	sure     []listed // fits in everything
	doubtful []listed // fits, but the link or the app differs, or text or attachments are wanting
	own      *listed  // holds an upload of ours
}

// see takes one post of the list.
func (s *search) see(p listed) (more bool) {
	in, more := s.span.See(p.Created)
	if !in || p.Published != nil && !*p.Published || !ours(s.job.Account.RemoteID, string(p.ID)) ||
		taken(s.window, append(p.targets(), string(p.ID))...) {
		return more
	}
	if slices.ContainsFunc(p.targets(), func(id string) bool { return slices.Contains(s.uploads, id) }) {
		s.own = &p
		return false
	}
	message, _ := said(s.job.Post)
	switch post := s.job.Post; {
	case !networks.SameText(p.Message, message) || !p.shapedLike(post):
	case s.doubts(p):
		s.doubtful = append(s.doubtful, p)
	default:
		s.sure = append(s.sure, p)
	}
	return true
}

// doubts says whether something but the text and the shape speaks against p.
func (s *search) doubts(p listed) bool {
	post, app := s.job.Post, string(p.Application.ID)
	message, _ := said(post)
	switch {
	case s.app != "" && app != "" && app != s.app:
		return true
	case len(post.Media) > 0 && len(p.Attachments.Data) == 0:
		return true
	case message == "" && (s.app == "" || app != s.app):
		return post.Link == "" || !p.linksTo(post.Link)
	}
	return post.Link != "" && p.link() != "" && !p.linksTo(post.Link)
}

// finding is what the look-up proved.
func (s *search) finding(complete bool) networks.Finding {
	byApp := slices.DeleteFunc(slices.Clone(s.sure), func(p listed) bool { return s.app == "" || string(p.Application.ID) != s.app })
	switch {
	case s.own != nil:
		return s.found(*s.own, "The Page has a post with what was uploaded for it.")
	case len(s.sure) == 1:
		return s.found(s.sure[0], "The Page has a post of that time with the same text and attachments.")
	case len(byApp) == 1:
		return s.found(byApp[0], "The Page has one post of that time and text that Herald's app made.")
	case len(s.sure) > 1:
		return cantTell(fmt.Sprintf("The Page has %d posts of that time with this text, and nothing tells them apart.", len(s.sure)))
	case len(s.doubtful) > 0:
		return cantTell("The Page has a post of that time that looks like this one, but may be somebody else's.")
	case s.job.Post.Format == network.FormatVideo:
		return cantTell("The Page does not list the video, but Facebook may still be working on it.")
	case !complete:
		return cantTell("The Page has more posts of that time than could be read.")
	}
	return absent("The Page's posts of that time were all read, and none is this one.")
}

func (s *search) found(p listed, say string) networks.Finding {
	id := string(p.ID)
	if s.job.Post.Format == network.FormatVideo && len(p.targets()) == 1 {
		id = p.targets()[0] // what the commit would have answered
	}
	return found(id, p.Permalink, say)
}

// parts are the attachments, an album's pictures one by one.
func (p listed) parts() (list []attachment) {
	for _, a := range p.Attachments.Data {
		if len(a.Parts.Data) > 0 {
			list = append(list, a.Parts.Data...)
		} else {
			list = append(list, a)
		}
	}
	return list
}

func (p listed) targets() (ids []string) {
	for _, a := range p.parts() {
		if id := string(a.Target.ID); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// count counts the attachments of a kind. An album whose pictures are not
// listed is an album.
func (p listed) count(kind string) (n int) {
	for _, a := range p.parts() {
		if strings.HasPrefix(a.MediaType, kind) {
			n++
		}
	}
	return n
}

// shapedLike says whether what is attached can be what the post attached. A
// list that shows no attachments at all does not speak against it.
func (p listed) shapedLike(post networks.Post) bool {
	photos, videos, albums := p.count("photo"), p.count("video"), p.count("album")
	if len(p.Attachments.Data) == 0 {
		return true
	}
	switch post.Format {
	case network.FormatImage:
		return photos == 1 && videos+albums == 0
	case network.FormatImages:
		return videos == 0 && (photos == len(post.Media) || photos == 0 && albums == 1)
	case network.FormatVideo:
		return videos == 1 && photos+albums == 0
	}
	return photos+videos+albums == 0
}

// link is the address that the post shows beside its text.
func (p listed) link() string {
	for _, a := range p.parts() {
		if a.MediaType == "link" {
			return unwrapped(a.URL)
		}
	}
	return ""
}

func (p listed) linksTo(link string) bool { return p.link() != "" && bare(p.link()) == bare(link) }

// unwrapped takes Facebook's redirect off an address.
func unwrapped(link string) string {
	u, err := url.Parse(link)
	if err == nil && strings.HasSuffix(u.Hostname(), "facebook.com") && u.Path == "/l.php" {
		return u.Query().Get("u")
	}
	return link
}

// bare is an address without what two writers of it may differ in.
func bare(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return link
	}
	query := u.Query()
	query.Del("fbclid")
	return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.") + strings.TrimSuffix(u.EscapedPath(), "/") + "?" + query.Encode()
}
