package conform

import (
	"testing"

	"herald/db/network"
	"herald/jobs/networks"
)

// TestAPublishWaitsForThreeDurableCommits counts what each claim waits for, with as
// many pictures as a post may have and with a video that goes up in several pieces. A
// network that works on files for a while is claimed several times, and each time
// counts by itself.
func TestAPublishWaitsForThreeDurableCommits(t *testing.T) {
	t.Parallel()
	everywhere(t, check{"commits: three a claim, however many pictures or pieces", nil, func(t *testing.T, p place) {
		for _, rule := range p.Formats {
			w := newWorld(t, p)
			counted(w, p.fullest(w, rule)).wantState(t, published)
			if len(rule.Video.Types) == 0 || rule.Min == 0 {
				continue
			}
			w = newWorld(t, p)
			post := p.longest(w, rule)
			counted(w, post).wantState(t, published)
			w = newWorld(t, p)
			post.Media[0].URL = "" // by its bytes, if the network takes them
			counted(w, post)
		}
	}})
}

// counted runs a post; the courier counts what its claims wait for.
func counted(w *world, post networks.Post) *courier {
	c := newCourier(w, w.jobOf(post))
	c.run(w.t.Context())
	return c
}

// fullest is a post of a format with all the pictures that it takes, or its video.
func (p place) fullest(w *world, rule network.FormatRule) networks.Post {
	post := p.post(w, rule.Format)
	if len(rule.Image.Types) == 0 {
		return post
	}
	post.Media = nil
	for range rule.Max {
		post.Media = append(post.Media, p.describe(w.file(sample("image/jpeg")), rule))
	}
	return post
}

// pieces is so large that every network which takes pieces gets at least three.
const pieces = 26 << 20

// longest is a post of a format with a video of several pieces.
func (p place) longest(w *world, rule network.FormatRule) networks.Post {
	f := sample("video/mp4")
	if f.Bytes = pieces; rule.Video.Bytes > 0 {
		f.Bytes = min(f.Bytes, rule.Video.Bytes)
	}
	return p.with(w, rule, f)
}
