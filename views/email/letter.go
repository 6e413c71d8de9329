package email

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"

	"herald/db/model"
	"herald/db/network"
)

// Letter is one mail: the subject, and what both parts say from top to bottom.
type Letter struct {
	Subject string
	Agency  string // whose mail it is
	Logo    string // the content id of its picture; empty if the mail carries none
	Accent  model.Accent
	Title   string
	Hello   string
	Say     []string
	Posts   []Post
	More    int // posts that are not shown
	Label   string
	URL     string // where the one button leads
	After   []string
	Why     string // why the reader gets this
	Stop    string // where reminders are ended; empty for a mail that is none
}

// Post is one post as a mail shows it.
type Post struct {
	Client  string
	Where   string // "Instagram, Mastodon"
	When    string
	Stage   string
	Excerpt string
	Verdict string
	Hue     string // of the verdict: good, ask or bad
	Words   string // what the decider wrote
	Note    string // what became of it there, or how long it waits
	Picture string // the content id of its first file's thumbnail; empty if the mail carries none
	Alt     string // what the picture shows, as the post says it
}

// Show puts a picture that the mail carries to its n-th post.
func (l Letter) Show(n int, cid, alt string) {
	l.Posts[n].Picture, l.Posts[n].Alt = cid, Line(alt, 280)
}

// Shown is how many posts one mail shows.
const Shown = shown

// shown is how many posts one mail shows.
const shown = 20

// Line makes one line of what people wrote, of at most n characters as readers
// count them. Nothing in it can break a header or turn the direction of text.
func Line(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
			return ' '
		case r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\ufeff':
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	line := strings.Join(strings.Fields(s), " ")
	// What is cut inside a character can join it with the next: then once more.
	for short := cut(line, n); short != line; short = cut(line, n) {
		line = short
	}
	return line
}

// cut keeps whole characters, and no more than 8 runes of any one.
func cut(s string, n int) string {
	var b strings.Builder
	for state, rest, seen := -1, s, 0; rest != ""; seen++ {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if seen == n-1 && rest != "" {
			return strings.TrimRight(b.String(), " ") + "…"
		}
		if runes := []rune(cluster); len(runes) > 8 {
			cluster = string(runes[:8])
		}
		b.WriteString(cluster)
	}
	return b.String()
}

// hello greets by the whole name: nobody can tell which part is the first.
func hello(name string) string {
	if name = Line(name, 60); name == "" {
		return "Hello,"
	}
	return "Hello " + name + ","
}

// posts counts in words: "a post", "3 posts".
func posts(n int) string {
	if n == 1 {
		return "a post"
	}
	return fmt.Sprintf("%d posts", n)
}

// forClient adds whom it is about, if that is one.
func forClient(words, client string) string {
	if client = Line(client, 60); client == "" {
		return words
	}
	return words + " for " + client
}

// When is an instant as a zone's people read it.
func When(at time.Time, zone string) string {
	location, err := model.LoadZone(zone)
	if err != nil {
		location, zone = time.UTC, "UTC"
	}
	city := strings.ReplaceAll(zone[strings.LastIndex(zone, "/")+1:], "_", " ")
	return at.In(location).Format("Mon 2 Jan 2006, 15:04") + model.TwiceWords(at, zone) + " (" + city + ")"
}

func whenever(at *time.Time, zone string) string {
	if at == nil {
		return ""
	}
	return When(*at, zone)
}

func labels(names []string) string {
	var list []string
	for _, n := range names {
		list = append(list, Line(network.Label(network.Name(n)), 40))
	}
	return strings.Join(list, ", ")
}

// place is an account as a sentence names it: "Instagram @north.coffee".
func place(net, account string) string {
	return strings.TrimSpace(labels([]string{net}) + " " + Line(account, 60))
}

// sentence makes a whole one of what an adapter or a person said.
func sentence(s string) string {
	s = Line(s, 400)
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

func quoted(excerpt string, n int) string {
	if excerpt = Line(excerpt, n); excerpt == "" {
		return "(a post without text)"
	}
	return "“" + excerpt + "”"
}
