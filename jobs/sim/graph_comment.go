package sim

import (
	"net/http"
	"strconv"
)

var commentFields = []string{"id", "message", "text", "created_time", "timestamp", "from", "username"}

// comment puts a comment under a post.
func (c *call) comment(e *entry, prefix, text string) *reply {
	id := prefix + strconv.FormatInt(c.sim.next(), 10)
	e.read(func() {
		e.Replies = append(e.Replies, Reply{ID: id, Text: text, Time: c.now})
		c.spoke = e.shows(c.now)
	})
	return answer(http.StatusOK, map[string]any{"id": id})
}

// comments answers one page of the comments under a post, newest first.
// Facebook calls their words message and their time created_time, Instagram
// text and timestamp.
func (c *call) comments(e *entry, a *account, words, when string) *reply {
	if no := c.graphOnly("limit", "after"); no != nil {
		return no
	}
	tree, no := c.graphFields(commentFields, "id,"+words+","+when)
	if no != nil {
		return no
	}
	l, no := c.graphListing()
	if no != nil {
		return no
	}
	return c.do(FollowUp, a, func() *reply {
		var shown []any
		var ids []string
		started, more := l.after == "", false
		e.read(func() {
			for i := len(e.Replies) - 1; i >= 0; i-- {
				r := e.Replies[i]
				switch {
				case !started:
					started = r.ID == l.after
				case len(ids) == l.limit:
					more = true
				default:
					ids = append(ids, r.ID)
					shown = append(shown, tree.pick(map[string]any{"id": r.ID, words: r.Text, when: r.Time.UTC().Format(graphTime)}))
				}
			}
		})
		return answer(http.StatusOK, c.graphBook(shown, ids, more))
	})
}

func (fb *facebook) listComments(c *call) *reply {
	token, no := c.graphOpen()
	if no != nil {
		return no
	}
	e, a, no := fb.owned(c, fb.postOf(c, c.r.PathValue("id")), token, "pages_read_engagement")
	if no != nil {
		return no
	}
	return c.comments(e, a, "message", "created_time")
}

// postOf is the post that an id stands for: comments go under a video by the
// id of the video too.
func (fb *facebook) postOf(c *call, id string) string {
	v, ok := thing[*video](c.st.at(c.place.name), id)
	if !ok {
		return id
	}
	v.owner.mu.Lock()
	defer v.owner.mu.Unlock()
	if v.post == nil {
		return id
	}
	return v.post.ID
}

func (ig *instagram) listComments(c *call) *reply {
	token, no := c.graphOpen()
	if no != nil {
		return no
	}
	e, a, no := ig.owned(c, c.r.PathValue("id"), token, igRead)
	if no != nil {
		return no
	}
	return c.comments(e, a, "text", "timestamp")
}
