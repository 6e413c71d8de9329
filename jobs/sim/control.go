package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"herald/db/network"
)

// control is the API by which tests and people steer the networks:
//
//	GET POST DELETE /_control/faults    what is to go wrong
//	POST            /_control/reset     forget everything but the declared accounts
//	GET             /_control/calls     ?network=&account=: every request, in order
//	GET             /_control/posts     ?network=&account=: what the public sees
//	POST            /_control/accounts  declare an account, as Account
//	POST            /_control/strangers {"network","account","text"}: somebody else's post
//	GET POST        /_control/knobs     the choices, as Knobs; a POST changes what it names
//
// A body with a field that nobody knows is 400 with a sentence.
func (s *Sim) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /_control/faults", s.postFault)
	mux.HandleFunc("GET /_control/faults", s.getFaults)
	mux.HandleFunc("DELETE /_control/faults", func(w http.ResponseWriter, r *http.Request) {
		told(w, map[string]int{"removed": s.ClearFaults()})
	})
	mux.HandleFunc("POST /_control/reset", func(w http.ResponseWriter, r *http.Request) {
		s.Reset()
		told(w, map[string]bool{"reset": true})
	})
	mux.HandleFunc("GET /_control/calls", s.getCalls)
	mux.HandleFunc("GET /_control/posts", s.getPosts)
	mux.HandleFunc("POST /_control/accounts", s.postAccount)
	mux.HandleFunc("POST /_control/strangers", s.postStranger)
	mux.HandleFunc("GET /_control/knobs", func(w http.ResponseWriter, r *http.Request) { told(w, knobsOut(s.Knobs())) })
	mux.HandleFunc("POST /_control/knobs", s.postKnobs)
	mux.HandleFunc("/_control/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "There is no control "+r.Method+" "+r.URL.Path+". There are: faults, reset, calls, posts, accounts, strangers, knobs.")
	})
	return mux
}

func told(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v)
}

func refuse(w http.ResponseWriter, status int, say string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": say})
}

// understood reads a body into v, or answers 400 with a sentence.
func understood(w http.ResponseWriter, r *http.Request, v any) bool {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, 8<<20))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			refuse(w, http.StatusBadRequest, "There is something behind the JSON object.")
			return false
		}
		return true
	}
	words := strings.TrimPrefix(err.Error(), "json: ")
	if name, unknown := strings.CutPrefix(words, "unknown field "); unknown {
		words = "There is no field " + name + " here"
	} else {
		words = "The body cannot be read: " + words
	}
	refuse(w, http.StatusBadRequest, words+".")
	return false
}

// faultBody is a Fault as it is written in JSON.
type faultBody struct {
	Network network.Name      `json:"network"`
	Account string            `json:"account,omitempty"`
	Step    Step              `json:"step,omitempty"`
	Kind    Kind              `json:"kind"`
	Times   int               `json:"times,omitempty"`
	After   int               `json:"after,omitempty"`
	Status  int               `json:"status,omitempty"`
	Body    loose             `json:"body,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Delay   delay             `json:"delay,omitempty"`
}

// loose is text, or JSON that is kept as text.
type loose string

// UnmarshalJSON takes a string for itself and anything else as it stands.
func (l *loose) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*l = loose(s)
		return nil
	}
	*l = loose(raw)
	return nil
}

// delay is a Go duration, or a number of seconds.
type delay time.Duration

// UnmarshalJSON takes "250ms" and 0.25.
func (d *delay) UnmarshalJSON(raw []byte) error {
	var seconds float64
	if json.Unmarshal(raw, &seconds) == nil {
		*d = delay(seconds * float64(time.Second))
		return nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		if parsed, err := time.ParseDuration(s); err == nil {
			*d = delay(parsed)
			return nil
		}
	}
	return fmt.Errorf("%s is no duration; write \"30s\", or a number of seconds", raw)
}

// MarshalJSON writes a Go duration.
func (d delay) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

func (s *Sim) postFault(w http.ResponseWriter, r *http.Request) {
	var b faultBody
	if !understood(w, r, &b) {
		return
	}
	f := Fault{
		Network: b.Network, Account: b.Account, Step: b.Step, Kind: b.Kind, Times: b.Times, After: b.After,
		Status: b.Status, Body: string(b.Body), Headers: b.Headers, Delay: time.Duration(b.Delay),
	}
	if no := s.wrong(f); no != "" {
		refuse(w, http.StatusBadRequest, no)
		return
	}
	if err := s.Fault(f); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	told(w, b)
}

func (s *Sim) getFaults(w http.ResponseWriter, r *http.Request) {
	out := []faultBody{}
	for _, f := range s.Faults() {
		out = append(out, faultBody{
			Network: f.Network, Account: f.Account, Step: f.Step, Kind: f.Kind, Times: f.Times, After: f.After,
			Status: f.Status, Body: loose(f.Body), Headers: f.Headers, Delay: delay(f.Delay),
		})
	}
	told(w, out)
}

// asked reads network and account of a query, or answers 400 with a sentence.
func (s *Sim) asked(w http.ResponseWriter, r *http.Request) (name network.Name, accountID string, ok bool) {
	q := r.URL.Query()
	for key := range q {
		if key != "network" && key != "account" {
			refuse(w, http.StatusBadRequest, fmt.Sprintf("There is no parameter %q here: network and account are.", key))
			return "", "", false
		}
	}
	name = network.Name(q.Get("network"))
	if name != "" && !s.known(w, name) {
		return "", "", false
	}
	return name, q.Get("account"), true
}

func (s *Sim) known(w http.ResponseWriter, name network.Name) bool {
	if s.places[name] == nil {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("There is no simulated network %q. There are: %s.", name, listed(s.order)))
		return false
	}
	return true
}

func (s *Sim) getCalls(w http.ResponseWriter, r *http.Request) {
	if name, id, ok := s.asked(w, r); ok {
		told(w, s.Calls(name, id))
	}
}

func (s *Sim) getPosts(w http.ResponseWriter, r *http.Request) {
	if name, id, ok := s.asked(w, r); ok {
		told(w, s.posts(name, id, s.base(r)))
	}
}

func (s *Sim) postAccount(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Network network.Name `json:"network"`
		ID      string       `json:"id"`
		Token   string       `json:"token"`
		Refresh string       `json:"refresh"`
		Handle  string       `json:"handle"`
		Name    string       `json:"name"`
		Scopes  []string     `json:"scopes"`
		App     string       `json:"app"`
		Former  string       `json:"former"`
		Expires time.Time    `json:"expires"`
		Issued  time.Time    `json:"issued"`
	}
	switch {
	case !understood(w, r, &b) || !s.known(w, b.Network):
		return
	case b.ID == "":
		refuse(w, http.StatusBadRequest, "An account needs an id.")
		return
	}
	s.AddAccount(b.Network, Account{
		ID: b.ID, Token: b.Token, Refresh: b.Refresh, Handle: b.Handle, Name: b.Name,
		Scopes: b.Scopes, App: b.App, Former: b.Former, Expires: b.Expires, Issued: b.Issued,
	})
	told(w, map[string]string{"id": b.ID})
}

func (s *Sim) postStranger(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Network network.Name `json:"network"`
		Account string       `json:"account"`
		Text    string       `json:"text"`
	}
	switch {
	case !understood(w, r, &b) || !s.known(w, b.Network):
	case b.Account == "":
		refuse(w, http.StatusBadRequest, "Name the account that the stranger's post stands on.")
	default:
		told(w, map[string]string{"id": s.AddStranger(b.Network, b.Account, b.Text)})
	}
}

// knobBody is Knobs as it is written in JSON; nil leaves a knob alone.
type knobBody struct {
	ImagePolls *int    `json:"image_polls,omitempty"`
	VideoPolls *int    `json:"video_polls,omitempty"`
	QuotaTotal *int    `json:"quota_total,omitempty"`
	Containers *int    `json:"containers,omitempty"`
	Hashtags   *int    `json:"hashtags,omitempty"`
	Republish  *bool   `json:"republish,omitempty"`
	NoCode     *bool   `json:"no_code,omitempty"`
	ReadLag    *delay  `json:"read_lag,omitempty"`
	Duplicates *bool   `json:"duplicates,omitempty"`
	Spread     *delay  `json:"spread,omitempty"`
	Summoned   *bool   `json:"summoned,omitempty"`
	Unaudited  *bool   `json:"unaudited,omitempty"`
	Forum      *bool   `json:"forum,omitempty"`
	Made422    *bool   `json:"made_422,omitempty"`
	UserDaily  *int    `json:"user_daily,omitempty"`
	AppDaily   *int    `json:"app_daily,omitempty"`
	Uploads    *int    `json:"uploads,omitempty"`
	Partial    *int    `json:"partial,omitempty"`
	Keys       *string `json:"keys,omitempty"`
	Refresh    *string `json:"refresh,omitempty"`
	CallLimit  *int    `json:"call_limit,omitempty"`
}

// bound pairs b's fields with k's.
func (b *knobBody) bound(k *Knobs) []func(out bool) {
	return []func(bool){
		swap(&b.ImagePolls, &k.ImagePolls), swap(&b.VideoPolls, &k.VideoPolls), swap(&b.QuotaTotal, &k.QuotaTotal),
		swap(&b.Containers, &k.Containers), swap(&b.Hashtags, &k.Hashtags), swap(&b.Republish, &k.Republish),
		swap(&b.NoCode, &k.NoCode), swap(&b.ReadLag, (*delay)(&k.ReadLag)), swap(&b.Duplicates, &k.Duplicates), swap(&b.Spread, (*delay)(&k.Spread)), swap(&b.Summoned, &k.Summoned), swap(&b.Unaudited, &k.Unaudited),
		swap(&b.Forum, &k.Forum), swap(&b.Made422, &k.Made422),
		swap(&b.UserDaily, &k.UserDaily), swap(&b.AppDaily, &k.AppDaily), swap(&b.Uploads, &k.Uploads), swap(&b.Partial, &k.Partial),
		swap(&b.Keys, &k.Keys), swap(&b.Refresh, &k.Refresh), swap(&b.CallLimit, &k.CallLimit),
	}
}

// swap copies a knob out to a body, or a named one of the body into the knob.
func swap[T any](body **T, knob *T) func(out bool) {
	return func(out bool) {
		switch {
		case out:
			v := *knob
			*body = &v
		case *body != nil:
			*knob = **body
		}
	}
}

func knobsOut(k Knobs) knobBody {
	var b knobBody
	for _, f := range b.bound(&k) {
		f(true)
	}
	return b
}

func (s *Sim) postKnobs(w http.ResponseWriter, r *http.Request) {
	var b knobBody
	if !understood(w, r, &b) {
		return
	}
	k := s.Knobs()
	for _, f := range b.bound(&k) {
		f(false)
	}
	if no := k.filled().wrong(); no != "" {
		refuse(w, http.StatusBadRequest, no)
		return
	}
	s.Turn(func(old *Knobs) { *old = k })
	told(w, knobsOut(s.Knobs()))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
