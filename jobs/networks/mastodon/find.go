package mastodon

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

const (
	pageSize   = 40  // the most that a server gives at once
	maxPages   = 25  // 1000 posts
	maxSources = 100 // texts read in one look, of 300 calls in five minutes
	slack      = 2 * time.Minute
)

// Find looks through the account's own posts, newest first, over the window.
//
// A post that holds a file of ours is ours. Where we sent no files, a post is
// ours if the text and the content warning, as the server keeps them, are the
// same. Two that fit: can't tell, and so is the same text with as many files
// under other ids, since look-alikes may rename them. The server lists its own
// posts at once, so absent, which means that the whole window was read, is a
// strong proof unless a moderator removed the post.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	if id := h.Get(live); id != "" && !slices.Contains(w.Taken, id) {
		s, err := a.show(ctx, job, httpx.Find, id)
		if err == nil {
			return found(job, s, "The server has the post that Herald came upon before."), nil
		}
		if !missing(err) {
			return networks.Finding{}, err
		}
	}
	s := search{a: a, job: job, step: httpx.Find, mine: mediaIDs(job, h), want: draftOf(job), window: w}
	if err := s.run(ctx); err != nil {
		return networks.Finding{}, err
	}
	f := s.finding()
	if f.Verdict == networks.Absent {
		return f, networks.Keep(ctx, h, absentAt, stamp(a.now()))
	}
	return f, nil
}

// show reads one post.
func (a *Adapter) show(ctx context.Context, job networks.Job, step httpx.Step, id string) (s status, err error) {
	_, err = a.do(ctx, call{job: job, step: step, method: http.MethodGet, path: "/api/v1/statuses/" + url.PathEscape(id)}, &s)
	return s, err
}

func missing(err error) bool {
	f := fault.Of(err)
	return f != nil && (f.Status == http.StatusNotFound || f.Status == http.StatusGone)
}

// search is one look through the account's posts.
type search struct {
	a       *Adapter
	job     networks.Job
	step    httpx.Step
	mine    []string // ids of our uploaded files
	want    draft
	replyTo string // the post that it answers; empty for a post of its own
	window  networks.Window

	found    []status // fits
	twins    int      // the same text and number of files, but the files are not ours
	doubtful int      // fits as far as can be seen, but the text could not be read
	complete bool     // the whole window was read
	sources  int      // texts read
}

// run reads the list until it passes the window's beginning.
func (s *search) run(ctx context.Context) error {
	id, err := s.account(ctx)
	if err != nil {
		return err
	}
	var last string
	for range maxPages {
		page, err := s.page(ctx, id, last)
		if err != nil {
			return err
		}
		past, err := s.see(ctx, page)
		if err != nil {
			return err
		}
		if past || len(page) == 0 {
			s.complete = s.sources <= maxSources
			return nil
		}
		last = page[len(page)-1].ID
	}
	return nil
}

// account is the server's id of the account.
func (s *search) account(ctx context.Context) (string, error) {
	if id := s.job.Account.RemoteID; id != "" {
		return id, nil
	}
	me, err := s.a.me(ctx, s.job, s.step)
	return me.ID, err
}

// page reads one page of the list. The next one is asked for by the last id,
// not by the Link header, whose address the server chooses.
func (s *search) page(ctx context.Context, account, last string) (page []status, err error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}, "exclude_reblogs": {"true"}}
	if last != "" {
		query.Set("max_id", last)
	}
	answer, err := s.a.do(ctx, call{job: s.job, step: s.step, method: http.MethodGet,
		path: "/api/v1/accounts/" + url.PathEscape(account) + "/statuses", query: query}, &page)
	if err == nil && page == nil { // null is no list
		err = httpx.Unparsable(s.step, answer)
	}
	return page, err
}

// see takes one page and says whether it reached past the window's beginning.
func (s *search) see(ctx context.Context, page []status) (past bool, err error) {
	for _, p := range page {
		if p.CreatedAt.Before(s.window.Since) {
			return true, nil
		}
		if p.CreatedAt.After(s.window.Until) || !s.possible(p) {
			continue
		}
		if err := s.compare(ctx, p); err != nil {
			return false, err
		}
	}
	return false, nil
}

// possible tells whether a listed post may be the one, by all but its text.
func (s *search) possible(p status) bool {
	switch {
	case p.ID == "", p.Reblog != nil, p.ReplyTo != s.replyTo, slices.Contains(s.window.Taken, p.ID):
		return false
	case s.holdsMine(p):
		return true
	}
	return len(p.Media) == s.want.media && s.visible(p)
}

func (s *search) holdsMine(p status) bool {
	for _, m := range p.Media {
		if slices.Contains(s.mine, m.ID) {
			return true
		}
	}
	return false
}

// visible allows for servers that keep the posts of limited accounts out of
// their timelines.
func (s *search) visible(p status) bool {
	return p.Visibility == "" || p.Visibility == s.want.visibility ||
		s.want.visibility == "public" && p.Visibility == "unlisted"
}

// compare takes p if it holds a file of ours or its text is ours.
func (s *search) compare(ctx context.Context, p status) error {
	if s.holdsMine(p) {
		s.found = append(s.found, p)
		return nil
	}
	if p.Content != nil && !s.want.resembles(*p.Content) {
		return nil
	}
	if s.sources++; s.sources > maxSources {
		return nil
	}
	var text source
	_, err := s.a.do(ctx, call{job: s.job, step: s.step, method: http.MethodGet,
		path: "/api/v1/statuses/" + url.PathEscape(p.ID) + "/source"}, &text)
	switch {
	case missing(err) || err == nil && text.Text == nil:
		s.doubtful++
	case err != nil:
		return err
	case !s.want.same(*text.Text, text.Spoiler):
	case s.want.media > 0:
		s.twins++
	default:
		s.found = append(s.found, p)
	}
	return nil
}

// resembles tells whether shown, a post's HTML, could come from our text, so that
// only such a post costs a call. Servers rewrite links, mentions, tags and marks;
// a word of letters and digits alone they leave.
func (d draft) resembles(shown string) bool {
	shown = network.Fingerprint(html.UnescapeString(tag.ReplaceAllString(shown, "")))
	for word := range strings.FieldsSeq(network.Fingerprint(d.text)) {
		word = strings.Trim(word, ".,;!?")
		if !strings.ContainsFunc(word, notPlain) && !strings.Contains(shown, word) {
			return false
		}
	}
	return true
}

var tag = regexp.MustCompile(`<[^>]*>`)

func notPlain(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// same compares with what the server kept. A server makes a content warning
// without a text the text.
func (d draft) same(text, spoiler string) bool {
	wantText, wantSpoiler := network.Fingerprint(d.text), network.Fingerprint(d.spoiler)
	text, spoiler = network.Fingerprint(text), network.Fingerprint(spoiler)
	if wantText == "" && spoiler == "" {
		return text == wantSpoiler
	}
	return text == wantText && spoiler == wantSpoiler
}

func (s *search) finding() networks.Finding {
	switch n := len(s.found); {
	case n == 1 && s.holdsMine(s.found[0]):
		return found(s.job, s.found[0], "The account has a post with the files that were uploaded for it.")
	case n == 1:
		return found(s.job, s.found[0], "The account has a post of that time with exactly this text.")
	case n > 1:
		return cantTell(fmt.Sprintf("The account has %d posts of that time with exactly this content, and nothing tells them apart.", n))
	case s.twins > 0:
		return cantTell("The account has a post of that time with this text and as many files, but not those that were uploaded for it.")
	case s.doubtful > 0:
		return cantTell("The account has a post of that time whose text the server does not show.")
	case !s.complete:
		return cantTell("The account has more posts of that time than could be read.")
	}
	return networks.Finding{Verdict: networks.Absent, Say: "The account's posts of that time were all read, and none is this one."}
}

func found(job networks.Job, s status, say string) networks.Finding {
	return networks.FoundIt(networks.Receipt{ExternalID: s.ID, Permalink: s.address(), More: len(parts(job)) > 1}, say)
}

func cantTell(say string) networks.Finding {
	return networks.Finding{Verdict: networks.CantTell, Say: say}
}
