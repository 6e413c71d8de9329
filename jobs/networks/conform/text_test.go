package conform

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/sim"
)

// scripts are texts that lose something on a careless way.
var scripts = map[string]string{
	"joined emoji":      "Family 👨\u200d👩\u200d👧\u200d👦, pride 🏳️\u200d🌈, health worker 👩🏽\u200d⚕️, England 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f, one 1️⃣",
	"combining marks":   "Cafe\u0301 a\u0308 o\u0302\u0323, and Z\u0351\u036b\u0343a\u030algo\u0332",
	"composed":          "Café Ångström ﬁne ½ İı",
	"CJK":               "新鮮なパンを毎朝七時に焼いています。갓 구운 빵, 新鲜出炉的面包，𠮷野家",
	"right to left":     "خبز طازج كل صباح \u200f(7:00)\u200f و שלום עולם \u202bעברית\u202c",
	"astral":            "𝓕𝓻𝓮𝓼𝓱 𝔹𝕣𝕖𝕒𝕕 𐍈 🥐 😀",
	"joiners and spans": "می\u200cخواهم क्\u200dष soft\u00adhyphen zero\u200bwidth nbsp\u00a0here",
	"markup":            `<b>Bread</b> & "rolls" &amp; 'cake' \n C:\bread %20 100% a+b=c;d&e {"x":[1]} $HOME #bread`,
	"lines":             "One\n\nTwo\n  three\tfour\u2028five",
}

func TestTextsArriveAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	everywhere(t,
		check{"unicode: text, published and found again", nil, func(t *testing.T, p place) {
			for name, text := range scripts {
				t.Run(name, func(t *testing.T) { roundTrip(t, p, text) })
			}
		}},
		check{"unicode: alt text and first comment", nil, func(t *testing.T, p place) {
			for name, text := range scripts {
				t.Run(name, func(t *testing.T) { besides(t, p, text) })
			}
		}},
	)
}

// roundTrip publishes a text in each format that shows one, once with an answer
// and once without: then the look-up has to know it again.
func roundTrip(t *testing.T, p place, text string) {
	for _, rule := range p.Formats {
		if !rule.Text {
			continue
		}
		w := newWorld(t, p)
		post := p.post(w, rule.Format)
		text := p.without(text)
		post.Text = text
		if no := p.blocked(post); no != "" {
			t.Fatalf("the catalogue refuses it: %s", no)
		}
		c := newCourier(w, w.jobOf(post))
		c.run(t.Context())
		c.wantState(t, published)
		w.wantText(t, text)
		if p.LookUp == network.NoLook || slices.Contains(p.unproved, rule.Format) {
			continue
		}
		w = newWorld(t, p)
		post = p.post(w, rule.Format)
		post.Text = text
		c = uncertain(t, w, w.jobOf(post))
		c.run(t.Context())
		c.wantState(t, published)
		if c.found.Verdict != networks.Found || len(w.steps(sim.Commit)) != 1 {
			t.Errorf("%s: not known again: %+v", rule.Format, c.found)
		}
	}
}

// without is a text without the characters that the network takes in none.
func (p place) without(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(p.Text.Bars, r) {
			return -1
		}
		return r
	}, text)
}

func (w *world) wantText(t *testing.T, text string) {
	t.Helper()
	if posts := w.public(); len(posts) != 1 || posts[0].Text != text {
		t.Errorf("got %+v, want one post that reads %q", posts, text)
	}
}

// besides sends a text where it stands beside the post.
func besides(t *testing.T, p place, text string) {
	w := newWorld(t, p)
	format := cmp.Or(p.withAlt(), p.commented(), p.simple())
	post := p.post(w, format)
	described := p.withAlt() != ""
	if described {
		post.Media[0].Alt = text
	}
	if rule, _ := p.Rule(format); rule.Comment && p.takesNoComment() == "" {
		post.FirstComment = text
	}
	if no := p.blocked(post); no != "" {
		t.Fatalf("the catalogue refuses it: %s", no)
	}
	c := newCourier(w, w.jobOf(post))
	c.run(t.Context())
	if err := c.follow(t.Context(), 3); err != nil {
		t.Error(err)
	}
	posts := w.public()
	if len(posts) != 1 || described && (len(posts[0].Media) == 0 || posts[0].Media[0].Alt != text) {
		t.Fatalf("got %+v, want one post with the alt text %q", posts, text)
	}
	if post.FirstComment != "" && (len(posts[0].Replies) != 1 || posts[0].Replies[0].Text != text) {
		t.Errorf("got comments %+v", posts[0].Replies)
	}
}

// withAlt is the first format whose files carry alt text.
func (p place) withAlt() network.Format {
	for _, f := range p.Formats {
		if f.Alt && f.Min > 0 {
			return f.Format
		}
	}
	return ""
}
