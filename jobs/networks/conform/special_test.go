package conform

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks/fault"
	"herald/jobs/sim"
)

// at is the place of a name, by whichever service it is reached.
func at(t *testing.T, name string) place {
	t.Helper()
	all := places()
	i := slices.IndexFunc(all, func(p place) bool { return string(p.Name) == name })
	if i < 0 {
		t.Fatalf("there is no place %s", name)
	}
	return all[i]
}

// ask sends a call of the account to the network, past the adapter.
func (w *world) ask(method, path, body string, header ...string) (int, string) {
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.server.URL+"/"+string(w.place.Name)+path, strings.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return 0, ""
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw)
}

// GoHighLevel has been seen to answer 422 for what it made: it is looked for, and
// not made again.
func TestWhatGoHighLevelMadeAndRefusedGoesOutOnce(t *testing.T) {
	t.Parallel()
	for _, name := range []string{string(network.GHL), string(network.GHLBlog)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, at(t, name))
			w.sim.Turn(func(k *sim.Knobs) { k.Made422 = true })
			c := newCourier(w, w.job(w.place.simple()))
			c.run(t.Context())
			c.wantState(t, published)
			w.wantPublic(1)
		})
	}
}

// A draft that GoHighLevel refused and did not make stays refused.
func TestWhatGoHighLevelRefusedAndDidNotMakeStaysRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, at(t, string(network.GHLBlog)))
	job := w.job(w.place.simple())
	w.fault(sim.Fault{Kind: sim.Refuse, Step: sim.Prepare, Status: 422, After: 1, Times: 1}) // the upload comes first
	c := newCourier(w, job)
	c.run(t.Context())
	c.wantState(t, failed)
	if c.last.Kind != fault.Validation || c.last.Status != 422 {
		t.Errorf("it says %+v", c.last)
	}
	w.wantPublic(0)
}

// The answer to the send is lost, and the campaign is still on its way to people.
func TestACampaignThatIsBeingSentIsNotSentAgain(t *testing.T) {
	t.Parallel()
	w, c := lost(t, at(t, string(network.Mailchimp)), true)
	c.run(t.Context())
	c.wantState(t, published)
	if !strings.Contains(c.found.Say, "sending") {
		t.Errorf("found with %+v", c.found)
	}
	w.wantPublic(1)
}

// Ten other calls of the key are under way: the send gets a page of the edge's, which
// sent nothing, and goes out later.
func TestMailchimpsEdgeOnlyPutsASendOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, at(t, string(network.Mailchimp)))
	c := newCourier(w, w.job(w.place.simple()))
	r, err := c.prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.fault(sim.Fault{Kind: sim.Stall, Step: sim.Find, Times: 10, Delay: time.Hour})
	done := make(chan int)
	for range 10 {
		go func() {
			status, _ := w.ask("GET", "/3.0/campaigns/"+r.Handles["campaign"], "", "Authorization", "Bearer "+token)
			done <- status
		}()
	}
	for len(w.steps(sim.Find)) < 10 {
		time.Sleep(time.Millisecond)
	}
	c.commit(t.Context(), r)
	c.wantState(t, ready)
	if c.last.Kind != fault.RateLimited {
		t.Errorf("it says %+v", c.last)
	}
	w.wantPublic(0)
	w.sim.ClearFaults()
	for range 10 {
		if status := <-done; status != http.StatusOK {
			t.Errorf("another call got %d", status)
		}
	}
	c.run(t.Context())
	c.wantState(t, published)
	w.wantPublic(1)
}

// A webhook of a forum takes a post that begins a thread alone, and says so.
func TestAForumOfDiscordNeedsATitle(t *testing.T) {
	t.Parallel()
	const hook = "webhook-token-of-the-forum"
	for title, want := range map[string]state{"": failed, "Bread": published} {
		w := newWorld(t, at(t, string(network.Discord)))
		w.sim.AddAccount(network.Discord, sim.Account{ID: accountID, Token: hook})
		w.sim.Turn(func(k *sim.Knobs) { k.Forum = true })
		job := w.job(network.FormatText)
		job.Account.Token, job.Account.Settings = secret.NewToken(accountID+"/"+hook), map[string]string{"guild_id": "9"}
		if title != "" {
			job.Post.Options[network.OptForum] = title
		}
		c := newCourier(w, job)
		c.run(t.Context())
		c.wantState(t, want)
		if want == failed {
			if c.last.Code != "220001" || !strings.Contains(c.last.Say, "title") {
				t.Errorf("it says %+v", c.last)
			}
			w.wantPublic(0)
			continue
		}
		w.wantPublic(1)
		if p := w.public()[0]; p.Title != title || !strings.HasSuffix(c.receipt.Permalink, "/9/"+p.ID+"/"+p.ID) {
			t.Errorf("the post %+v is at %s", p, c.receipt.Permalink)
		}
	}
}

// Somebody gave the draft a date ahead at the site: it is published for then, and
// not again.
func TestAWordPressDraftOfADateAheadIsPublishedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, at(t, string(network.WordPress)))
	c := newCourier(w, w.job(network.FormatText))
	r, err := c.prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	req, _ := http.NewRequest(http.MethodGet, "/", nil)
	req.SetBasicAuth(accountID, token)
	if status, body := w.ask("POST", "/wp-json/wp/v2/posts/"+r.Handles["post"], `{"date_gmt":"2026-05-06T12:00:00"}`, "Authorization", req.Header.Get("Authorization")); status != http.StatusOK {
		t.Fatal(body)
	}
	c.commit(t.Context(), r)
	c.run(t.Context())
	c.wantState(t, published)
	if !strings.Contains(c.found.Say, "date") {
		t.Errorf("found with %+v", c.found)
	}
	w.wantPublic(0)
	w.pass(48 * time.Hour)
	w.wantPublic(1)
}

// A service's own limits put posts off, and lose and double none.
func TestTheLimitsOfAServicePutPostsOff(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{string(network.Blotato): 32, string(network.Bundle): 12} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, at(t, name))
			w.sim.Turn(func(k *sim.Knobs) { k.CallLimit = -1 })
			limited := 0
			for i := range n {
				job := w.job(w.place.simple())
				job.Key, job.Post.Text = fmt.Sprint("k", i), fmt.Sprint(phrase, " ", i)
				c := newCourier(w, job)
				c.run(t.Context())
				c.wantState(t, published)
				if c.claims > 1 {
					limited++
				}
			}
			if limited == 0 {
				t.Error("no post met the limit")
			}
			w.wantPublic(n)
		})
	}
}
