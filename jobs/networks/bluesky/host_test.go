package bluesky

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/nettest"
)

var noon = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)

// pds is a server as far as these tests need one.
type pds struct {
	records map[string]string // by key
	blobs   int
	signs   atomic.Int64
	next    func(c nettest.Call) *nettest.Answer // answers instead, unless nil
}

func newPDS() *pds { return &pds{records: map[string]string{}} }

func say(status int, name string) nettest.Answer {
	return nettest.Answer{Status: status, Body: fmt.Sprintf(`{"error":%q,"message":"m"}`, name)}
}

func (p *pds) answer(c nettest.Call) nettest.Answer {
	if p.next != nil {
		if a := p.next(c); a != nil {
			return *a
		}
	}
	switch c.Path[strings.LastIndexByte(c.Path, '/')+1:] {
	case "com.atproto.server.createSession":
		n := p.signs.Add(1)
		return nettest.Answer{Body: fmt.Sprintf(`{"accessJwt":"A%d","refreshJwt":"R%d","did":"did:plc:x","handle":"bakery.example"}`, n, n)}
	case "com.atproto.server.getSession":
		return nettest.Answer{Body: `{"did":"did:plc:x","handle":"bakery.example","active":true,"didDoc":{"service":[{"id":"#atproto_pds","type":"AtprotoPersonalDataServer","serviceEndpoint":"https://morel.example"}]}}`}
	case "com.atproto.identity.resolveHandle":
		if c.Query.Get("handle") == "cafe.example.com" {
			return nettest.Answer{Body: `{"did":"did:plc:cafe"}`}
		}
		return say(400, "InvalidRequest")
	case "com.atproto.repo.uploadBlob":
		p.blobs++
		return nettest.Answer{Body: fmt.Sprintf(`{"blob":{"$type":"blob","ref":{"$link":"bafk%s"},"mimeType":"image/png","size":6}}`, c.File)}
	case "com.atproto.repo.putRecord":
		return p.put(c)
	case "com.atproto.repo.getRecord":
		if r, ok := p.records[c.Query.Get("rkey")]; ok {
			return nettest.Answer{Body: fmt.Sprintf(`{"uri":"at://did:plc:x/app.bsky.feed.post/%s","cid":"bafy","value":%s}`, c.Query.Get("rkey"), r)}
		}
		return say(400, "RecordNotFound")
	}
	return say(501, "MethodNotImplemented")
}

func (p *pds) put(c nettest.Call) nettest.Answer {
	var w struct {
		RKey   string          `json:"rkey"`
		Record json.RawMessage `json:"record"`
	}
	_ = json.Unmarshal([]byte(c.File), &w)
	if old, ok := p.records[w.RKey]; ok && old != string(w.Record) || !strings.Contains(c.File, `"swapRecord":null`) {
		return say(400, "InvalidSwap")
	}
	p.records[w.RKey] = string(w.Record)
	return nettest.Answer{Body: fmt.Sprintf(`{"uri":"at://did:plc:x/app.bsky.feed.post/%s","cid":"bafy"}`, w.RKey)}
}

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func setup(t *testing.T) (*pds, *nettest.Host, *Adapter, *clock) {
	t.Helper()
	p, c := newPDS(), &clock{noon}
	h := nettest.New(t, p.answer)
	return p, h, New(networks.Env{Base: h.URL + "/x", HTTP: h.Client, Now: c.now}), c
}

func jobOf(post networks.Post) networks.Job {
	return networks.Job{Key: "k", Attempt: 1, Post: post, Account: networks.Account{Network: network.Bluesky, RemoteID: "did:plc:x", Token: secret.NewToken("AT")}}
}

func picture(n int) networks.Media {
	return networks.Media{Media: network.Media{Kind: network.Image, Type: "image/png", Bytes: 6, Width: 4, Height: 3, Alt: fmt.Sprintf("loaf %d", n)},
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(fmt.Sprintf("pixel%d", n))), nil
		}}
}

// publish runs both steps.
func publish(t *testing.T, a *Adapter, job networks.Job, h networks.Handles) (networks.Receipt, error) {
	t.Helper()
	ready, err := a.Prepare(t.Context(), job, h)
	if err != nil {
		return networks.Receipt{}, err
	}
	return a.Commit(t.Context(), ready)
}
