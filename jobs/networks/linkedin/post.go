package linkedin

import (
	"cmp"
	"net/url"

	"herald/db/network"
	"herald/jobs/networks"
)

// post is a post as it is sent, and as lists show it.
type post struct {
	Author       string        `json:"author"`
	Commentary   string        `json:"commentary"`
	Visibility   string        `json:"visibility"`
	Distribution *distribution `json:"distribution,omitempty"`
	State        string        `json:"lifecycleState"`
	NoReshare    bool          `json:"isReshareDisabledByAuthor"`
	Content      *content      `json:"content,omitempty"`
}

type distribution struct {
	Feed    string   `json:"feedDistribution"`
	Targets []string `json:"targetEntities"`
	Third   []string `json:"thirdPartyDistributionChannels"`
}

// content is what stands beside the words; one of the three.
type content struct {
	Media   *file    `json:"media,omitempty"`
	Images  *images  `json:"multiImage,omitempty"`
	Article *article `json:"article,omitempty"`
}

type file struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	Alt   string `json:"altText,omitempty"`
}

type images struct {
	List []file `json:"images"`
}

type article struct {
	Source string `json:"source"`
	Title  string `json:"title"`
	Words  string `json:"description,omitempty"`
}

// files are the URNs of what a post shows.
func (c *content) files() (urns []string) {
	switch {
	case c == nil:
	case c.Media != nil:
		urns = append(urns, c.Media.ID)
	case c.Images != nil:
		for _, one := range c.Images.List {
			urns = append(urns, one.ID)
		}
	}
	return urns
}

func postOf(ready networks.Ready) post {
	n, _ := network.Get(network.LinkedIn)
	job, d := ready.Job, network.Draft{Options: ready.Job.Post.Options}
	return post{
		Author: job.Account.RemoteID, Commentary: escape(job.Post.Text), Visibility: n.Value(d, network.OptVisibility),
		Distribution: &distribution{Feed: "MAIN_FEED", Targets: []string{}, Third: []string{}}, State: "PUBLISHED",
		NoReshare: n.Value(d, network.OptReshare) == "false", Content: contentOf(ready),
	}
}

func contentOf(ready networks.Ready) *content {
	p := ready.Job.Post
	switch p.Format {
	case network.FormatLink:
		return &content{Article: card(p)}
	case network.FormatImage, network.FormatVideo:
		return &content{Media: &file{ID: ready.Handles[media(0)], Title: p.Options[network.OptTitle], Alt: p.Media[0].Alt}}
	case network.FormatDocument:
		return &content{Media: &file{ID: ready.Handles[media(0)], Title: p.Options[network.OptDocTitle]}}
	case network.FormatImages:
		list := &images{}
		for i, m := range p.Media {
			list.List = append(list.List, file{ID: ready.Handles[media(i)], Alt: m.Alt})
		}
		return &content{Images: list}
	}
	return nil
}

// card is what the link is shown as; LinkedIn reads nothing of the page itself.
func card(p networks.Post) *article {
	title := p.Options[network.OptLinkTitle]
	if u, err := url.Parse(p.Link); err == nil {
		title = cmp.Or(title, u.Hostname())
	}
	return &article{Source: p.Link, Title: title, Words: p.Options[network.OptLinkWords]}
}
