package facebook

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

// photo names the handle of the i-th picture.
func photo(i int) string { return "photo." + strconv.Itoa(i+1) }

// photos uploads the pictures without publishing them and returns their
// handles. They are noted: pictures that no post shows are seen by nobody, and the
// move to in flight writes their ids before one does. Pictures of an earlier run are used again if they are still there.
func (a *Adapter) photos(ctx context.Context, job networks.Job, h networks.Handles) (map[string]string, error) {
	ids := map[string]string{}
	for i := range job.Post.Media {
		id, err := a.kept(ctx, job, h, photo(i))
		if err == nil && id == "" {
			id, err = a.uploadPhoto(ctx, job, h, i)
		}
		if err != nil {
			return nil, err
		}
		ids[photo(i)] = id
	}
	return ids, nil
}

// kept returns a photo's id if an earlier run uploaded it and it is still
// there. Facebook drops unpublished photos after a while; such an id is
// forgotten. Where Facebook will not say, the id is used.
func (a *Adapter) kept(ctx context.Context, job networks.Job, h networks.Handles, name string) (string, error) {
	id := h.Get(name)
	if id == "" {
		return "", nil
	}
	_, err := a.door.Do(ctx, a.read(job, httpx.Prepare, id, "id"), nil)
	switch f := fault.Of(err); {
	case graph.Missing(err):
		h.Note(name, "")
		return "", nil
	case f != nil && f.Kind != fault.Validation && f.Kind != fault.Permission:
		return "", f
	}
	return id, nil
}

func (a *Adapter) uploadPhoto(ctx context.Context, job networks.Job, h networks.Handles, i int) (string, error) {
	var made created
	answer, err := a.door.Do(ctx, a.photo(job, httpx.Prepare, i, false), &made)
	if err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", httpx.Unparsable(httpx.Prepare, answer)
	}
	h.Note(photo(i), string(made.ID))
	return string(made.ID), nil
}

// photo is the call that uploads a picture: by its address, else by its bytes.
func (a *Adapter) photo(job networks.Job, step httpx.Step, i int, public bool) graph.Call {
	m := job.Post.Media[i]
	c := a.call(job, step, http.MethodPost, "photos")
	c.Form = url.Values{"published": {strconv.FormatBool(public)}}
	set(c.Form, "alt_text_custom", m.Alt)
	if public {
		set(c.Form, "caption", job.Post.Text)
	}
	if m.URL != "" {
		c.Form.Set("url", m.URL)
	} else {
		c.File = &httpx.File{Field: "source", Name: m.Name, Type: m.Type, Size: m.Bytes, Open: m.Open}
	}
	return c
}
