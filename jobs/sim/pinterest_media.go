package sim

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

// pinMedia is a video on its way. owner.mu guards what changes.
type pinMedia struct {
	id     string
	owner  *account
	born   time.Time
	data   blob
	there  bool
	polls  int
	need   int
	failed bool
}

const pinPolicy = time.Hour // for which the store takes the video

func (t *pinterest) register(c *call) *reply {
	a, no := t.open(c, "pins:write")
	if no != nil {
		return no
	}
	var b struct {
		Type string `json:"media_type"`
	}
	if err := c.object(&b); err != nil || b.Type != "video" {
		return pinBad("media_type is video")
	}
	return c.do(Prepare, a, func() *reply {
		id := strconv.FormatInt(c.sim.next(), 10)
		c.st.at(a.network).objects.Store(id, &pinMedia{id: id, owner: a, born: c.now, need: c.sim.Knobs().VideoPolls})
		return answer(http.StatusCreated, map[string]any{
			"media_id": id, "media_type": "video", "upload_url": c.base() + "/pinterest/store/" + id,
			"upload_parameters": map[string]string{"key": "uploads/" + id, "policy": "eyJleHAiOjF9", "x-amz-signature": "f00d" + id, "Content-Type": "multipart/form-data"},
		})
	})
}

// s3 is an error of the store, in its own words.
func s3(status int, code string) *reply {
	return &reply{status: status, kind: "application/xml", body: []byte(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>` + code + `</Code></Error>`)}
}

// store takes the bytes: every field it asked for, and the file last.
func (t *pinterest) store(c *call) *reply {
	m, ok := thing[*pinMedia](c.st.at(c.place.name), c.r.PathValue("id"))
	if !ok {
		return s3(http.StatusForbidden, "AccessDenied")
	}
	fields, data, last := map[string]string{}, []byte(nil), false
	parts, err := c.r.MultipartReader()
	for err == nil {
		part, end := parts.NextPart()
		if end != nil {
			break
		}
		var raw []byte
		raw, err = io.ReadAll(io.LimitReader(part, bodyLimit))
		if last = part.FormName() == "file"; last {
			data = raw
		} else {
			fields[part.FormName()] = string(raw)
		}
	}
	return c.do(Prepare, m.owner, func() *reply {
		m.owner.mu.Lock()
		defer m.owner.mu.Unlock()
		switch {
		case c.r.Header.Get("Authorization") != "":
			return s3(http.StatusBadRequest, "InvalidArgument")
		case err != nil, !last, fields["key"] != "uploads/"+m.id, fields["policy"] == "", fields["x-amz-signature"] != "f00d"+m.id, fields["Content-Type"] == "":
			return s3(http.StatusForbidden, "AccessDenied")
		case c.now.Sub(m.born) >= pinPolicy:
			return s3(http.StatusForbidden, "AccessDenied")
		}
		m.data, m.there = sorted(data, int64(len(data))), true
		switch d := m.data; {
		case d.mime != "video/mp4" && d.mime != "video/quicktime":
			m.failed = true
		case d.long > 0 && (d.long < 4*time.Second || d.long > 15*time.Minute), d.width > 0 && !d.shaped(0.5, 1.91):
			m.failed = true
		}
		return &reply{status: http.StatusNoContent}
	})
}

// state is how far the video is. owner.mu is held.
func (m *pinMedia) state() string {
	switch {
	case !m.there:
		return "registered"
	case m.polls < m.need:
		return "processing"
	case m.failed:
		return "failed"
	}
	return "succeeded"
}

func (t *pinterest) showMedia(c *call) *reply {
	a, no := t.open(c, "pins:read")
	if no != nil {
		return no
	}
	m, ok := thing[*pinMedia](c.st.at(a.network), c.r.PathValue("id"))
	if !ok || m.owner != a {
		return pinError(http.StatusNotFound, 1, "Media not found.")
	}
	return c.do(Prepare, a, func() *reply {
		f := c.sim.faults.take(c, asyncKinds)
		a.mu.Lock()
		defer a.mu.Unlock()
		state := m.state()
		switch {
		case f == nil:
		case f.Kind == AsyncPending:
			c.outcome, state = string(f.Kind), "processing"
		default:
			c.outcome, state, m.failed = string(f.Kind), "failed", true
		}
		m.polls++
		return answer(http.StatusOK, map[string]any{"media_id": m.id, "media_type": "video", "status": state})
	})
}
