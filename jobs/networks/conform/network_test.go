package conform

import (
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/sim"
)

// special is a world of a network whose simulator answers as the knobs say.
func special(t *testing.T, name network.Name, turn func(*sim.Knobs)) *world {
	t.Helper()
	w := newWorld(t, at(t, string(name)))
	w.sim.Turn(turn)
	return w
}

// brought runs one post of a format to its end, which is that it is published.
func (w *world) brought(post networks.Post) *courier {
	w.t.Helper()
	c := newCourier(w, w.jobOf(post))
	c.run(w.t.Context())
	c.wantState(w.t, published)
	return c
}

// A day's count that is used up waits for its own end, not for the next quarter of
// an hour; the app's stops everybody.
func TestXsDayIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]func(*sim.Knobs){
		"account": func(k *sim.Knobs) { k.UserDaily = 1 },
		"app":     func(k *sim.Knobs) { k.AppDaily = 1 },
	} {
		w := special(t, network.X, turn)
		post := w.place.post(w, network.FormatText)
		w.brought(post)
		w.pass(time.Hour)
		c := w.brought(post)
		if f := c.last; f == nil || f.Kind != fault.RateLimited || f.Wait != 23*time.Hour || f.Everyone != (name == "app") || c.claims != 2 {
			t.Errorf("%s: %d claims, %+v", name, c.claims, f)
		}
		w.wantPublic(2)
	}
}

// film is a post of a video that goes up in several pieces.
func (w *world) film(size int) networks.Post {
	post := w.place.post(w, network.FormatVideo)
	s := sample("video/mp4")
	s.data = append(s.data, make([]byte, size)...)
	s.Bytes = int64(len(s.data))
	post.Media[0] = w.place.describe(w.file(s), network.FormatRule{})
	return post
}

// An upload goes on behind what YouTube has stored, the last piece too.
func TestAYouTubeUploadGoesOnBehindWhatIsStored(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 600 << 10, 9 << 20} {
		for partial := 1; partial <= 4; partial++ {
			w := special(t, network.YouTube, func(k *sim.Knobs) { k.Partial = partial })
			post := w.film(size)
			c := w.brought(post)
			w.wantPublic(1)
			if size > 1<<20 && c.claims != 1 { // what is missing goes up in the same run
				t.Errorf("%d claims, %v", c.claims, c.last)
			}
			if p := w.public(); len(p) == 1 && p[0].Media[0].Bytes != post.Media[0].Bytes {
				t.Errorf("the video has %d bytes of %d", p[0].Media[0].Bytes, post.Media[0].Bytes)
			}
		}
	}
}

func TestAYouTubeChannelsUploadLimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := special(t, network.YouTube, func(k *sim.Knobs) { k.Uploads = 1 })
	w.sim.AddStranger(network.YouTube, accountID, "from the studio")
	c := w.brought(w.place.post(w, network.FormatVideo))
	if f := c.last; f == nil || f.Kind != fault.RateLimited || f.Code != "uploadLimitExceeded" || f.Everyone || c.claims != 2 {
		t.Errorf("%d claims, %+v", c.claims, f)
	}
	w.wantPublic(1)
}

// A file that the channel has is turned down after it was taken: that is said, and
// nothing is uploaded again.
func TestAYouTubeVideoThatIsTurnedDownAfterwardsIsSaid(t *testing.T) {
	t.Parallel()
	w := special(t, network.YouTube, func(k *sim.Knobs) { k.Duplicates = true })
	post := w.place.post(w, network.FormatVideo)
	w.brought(post)
	c := w.brought(post)
	if f := fault.Of(c.follow(t.Context(), 1)); f == nil || f.Kind != fault.Transient || f.Code != "processing" {
		t.Errorf("while YouTube works: %v", f)
	}
	if f := fault.Of(c.follow(t.Context(), 1)); f == nil || f.Kind != fault.Validation || !strings.Contains(f.Say, "uploaded before") {
		t.Errorf("afterwards: %v", f)
	}
	if n := len(w.steps(sim.Commit)); n != 2 || c.claims != 1 {
		t.Errorf("%d last pieces in %d claims", n, c.claims)
	}
	w.wantPublic(1)
}

// A publish that TikTok does not know yet is no reason for another one: not after a
// commit whose answer says nothing of it, either.
func TestATikTokPublishThatIsNotKnownYetIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, f := range map[string]*sim.Fault{
		"accepted":              nil,
		"the answer is lost":    {Step: sim.Commit, Kind: sim.StoreThenClose, Times: 1},
		"sent twice on its way": {Step: sim.Commit, Kind: sim.StoreThenFail, Status: 416, Body: "-", Times: 1},
	} {
		w := special(t, network.TikTok, func(k *sim.Knobs) { k.Spread = 30 * time.Second })
		if f != nil {
			w.fault(*f)
		}
		w.brought(w.place.post(w, network.FormatVideo))
		w.wantPublic(1)
	}
}

// What only its creator sees is found after a lost answer, and not pinned again.
func TestAPinOfATrialAppIsFound(t *testing.T) {
	t.Parallel()
	w := special(t, network.Pinterest, func(k *sim.Knobs) { k.Unaudited = true })
	w.fault(sim.Fault{Step: sim.Commit, Kind: sim.StoreThenClose, Times: 1})
	c := w.brought(w.place.post(w, network.FormatImage))
	if n := len(w.steps(sim.Commit)); n != 1 || c.claims != 1 {
		t.Errorf("pinned %d times in %d claims", n, c.claims)
	}
	w.wantPublic(0)
}

// A group that became a supergroup gets its post once, and its account is still
// good.
func TestATelegramGroupThatMovedIsPostedTo(t *testing.T) {
	t.Parallel()
	w := special(t, network.Telegram, func(*sim.Knobs) {})
	w.sim.AddAccount(network.Telegram, sim.Account{ID: "-100777", Token: token, Handle: "bakers", Former: accountID})
	if p, err := w.adapter.(networks.Checker).Check(t.Context(), w.place.account()); err != nil || p.RemoteID != accountID || p.Handle != "@bakers" {
		t.Errorf("the account is %+v, %v", p, err)
	}
	for _, f := range telegramAll {
		c := w.brought(w.place.post(w, f))
		if c.claims != 2 || !strings.HasPrefix(c.receipt.Permalink, "https://t.me/") {
			t.Errorf("%s: %d claims, %+v", f, c.claims, c.receipt)
		}
	}
	if got := w.sim.Posts(network.Telegram, "-100777"); len(got) != len(telegramAll) {
		t.Errorf("the group has %d posts, want %d", len(got), len(telegramAll))
	}
}
