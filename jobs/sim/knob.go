package sim

import (
	"cmp"
	"time"
)

// Knobs settle what the networks leave open or do differently from day to day.
// A zero field takes the default that its comment names.
type Knobs struct {
	ImagePolls int // how often an image container answers "in progress"; 0
	VideoPolls int // the same for videos, on every network; 2, and -1 for never

	QuotaTotal int  // Instagram posts per 24 h; 100
	Containers int  // Instagram containers per 24 h; 400
	Hashtags   int  // Instagram hashtags per caption; 30
	Republish  bool // Instagram: publishing a container again answers the same id instead of an error
	NoCode     bool // Instagram: a failed container has an empty status_code, only its text speaks

	ReadLag    time.Duration // Facebook and Instagram: how long a new post cannot be read by id; 0
	Duplicates bool          // Facebook: refuse a post that equals the account's last one (506); X: one of the last day's; YouTube: turn down a file that the channel has
	Spread     time.Duration // Threads: how long a container that is finished cannot be published yet; TikTok: how long a new publish is not known by its id; 0
	Summoned   bool          // X: answers are refused unless the author named the caller, to one's own posts too
	Unaudited  bool          // the app has not been audited. YouTube: every video is private whatever was asked; Pinterest: pins are for their creator only
	Forum      bool          // Discord: every webhook is a forum's, which takes no message without a title or a thread
	Made422    bool          // GoHighLevel: what is made is answered with 422 all the same

	UserDaily int // X: posts of an account in 24 h; 10,000
	AppDaily  int // X: posts of an app in 24 h; 10,000
	Uploads   int // YouTube: videos of a channel in 24 h; 0 for no limit
	Partial   int // YouTube: how many pieces of an upload are stored in part only; 0

	Keys string // Mastodon's Idempotency-Key: "honour", "ignore", or "race" (kept only after the post is); honour

	Refresh   string // refresh tokens: "none", "rotate", "omit" or "unavailable"; none
	CallLimit int    // calls per account and window before 429 or its like; 0 for none, -1 for Blotato's and Bundle.social's own
}

// filled returns the knobs with the defaults put in.
func (k Knobs) filled() Knobs {
	k.VideoPolls = cmp.Or(k.VideoPolls, 2)
	k.QuotaTotal = cmp.Or(k.QuotaTotal, 100)
	k.Containers = cmp.Or(k.Containers, 400)
	k.Hashtags = cmp.Or(k.Hashtags, 30)
	k.UserDaily = cmp.Or(k.UserDaily, 10_000)
	k.AppDaily = cmp.Or(k.AppDaily, 10_000)
	k.Keys = cmp.Or(k.Keys, "honour")
	k.Refresh = cmp.Or(k.Refresh, "none")
	return k
}

// wrong returns a sentence about a knob that no network understands, or "".
func (k Knobs) wrong() string {
	switch k.Keys {
	case "honour", "ignore", "race":
	default:
		return "keys is honour, ignore or race."
	}
	switch k.Refresh {
	case "none", "rotate", "omit", "unavailable":
	default:
		return "refresh is none, rotate, omit or unavailable."
	}
	return ""
}
