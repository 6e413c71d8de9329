package graph_test

import (
	"testing"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/nettest"
)

// wall is an object with comments, and what to do on the next writes.
type wall struct {
	comments []string
	next     []nettest.Answer
	storing  bool // whether those writes take effect all the same
}

func (w *wall) answer(c nettest.Call) nettest.Answer {
	if c.Method == "GET" {
		body := `{"data":[`
		for i, text := range w.comments {
			if i > 0 {
				body += ","
			}
			body += `{"id":"9","message":"` + text + `"}`
		}
		return nettest.Answer{Body: body + `]}`}
	}
	if len(w.next) > 0 {
		a := w.next[0]
		w.next = w.next[1:]
		if w.storing {
			w.comments = append(w.comments, c.Form.Get("message"))
		}
		return a
	}
	w.comments = append(w.comments, c.Form.Get("message"))
	return nettest.Answer{Body: `{"id":"9"}`}
}

func TestAFirstCommentIsWrittenOnceWhateverHappens(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*wall{
		"plain":                   {},
		"stored, then 500":        {next: []nettest.Answer{{Status: 500, Body: `{"error":{"code":2}}`}}, storing: true},
		"stored, then closed":     {next: []nettest.Answer{{Close: true}}, storing: true},
		"stored, then garbage":    {next: []nettest.Answer{{Body: `<html>`}}, storing: true},
		"stored, then without id": {next: []nettest.Answer{{Body: `{}`}}, storing: true},
		"refused, then taken":     {next: []nettest.Answer{{Status: 400, Body: `{"error":{"code":32}}`}}},
		"lost":                    {next: []nettest.Answer{{Close: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := nettest.New(t, w.answer)
			kept := h.Handles()
			var err error
			for range 3 {
				err = graph.Comment(t.Context(), door(h), graph.Call{Step: httpx.FollowUp}, "1/comments", "Hello", kept)
			}
			if err != nil || len(w.comments) != 1 || kept.Get("comment") != "9" {
				t.Errorf("%d comments, %v\n%s", len(w.comments), err, h.Log())
			}
		})
	}
}

func TestAFirstCommentThatCannotBeMarkedIsNotWritten(t *testing.T) {
	t.Parallel()
	w := &wall{}
	h := nettest.New(t, w.answer)
	kept := h.Handles()
	kept.FailAt = 1
	err := graph.Comment(t.Context(), door(h), graph.Call{Step: httpx.FollowUp}, "1/comments", "Hello", kept)
	if f := fault.Of(err); f == nil || f.Kind != fault.Transient || len(h.Calls()) != 0 {
		t.Errorf("got %v after %d calls", err, len(h.Calls()))
	}
}
