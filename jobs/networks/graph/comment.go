package graph

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
)

// The handles of a first comment.
const (
	commentMark = "comment.began" // set before the call, cleared by a plain refusal
	commentID   = "comment"
)

// Comment writes the first comment under a post, once: if an earlier run may
// have written it, the comments are read before another is written. Path is
// that of the comments; c needs Step, Trail and Token.
func Comment(ctx context.Context, d *Door, c Call, path, text string, h networks.Handles) error {
	if h.Get(commentID) != "" {
		return nil
	}
	c.Path = path
	if h.Get(commentMark) != "" {
		id, err := findComment(ctx, d, c, text)
		if err != nil {
			return unseen(err)
		}
		if id != "" {
			return networks.Keep(ctx, h, commentID, id)
		}
	}
	if err := networks.Keep(ctx, h, commentMark, "1"); err != nil {
		return err
	}
	return writeComment(ctx, d, c, text, h)
}

func writeComment(ctx context.Context, d *Door, c Call, text string, h networks.Handles) error {
	var made struct {
		ID ID `json:"id"`
	}
	c.Method, c.Form = http.MethodPost, url.Values{"message": {text}}
	_, err := d.Do(ctx, c, &made)
	if noEffect(err) {
		networks.Forget(h, commentMark)
		return unseen(err)
	}
	if err != nil {
		return err
	}
	if made.ID == "" {
		return fault.New(fault.Transient, "unparsable", "The network's answer to the first comment could not be read.")
	}
	return networks.Keep(ctx, h, commentID, string(made.ID))
}

// unseen makes a "no such object" about our own post Transient: for a while
// after it was made Graph does not find it, to comment on it either.
func unseen(err error) error {
	if !Missing(err) {
		return err
	}
	f := *fault.Of(err)
	f.Kind, f.Say = fault.Transient, "The network does not show the post yet, so the first comment has to wait."
	return &f
}

// noEffect says whether a failed call is certain to have written nothing.
func noEffect(err error) bool {
	f := fault.Of(err)
	if f == nil || f.Kind == fault.Unknown {
		return false
	}
	unsent := []string{"no_such_host", "connection_refused", "tls", "not_sent"}
	return f.Status >= 400 && f.Status < 500 && f.Status != 408 && f.Status != 499 || slices.Contains(unsent, f.Code)
}

// findComment returns the id of the comment that reads like text, or "". Facebook
// calls the words message, Instagram text.
func findComment(ctx context.Context, d *Door, c Call, text string) (id string, err error) {
	type comment struct {
		ID            ID
		Message, Text string
	}
	c.Method, c.Form = http.MethodGet, nil
	c.Query = url.Values{"limit": {"50"}}
	complete, err := Pages(ctx, d, c, func(one comment) bool {
		if networks.SameText(one.Message+one.Text, text) {
			id = string(one.ID)
		}
		return id == ""
	})
	if err == nil && !complete {
		err = fault.New(fault.Unknown, "comments_unread", "The first comment may be there or not: the post has more comments than could be read.")
	}
	return id, err
}
