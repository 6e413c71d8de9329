package conform

import (
	"testing"

	"herald/db/network"
	"herald/jobs/networks"
)

// enough is how many durable commits one claim of a target waits for: the claim,
// the move to in flight, the result.
const enough = 3

// TestAPublishWaitsForThreeDurableCommits counts what each claim waits for, with as
// many files as a post may have. A network that works on files for a while is
// claimed several times, and each time counts by itself. A video of several pieces,
// which these are not, saves how far it is, which costs little beside a piece.
func TestAPublishWaitsForThreeDurableCommits(t *testing.T) {
	t.Parallel()
	everywhere(t, check{"commits: three a claim, however many pictures", nil, func(t *testing.T, p place) {
		for _, rule := range p.Formats {
			w := newWorld(t, p)
			c := newCourier(w, w.jobOf(p.fullest(w, rule)))
			c.run(t.Context())
			c.wantState(t, published)
			most := 0
			for _, n := range c.waited {
				most = max(most, n)
			}
			if most > enough {
				t.Errorf("%s with %d files: its claims waited for %v commits, want %d at most", rule.Format, len(c.job.Post.Media), c.waited, enough)
			}
		}
	}})
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
