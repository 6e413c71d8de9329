package facebook

import (
	"testing"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/nettest"
)

func TestAPostThatIsNotVisibleYetIsAskedForAgain(t *testing.T) {
	t.Parallel()
	p, lag := newPage(), true
	id := p.post("Look")
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		if c.Method == "GET" && !lag {
			return reply("id", id, "permalink_url", "https://www.facebook.com/x")
		}
		if c.Method == "POST" {
			return reply("id", "c1")
		}
		return p.answer(c)
	})
	job, kept := jobOf(posts()["image"]), h.Handles()
	job.Post.FirstComment = "First"
	r, err := adapter(h).Follow(t.Context(), job, networks.Receipt{ExternalID: id}, kept)
	if f := fault.Of(err); f == nil || f.Kind != fault.Transient || r.ExternalID != id {
		t.Fatalf("got %+v, %v", r, err)
	}
	lag = false
	r, err = adapter(h).Follow(t.Context(), job, r, kept)
	if err != nil || r.Permalink != "https://www.facebook.com/x" || h.Count("POST "+id+"/comments") != 1 {
		t.Errorf("got %+v, %v after\n%s", r, err, h.Log())
	}
}

func TestAnAddressThatFacebookWillNotTellIsMade(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer { return refuse(10, 0) })
	for name, want := range map[string]string{"text": "https://www.facebook.com/1001_1", "reel": "https://www.facebook.com/reel/1001_1"} {
		r, err := adapter(h).Follow(t.Context(), jobOf(posts()[name]), networks.Receipt{ExternalID: "1001_1"}, h.Handles())
		if err != nil || r.Permalink != want {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
}

func TestAVideosAddressIsMadeWhole(t *testing.T) {
	t.Parallel()
	p := newPage()
	p.videos["8001"] = "published"
	h := host(t, p)
	r, err := adapter(h).Follow(t.Context(), jobOf(posts()["video"]), networks.Receipt{ExternalID: "8001"}, h.Handles())
	if err != nil || r.Permalink != "https://www.facebook.com/1001/videos/8001/" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestAStorysAddressIsReadFromTheList(t *testing.T) {
	t.Parallel()
	r, h := publish(t, posts()["photo story"])
	r, err := adapter(h).Follow(t.Context(), jobOf(posts()["photo story"]), r, h.Handles())
	if err != nil || r.Permalink != "https://www.facebook.com/stories/"+r.ExternalID {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestCheckSaysWhatFacebookSaysAndNoMore(t *testing.T) {
	t.Parallel()
	scopes := nettest.Answer{Body: `{"data":[{"permission":"pages_manage_posts","status":"granted"},{"permission":"email","status":"declined"}]}`}
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		if c.Name() == "GET me/permissions" {
			return scopes
		}
		return nettest.Answer{Body: `{"id":"1001","name":"Bakery","username":"bakery"}`}
	})
	p, err := adapter(h).Check(t.Context(), jobOf(posts()["text"]).Account)
	if err != nil || p.RemoteID != "1001" || p.Name != "Bakery" || p.Handle != "bakery" || len(p.Scopes) != 1 || p.Settings != nil {
		t.Errorf("got %+v, %v", p, err)
	}
	scopes = refuse(190, 0) // a Page's token may not ask
	if p, err = adapter(h).Check(t.Context(), jobOf(posts()["text"]).Account); err != nil || p.Scopes != nil {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestCheckReportsADeadToken(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer { return refuse(190, 460) })
	if _, err := adapter(h).Check(t.Context(), jobOf(posts()["text"]).Account); fault.Of(err).Kind != fault.Auth {
		t.Errorf("got %v", err)
	}
}
