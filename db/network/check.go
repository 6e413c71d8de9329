package network

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Check says everything that is wrong with a draft for this network, most
// general first, each with what to do about it. It is safe on any input. No
// problem that is not a warning means that the network is not known to refuse
// the post.
func (n *Network) Check(d Draft) []Problem {
	rule, ok := n.Rule(n.FormatOf(d))
	if !ok {
		return []Problem{{Field: "options." + OptFormat, Code: FormatUnknown,
			Say: n.Label + " does not take this kind of post: choose another."}}
	}
	c := checker{n: n, d: d, rule: rule}
	c.options()
	c.text()
	c.link()
	c.comment()
	c.media()
	return c.found
}

// checker gathers the problems of one draft.
type checker struct {
	n     *Network
	d     Draft
	rule  FormatRule
	found []Problem
}

func (c *checker) say(field, code, format string, args ...any) {
	c.found = append(c.found, Problem{Field: field, Code: code, Say: fmt.Sprintf(format, args...)})
}

func (c *checker) warn(field, code, format string, args ...any) {
	c.say(field, code, format, args...)
	c.found[len(c.found)-1].Warn = true
}

func (c *checker) text() {
	blank := Blank(c.n.Body(c.d))
	switch {
	case !c.readable("text", "The text", c.d.Text):
	case blank && len(c.d.Media) == 0 && c.rule.Min == 0 && (c.d.Link == "" || !c.rule.Link):
		c.say("text", PostEmpty, "There is nothing to post yet: write a text, or add a picture or a video.")
	case !blank && !c.rule.Text:
		c.warn("text", TextNotShown, "%s show no text: only the file is published.", c.n.posts(c.rule.Format))
	default:
		c.length()
		c.barred("text", "the text", c.n.Text, c.d.Text)
		c.tags("text", "the text", c.n.Text, c.d.Text)
		c.links(c.n.Text)
	}
}

// barred names the first character that the network refuses.
func (c *checker) barred(field, where string, r TextRule, text string) {
	if i := strings.IndexAny(text, r.Bars); i >= 0 {
		c.say(field, TextBarred, "%s takes no %s in %s: take it out, after %d characters.",
			c.n.Label, text[i:i+1], where, graphemes(text[:i]))
	}
}

func (c *checker) length() {
	has, limit := c.n.Length(c.d), c.n.LimitOf(c.d)
	if parts := len(c.n.Parts(c.d)); c.n.threaded(c.d) && parts > c.n.Thread {
		c.say("text", ThreadTooLong, "The thread has %d posts, %s takes %d: put some together.", parts, c.n.Label, c.n.Thread)
	}
	if limit == 0 || has <= limit {
		return
	}
	if c.n.threaded(c.d) {
		c.threadLength(limit)
		return
	}
	with := ""
	if has > c.n.Count(c.d.Text) {
		with = " with what is sent beside it"
	}
	c.say("text", TextTooLong, "The text has %s characters%s, %s takes %s: take out %s, or shorten it to fit.",
		number(has), with, c.n.Label, number(limit), number(has-limit))
}

// threadLength names each post of a thread that is too long.
func (c *checker) threadLength(limit int) {
	warning := graphemes(c.n.Value(c.d, OptSpoiler))
	for i, part := range c.n.Parts(c.d) {
		if has := c.n.Count(part) + warning; has > limit {
			c.say("text", TextTooLong, "Post %d of the thread has %s characters, %s takes %s: take out %s, or begin another post there.",
				i+1, number(has), c.n.Label, number(limit), number(has-limit))
			c.found[len(c.found)-1].Part = i + 1
		}
	}
}

func (c *checker) tags(field, where string, r TextRule, text string) {
	hashtags, mentions := tags(text)
	if r.Hashtags > 0 && hashtags > r.Hashtags {
		c.say(field, HashtagsTooMany, "%s takes %d hashtags, %s has %d: take out %d.",
			c.n.Label, r.Hashtags, where, hashtags, hashtags-r.Hashtags)
	}
	if r.Mentions > 0 && mentions > r.Mentions {
		c.say(field, MentionsTooMany, "%s takes %d mentions, %s has %d: take out %d.",
			c.n.Label, r.Mentions, where, mentions, mentions-r.Mentions)
	}
}

// links counts the different addresses of each post; that beside the text goes
// with the first.
func (c *checker) links(r TextRule) {
	if r.Links == 0 {
		return
	}
	for i, part := range c.n.Parts(c.d) {
		different := map[string]bool{}
		if c.d.Link != "" && i == 0 {
			different[c.d.Link] = true
		}
		for _, l := range Links(part) {
			different[part[l.Start:l.End]] = true
		}
		if n := len(different); n > r.Links {
			c.say("text", LinksTooMany, "%s takes %d different links in a post, this one has %d: take out %d.", c.n.Label, r.Links, n, n-r.Links)
		}
	}
}

// readable refuses what no network shows: broken encoding and control
// characters, which come from files and from other programs.
func (c *checker) readable(field, what, s string) bool {
	if !utf8.ValidString(s) {
		c.say(field, TextNotUTF8, "%s holds bytes that are not text: write that place again.", what)
		return false
	}
	if i := strings.IndexFunc(s, control); i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		c.say(field, TextControl, "%s holds an invisible control character (%U, after %d characters): delete it.",
			what, r, graphemes(s[:i]))
		return false
	}
	return true
}

func control(r rune) bool {
	switch r {
	case '\n', '\r', '\t':
		return false
	}
	return unicode.IsControl(r) || r&0xFFFE == 0xFFFE || 0xFDD0 <= r && r <= 0xFDEF
}

// tags counts hashtags and mentions the strict way: whatever might be one.
func tags(text string) (hashtags, mentions int) {
	var before rune
	for i, r := range text {
		next, _ := utf8.DecodeRuneInString(text[i+max(utf8.RuneLen(r), 1):])
		switch {
		case (r == '#' || r == '＃') && tagRune(next):
			hashtags++
		case r == '@' && !word(before) && next < utf8.RuneSelf && word(next):
			mentions++
		}
		before = r
	}
	return hashtags, mentions
}

func tagRune(r rune) bool { return word(r) || unicode.Is(unicode.So, r) && r != utf8.RuneError }

func (c *checker) link() {
	link := c.d.Link
	switch {
	case link == "":
	case c.n.Link == LinkNone:
		c.say("link", LinkNotTaken, "%s has no link posts: remove the link here, or put the address in the text, where nobody can click on it.", c.n.Label)
	case !c.rule.Link && !c.rule.Text:
		c.say("link", LinkNotTaken, "%s carry no link: remove it.", c.n.posts(c.rule.Format))
	case !c.rule.Link:
		c.say("link", LinkNotTaken, "%s shows either a link or media: remove one of them, or put the address in the text.", c.n.Label)
	case !validLink(link):
		c.say("link", LinkInvalid, "The link has to be a whole address that starts with https:// or http://: correct it.")
	}
}

func validLink(s string) bool {
	if len(s) > 2048 || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil
}

func (c *checker) comment() {
	text, r, blank := c.d.FirstComment, c.n.Comment, Blank(c.d.FirstComment)
	switch {
	case text == "":
	case !blank && (r.Max == 0 || !c.rule.Comment):
		c.say("first_comment", CommentNotTaken, "%s take no first comment: remove it.", c.n.posts(c.rule.Format))
	case !blank && c.silenced() != "":
		c.say("first_comment", CommentNotTaken, "%s takes no comments with %s: remove the first comment, or choose otherwise.", c.n.Label, c.silenced())
	case !c.readable("first_comment", "The first comment", text):
	case blank: // it is none
	default:
		if has := r.Count(text); has > r.Max {
			c.say("first_comment", CommentTooLong, "The first comment has %s characters, %s takes %s: take out %s.",
				number(has), c.n.Label, number(r.Max), number(has-r.Max))
		}
		c.tags("first_comment", "the first comment", r, text)
	}
}

func (c *checker) options() {
	keys := make([]string, 0, len(c.d.Options))
	for key := range c.d.Options {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if o, ok := c.n.Option(key); !ok {
			c.say("options."+key, OptionUnknown, "%s has no option %q: remove it.", c.n.Label, cropped(key))
		} else if value := c.d.Options[key]; value != "" {
			c.option(o, value)
		}
	}
	c.clashes()
	for _, o := range c.n.Options {
		if o.Required && c.d.Options[o.Key] == "" && o.Default == "" && c.n.Matters(o, c.d) {
			c.say("options."+o.Key, OptionMissing, "%s needs %q: %s.", c.n.Label, o.Label, o.ask())
		}
	}
}

// ask is what to do about an option that is missing.
func (o Option) ask() string {
	if o.Kind == Choose {
		return "choose " + o.labels()
	}
	return "fill it in"
}

// silenced names the choice that leaves no place for a first comment, or "".
func (c *checker) silenced() string {
	for _, o := range c.n.Options {
		if v := c.n.Value(c.d, o.Key); slices.Contains(o.Silences, v) {
			return fmt.Sprintf("%q set to %q", o.Label, o.label(v))
		}
	}
	return ""
}

// label is what people call a value.
func (o Option) label(value string) string {
	for _, ch := range o.Choices {
		if ch.Value == value {
			return ch.Label
		}
	}
	return map[string]string{"true": "on", "false": "off"}[value]
}

// clashes names the choices that do not go together.
func (c *checker) clashes() {
	for _, clash := range c.n.Clashes {
		if slices.Contains(clash.Values, c.n.Value(c.d, clash.Key)) && slices.Contains(clash.And, c.n.Value(c.d, clash.With)) {
			c.say("options."+clash.Key, OptionClash, "%s", clash.Say)
		}
	}
}

// Matters says whether an option has a say in what the draft would be here: by
// its format, and by what was chosen otherwise.
func (n *Network) Matters(o Option, d Draft) bool {
	for key, values := range o.When {
		if !slices.Contains(values, n.Value(d, key)) {
			return false
		}
	}
	return len(o.Formats) == 0 || slices.Contains(o.Formats, n.FormatOf(d))
}

// Steers says whether other options matter or do not by what is chosen here.
func (n *Network) Steers(o Option) bool {
	return o.Key == OptFormat || slices.ContainsFunc(n.Options, func(other Option) bool { return other.When[o.Key] != nil })
}

func (c *checker) option(o Option, value string) {
	field := "options." + o.Key
	switch {
	case o.Kind == Choose && !slices.ContainsFunc(o.Choices, func(ch Choice) bool { return ch.Value == value }):
		c.say(field, OptionInvalid, "%q is not a choice for %q: choose %s.", cropped(value), o.Label, o.labels())
	case o.Fixed && value != o.Default:
		c.say(field, OptionInvalid, "This account does not allow %q: leave it off.", o.Label)
	case o.Kind == Many:
		c.many(o, value)
	case o.Kind == Moment:
		c.moment(o, value)
	case o.Kind == Switch && value != "true" && value != "false":
		c.say(field, OptionInvalid, "%q is either on or off: choose one.", o.Label)
	case o.Kind != Write || !c.readable(field, fmt.Sprintf("%q", o.Label), value):
	case o.Max > 0 && o.length(value) > o.Max:
		c.say(field, OptionTooLong, "%q has %s characters, %s takes %s: shorten it.",
			o.Label, number(o.length(value)), c.n.Label, number(o.Max))
	case o.Pattern != nil && !o.Pattern.MatchString(value):
		c.say(field, OptionInvalid, "%q has to be %s: correct it.", o.Label, o.Hint)
	}
}

// many refuses what is not there to choose; while nobody knows what is, the network
// decides.
func (c *checker) many(o Option, value string) {
	if !c.readable("options."+o.Key, fmt.Sprintf("%q", o.Label), value) {
		return
	}
	if o.Max > 0 && o.length(value) > o.Max {
		c.say("options."+o.Key, OptionTooLong, "%q has %s characters, %s takes %s: shorten it.", o.Label, number(o.length(value)), c.n.Label, number(o.Max))
		return
	}
	for _, name := range Tags(value) {
		if len(o.Choices) > 0 && !slices.ContainsFunc(o.Choices, func(ch Choice) bool { return ch.Value == name }) {
			c.say("options."+o.Key, OptionInvalid, "%q is not among %q of this account: choose others.", cropped(name), o.Label)
			return
		}
	}
}

// moment refuses a day or a time that there is not, and one before that it follows.
func (c *checker) moment(o Option, value string) {
	at, whole, ok := readMoment(value)
	if !ok {
		c.say("options."+o.Key, OptionInvalid, "%q has to be a day, with or without a time: correct it.", o.Label)
		return
	}
	first, firstWhole, has := readMoment(c.d.Options[o.After])
	if has && (at.Before(first) || at.Equal(first) && !whole && !firstWhole) {
		before, _ := c.n.Option(o.After)
		c.say("options."+o.Key, OptionInvalid, "%q has to come after %q: correct one of them.", o.Label, before.Label)
	}
}

// readMoment reads a Moment's value; whole says that it is a day without a time.
func readMoment(value string) (at time.Time, whole, ok bool) {
	if at, err := time.Parse(time.DateOnly, value); err == nil {
		return at, true, true
	}
	at, err := time.Parse("2006-01-02 15:04", value)
	return at, false, err == nil
}

// length measures a value as the network does.
func (o Option) length(value string) int {
	switch {
	case o.Length != nil:
		return o.Length(value)
	case o.Unit != "":
		return TextRule{Unit: o.Unit}.Count(value)
	}
	return graphemes(value)
}

func (o Option) labels() string {
	var labels []string
	for _, ch := range o.Choices {
		labels = append(labels, strconv.Quote(ch.Label))
	}
	return either(labels)
}

// cropped keeps a stranger's value short enough to quote.
func cropped(s string) string {
	s, _ = TextRule{Unit: CodePoints, Ellipsis: "…"}.shorten(strings.ToValidUTF8(s, "?"), 40)
	return s
}
