package bench

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db"
)

// Pages are what the agency's screens weigh and take with 10,000 targets in the
// workspace, from the request to the last byte, without the network between.
type Pages struct {
	Targets int
	Each    []Page
}

// Page is one screen.
type Page struct {
	What       string
	Bytes      int           // of HTML
	Gzip       int           // of the same
	Takes      time.Duration // the median
	Statements int64         // each time
	FirstLoad  int           // of script and style, gzipped
}

// The limits: of the month page, and of what any page brings along at first.
const (
	monthBytes = 120 << 10
	monthTime  = 60 * time.Millisecond
	firstLoad  = 100 << 10
)

// fails says which limits a page breaks.
func (p Page) fails() (list []string) {
	if p.What == "month" && p.Bytes > monthBytes {
		list = append(list, fmt.Sprintf("more than %d KB of HTML", monthBytes>>10))
	}
	if p.What == "month" && p.Takes > monthTime {
		list = append(list, fmt.Sprintf("more than %s", monthTime))
	}
	if p.FirstLoad > firstLoad {
		list = append(list, fmt.Sprintf("more than %d KB of script and style", firstLoad>>10))
	}
	return list
}

// RunPages measures the screens alone. It is an error if one breaks a limit.
func RunPages(ctx context.Context, asJSON bool, out io.Writer) error {
	return inWorld(ctx, func(w *world) error {
		cookie, err := w.member(ctx)
		if err != nil {
			return err
		}
		p, err := w.pages(ctx, cookie)
		if err != nil {
			return err
		}
		if err := write(out, asJSON, p); err != nil {
			return err
		}
		for _, one := range p.Each {
			if len(one.fails()) > 0 {
				return errors.New("a page is over its limits")
			}
		}
		return nil
	})
}

const pageTargets = 10_000

// screens are the addresses within the workspace.
var screens = []struct{ what, at string }{
	{"month", "/calendar"}, {"week", "/calendar?view=week"}, {"day", "/calendar?view=day"}, {"list", "/calendar?view=list"}, {"tray", "/calendar?tray=open"}, {"posts", "/posts"},
	{"new post", "/posts/new"}, {"a post", "/posts/9000"}, {"evidence", "/targets/100"}, {"approvals", "/approvals"}, {"media", "/media"}, {"accounts", "/accounts"}, {"an account", "/accounts/1"},
	{"activity", "/activity"}, {"delivery", "/delivery?client=1"}, {"find", "/find?q=post"}, {"feeds", "/feeds"},
	{"general", "/settings/general"}, {"members", "/settings/members"}, {"clients", "/settings/clients"}, {"a client", "/settings/clients/1"}, {"profile", "/settings/profile"}, {"style", "/settings/style"},
}

const sqlPagesPast = `
	UPDATE tenant.targets SET state = 'published', published_at = due_at + interval '1 second', next_at = NULL, claimed_at = NULL WHERE tenant_id = $1 AND due_at < now()`

// Posts are written one after the other, not all at one instant.
const sqlPagesWritten = `UPDATE tenant.posts SET updated_at = now() - id * interval '20 minutes' WHERE tenant_id = $1`

// pages opens each screen some times. The targets stand around today, the past ones
// published.
func (w *world) pages(ctx context.Context, cookie *http.Cookie) (p Pages, err error) {
	begin := time.Now().AddDate(0, 0, -150)
	err = w.targets(ctx, batchSeed{shard: db.MainShard, tenant: memberTenant, first: 1, count: pageTargets, due: func(i int) time.Time {
		return begin.Add(time.Duration(i) * 300 * 24 * time.Hour / pageTargets)
	}})
	if err == nil {
		err = w.publishPast(ctx)
	}
	if err == nil {
		err = w.settle(ctx)
	}
	if err != nil {
		return p, err
	}
	app, err := w.web(ctx)
	if err != nil {
		return p, err
	}
	defer app.Close()
	r := reader{w: w, ctx: ctx, web: app.Web(), cookie: cookie}
	p.Targets = pageTargets
	for _, s := range screens {
		one, err := r.weigh(s.what, fmt.Sprintf("/w/w%d%s", memberTenant, s.at))
		if err != nil {
			return p, err
		}
		p.Each = append(p.Each, one)
	}
	return p, nil
}

// publishPast has what was due published, past the pipeline.
func (w *world) publishPast(ctx context.Context) error {
	return pgx.BeginFunc(ctx, w.super[db.MainShard], func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL session_replication_role = replica"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlPagesWritten, memberTenant); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sqlPagesPast, memberTenant)
		return err
	})
}

// weigh looks at a page and at what it brings along.
func (r reader) weigh(what, at string) (p Page, err error) {
	html, _, err := r.get(at) // what is made once is made here
	if err != nil {
		return p, err
	}
	l, err := r.look(what, at)
	if err != nil {
		return p, err
	}
	p = Page{What: what, Bytes: len(html), Takes: l.Takes, Statements: l.Statements}
	if p.Gzip, err = gzipped(html); err != nil {
		return p, err
	}
	for _, m := range brought.FindAllStringSubmatch(html, -1) {
		n, err := r.size(m[1] + m[2])
		if err != nil {
			return p, err
		}
		p.FirstLoad += n
	}
	return p, nil
}

var brought = regexp.MustCompile(`<script[^>]* src="([^"]+)"|<link rel="stylesheet" href="([^"]+)"`)

// size is how many bytes a browser gets of a file.
func (r reader) size(at string) (int, error) {
	request := httptest.NewRequestWithContext(r.ctx, "GET", at, nil)
	request.Header.Set("Accept-Encoding", "gzip")
	answer := httptest.NewRecorder()
	r.web.ServeHTTP(answer, request)
	if answer.Code != http.StatusOK {
		return 0, fmt.Errorf("%s: status %d", at, answer.Code)
	}
	return answer.Body.Len(), nil
}

func gzipped(text string) (int, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		return 0, err
	}
	err := z.Close()
	return b.Len(), err
}

func (p Pages) print(out io.Writer) {
	fmt.Fprintf(out, "the screens of a workspace with %d targets, medians of %d:\n", p.Targets, lookTimes)
	fmt.Fprintf(out, "  %-12s %9s %9s %10s %11s %14s\n", "", "HTML", "gzip", "time", "statements", "script+style")
	for _, one := range p.Each {
		fmt.Fprintf(out, "  %-12s %6d KB %6d KB %10s %11d %11d KB", one.What, kilobytes(one.Bytes), kilobytes(one.Gzip), ms(one.Takes), one.Statements, kilobytes(one.FirstLoad))
		if fails := one.fails(); len(fails) > 0 {
			fmt.Fprintf(out, "  FAIL: %v", fails)
		} else {
			fmt.Fprint(out, "  pass")
		}
		fmt.Fprintln(out)
	}
}

func kilobytes(n int) int { return (n + 1023) >> 10 }
