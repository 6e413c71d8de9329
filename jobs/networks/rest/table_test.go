package rest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"herald/db/secret"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/nettest"
	"herald/jobs/networks/rest"
)

func read(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		Code    string  `json:"code"`
		Message string  `json:"message"`
		Wait    float64 `json:"wait"`
	}
	if json.Unmarshal(a.Body, &body) != nil || body.Code == "" {
		return rest.Problem{}, false
	}
	return rest.Problem{Code: body.Code, Message: body.Message, Wait: time.Duration(body.Wait * float64(time.Second))}, true
}

var table = rest.Table{Network: "Orkut", Read: read, Rows: []rest.Row{
	{Code: "gone", Kind: fault.Validation, Say: "{network} lost it."},
	{Code: "gone", Status: 403, Kind: fault.Permission, Say: "{network} says no."},
	{Code: "gone", Words: []string{"twin"}, Kind: fault.Validation, Duplicate: true, Say: "It is there."},
	{Code: "slow", Kind: fault.RateLimited, Until: func(now time.Time) time.Duration { return now.Add(time.Hour).Sub(now) }, Everyone: true, Say: "Slow down."},
	{Code: "down", Kind: fault.Transient, Commit: fault.Unknown, Tries: 2, Say: "{network} is down."},
	{Status: 418, Kind: fault.Auth, Name: "teapot", Quote: true, Say: "A teapot."},
}}

func TestTheRowThatSpeaksMostExactlyCounts(t *testing.T) {
	t.Parallel()
	nettest.Walk(t, table, lines)
}

const lines = `
400 |  | {"code":"gone","message":"x"} | validation | validation | gone
403 |  | {"code":"gone","message":"x"} | permission | permission | gone
400 |  | {"code":"gone","message":"a Twin of it"} | validation | validation | gone | again=unknown
429 |  | {"code":"slow"} | rate_limited | rate_limited | slow | wait=1h everyone
429 | Retry-After: 7 | {"code":"slow"} | rate_limited | rate_limited | slow | wait=7s everyone
429 | Retry-After: 7 | {"code":"slow","wait":2.5} | rate_limited | rate_limited | slow | wait=2.5s everyone
400 |  | {"code":"down"} | transient | unknown | down | later=validation
418 |  | {"code":"odd","message":"short and stout."} | auth | auth | teapot
`

func TestWhatIsNotTheNetworksOwnIsNotBelievedOnTheCommit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status         int
		body           string
		before, commit fault.Kind
	}{
		{400, `<html>`, fault.Validation, fault.Unknown},
		{403, `{"detail":"proxy"}`, fault.Permission, fault.Unknown},
		{429, `<html>`, fault.RateLimited, fault.RateLimited},
		{502, `<html>`, fault.Transient, fault.Unknown},
		{500, `{"code":"gone"}`, fault.Validation, fault.Unknown},
		{200, `{"code":"gone"}`, fault.Transient, fault.Unknown},
		{422, `{"code":"new","message":"a text that is long"}`, fault.Validation, fault.Validation},
		{401, `{"code":"new"}`, fault.Auth, fault.Auth},
	} {
		a := nettest.Said(c.status, "", c.body)
		if f := table.Sort(httpx.Prepare, 1, a); f == nil || f.Kind != c.before {
			t.Errorf("%d %s: got %v, want %s", c.status, c.body, f, c.before)
		}
		if f := table.Sort(httpx.Commit, 1, a); f == nil || f.Kind != c.commit {
			t.Errorf("%d %s on commit: got %v, want %s", c.status, c.body, f, c.commit)
		}
	}
	inside := table
	inside.Inside = true
	if f := inside.Sort(httpx.Commit, 1, nettest.Said(200, "", `{"code":"gone"}`)); f.Kind != fault.Validation {
		t.Errorf("a refusal inside a 2xx is %v", f)
	}
	if f := table.Sort(httpx.Prepare, 1, nettest.Said(422, "", `{"code":"new","message":"Too long. "}`)); f.Say != "The network refused the post. Orkut says: Too long." {
		t.Errorf("says %q", f.Say)
	}
}

func TestADoorSendsWhatTheCallHolds(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Body: `{"id":"7"}`} })
	d := rest.Door{HTTP: h.Client, Base: h.URL + "/x", Table: table}
	var got struct{ ID string }
	file := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("pixels")), nil }
	for name, c := range map[string]struct {
		call rest.Call
		file string
		kind string
	}{
		"json": {rest.Call{JSON: map[string]string{"a": "<b>"}}, `{"a":"<b>"}`, "application/json; charset=UTF-8"},
		"form": {rest.Call{Form: map[string][]string{"a": {"b c"}}}, "", "application/x-www-form-urlencoded"},
		"body": {rest.Call{Body: &rest.Body{ReadCloser: io.NopCloser(strings.NewReader("bytes")), Length: 5, Type: "image/png"}}, "bytes", "image/png"},
		"file": {rest.Call{Form: map[string][]string{"a": {"b"}}, Files: []httpx.File{{Field: "f", Name: "n", Size: 6, Open: file}}}, "pixels", ""},
	} {
		c.call.Method, c.call.Path, c.call.Token, c.call.Header = http.MethodPost, "/pots/1", secret.NewToken("T"), map[string]string{"X-A": "b"}
		if _, err := d.Do(t.Context(), c.call, &got); err != nil || got.ID != "7" {
			t.Fatalf("%s: %v, %v", name, got, err)
		}
		last := h.Last()
		if last.Name() != "POST pots/1" || last.File != c.file || c.kind != "" && last.Header.Get("Content-Type") != c.kind ||
			last.Header.Get("Authorization") != "Bearer T" || last.Header.Get("X-A") != "b" {
			t.Errorf("%s: %s %q %v", name, last.Name(), last.File, last.Header)
		}
	}
	_, err := d.Do(t.Context(), rest.Call{Method: http.MethodPost, Path: "x", Files: []httpx.File{{Open: func(context.Context) (io.ReadCloser, error) { return nil, io.EOF }}}}, nil)
	if f := fault.Of(err); f.Kind != fault.Transient || f.Code != "not_sent" {
		t.Errorf("a file that cannot be opened: %v", err)
	}
}

func FuzzSort(f *testing.F) {
	nettest.FuzzTable(f, table, `{"code":"gone","message":"x","wait":1e300}`, `{"code":"slow","wait":-1}`)
}
