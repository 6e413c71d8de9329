package bench

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/cmd/internal/boot"
	"herald/db"
)

// Library is what looking through a library of many files costs, from the request
// to the last byte of the page, without the network between.
type Library struct {
	Files int
	Pages []Look // each way to look at it, the slowest last
}

// Look is one way to look at a library.
type Look struct {
	What       string
	Takes      time.Duration // the median
	Statements int64         // each time
}

const (
	libraryFiles = 10_000
	lookTimes    = 15
)

// RunLibrary measures the library alone.
func RunLibrary(ctx context.Context, asJSON bool, out io.Writer) error {
	return inWorld(ctx, func(w *world) error {
		cookie, err := w.member(ctx)
		if err != nil {
			return err
		}
		l, err := w.library(ctx, cookie)
		if err != nil {
			return err
		}
		return write(out, asJSON, l)
	})
}

// library looks at 10,000 files of one client as a member does: at the first page,
// at one in the middle, at the last, by name, and with each kind of filter.
func (w *world) library(ctx context.Context, cookie *http.Cookie) (l Library, err error) {
	if err := w.files(ctx); err != nil {
		return l, err
	}
	app, err := w.web(ctx)
	if err != nil {
		return l, err
	}
	defer app.Close()
	r := reader{w: w, ctx: ctx, web: app.Web(), cookie: cookie}
	middle, last, err := r.leaf()
	if err != nil {
		return l, err
	}
	l.Files = libraryFiles
	for _, c := range []struct{ what, at string }{
		{"the first page", home}, {"one in the middle", middle}, {"the last", last}, {"by name", home + "?order=name"}, {"videos", home + "?kind=video"},
		{"unused", home + "?use=unused"}, {"used", home + "?use=used"}, {"a tag", home + "?tag=tenth"}, {"a common word", home + "?q=bread"}, {"a rare word", home + "?q=only77"},
	} {
		one, err := r.look(c.what, c.at)
		if err != nil {
			return l, err
		}
		l.Pages = append(l.Pages, one)
	}
	slices.SortStableFunc(l.Pages, func(a, b Look) int { return int(a.Takes - b.Takes) })
	return l, nil
}

// home is the library of the workspace that member makes.
const home = "/w/w999001/media"

// web is the serving half in this process, so that its statements can be counted.
func (w *world) web(ctx context.Context) (*boot.App, error) {
	c := w.config
	c.RedisURL, c.MediaURL, c.BaseURL = redisURL(w.rd), "file://"+filepath.Join(w.dir, "media"), "http://localhost"
	app, err := boot.Open(ctx, c, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		return nil, err
	}
	o := c.Database(time.Now)
	o.Tracer = sqlCounter{&w.counted}
	app.Store.Close()
	if app.Store, err = db.Open(ctx, o); err != nil {
		app.Close()
		return nil, err
	}
	return app, nil
}

// sqlFiles are files with words and tags, of which each fourth is in a post.
var sqlFiles = []string{
	`INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, thumb_path, sha256, bytes, uploaded_bytes, width, height, alt, tags, placeholder, created_at)
	 SELECT $1, 1, 'ready', CASE n % 20 WHEN 0 THEN 'video' ELSE 'image' END, 'image/jpeg', 'IMG ' || n || '.jpg', 'x', 'x', sha256(n::text::bytea), 1000, 1000, 4000, 3000,
	        'A loaf of bread on a table, seen from above', CASE n % 10 WHEN 0 THEN ARRAY['tenth'] ELSE '{}' END, sha224(n::text::bytea), now() - n * interval '1 minute'
	   FROM generate_series(1, $2::int) n`,
	`INSERT INTO tenant.media_words (tenant_id, word, media_id)
	 SELECT tenant_id, w, id FROM tenant.media, unnest(ARRAY['img', 'bread', 'table', 'only' || split_part(split_part(name, ' ', 2), '.', 1), CASE WHEN tags <> '{}' THEN '#tenth' END]) w
	  WHERE tenant_id = $1 AND w IS NOT NULL AND $2 > 0`,
	`INSERT INTO tenant.posts (tenant_id, id, current_version_id, created_by, created_at, updated_at) OVERRIDING SYSTEM VALUE
	 SELECT $1, 900000 + n, 900000 + n, 1, now(), now() FROM generate_series(1, $2::int / 4) n`,
	`INSERT INTO tenant.post_versions (tenant_id, id, post_id, number, content, created_by, created_at) OVERRIDING SYSTEM VALUE
	 SELECT $1, 900000 + n, 900000 + n, 1, '{}', 1, now() FROM generate_series(1, $2::int / 4) n`,
	`INSERT INTO tenant.version_media (tenant_id, version_id, media_id)
	 SELECT $1, 900000 + row_number() OVER (ORDER BY id), id FROM (SELECT id FROM tenant.media WHERE tenant_id = $1 ORDER BY id LIMIT $2::int / 4) m`,
}

// files seeds the library. Triggers and foreign keys rest meanwhile.
func (w *world) files(ctx context.Context) error {
	err := pgx.BeginFunc(ctx, w.super[db.MainShard], func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL session_replication_role = replica"); err != nil {
			return err
		}
		for _, sql := range sqlFiles {
			if _, err := tx.Exec(ctx, sql, memberTenant, libraryFiles); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.settle(ctx)
}

// reader is the member before the library.
type reader struct {
	w      *world
	ctx    context.Context
	web    http.Handler
	cookie *http.Cookie
}

func (r reader) get(at string) (page string, took time.Duration, err error) {
	request := httptest.NewRequestWithContext(r.ctx, "GET", at, nil)
	request.AddCookie(r.cookie)
	answer := httptest.NewRecorder()
	began := time.Now()
	r.web.ServeHTTP(answer, request)
	took = time.Since(began)
	if answer.Code != http.StatusOK {
		return "", 0, fmt.Errorf("%s: status %d: %.200s", at, answer.Code, answer.Body)
	}
	return answer.Body.String(), took, nil
}

var moreLink = regexp.MustCompile(`id="assets-more">\s*<a class="button" href="([^"]+)"`)

// leaf goes from page to page to the end, and says where the middle and the last
// one are.
func (r reader) leaf() (middle, last string, err error) {
	all := []string{home}
	for {
		page, _, err := r.get(all[len(all)-1])
		if err != nil {
			return "", "", err
		}
		more := moreLink.FindStringSubmatch(page)
		if more == nil {
			break
		}
		all = append(all, html.UnescapeString(more[1]))
	}
	if len(all) < 100 {
		return "", "", errors.New("the library has fewer pages than its files fill")
	}
	return all[len(all)/2], all[len(all)-1], nil
}

func (r reader) look(what, at string) (l Look, err error) {
	var took []time.Duration
	r.w.counted.reset()
	for range lookTimes {
		_, d, err := r.get(at)
		if err != nil {
			return l, err
		}
		took = append(took, d)
	}
	return Look{What: what, Takes: median(took), Statements: r.w.counted.statements.Load() / lookTimes}, nil
}

func (l Library) print(out io.Writer) {
	fmt.Fprintf(out, "a page of a library of %d files (aim 100ms), medians of %d:\n", l.Files, lookTimes)
	for _, p := range l.Pages {
		fmt.Fprintf(out, "  %-18s %8s in %d statements\n", p.What, ms(p.Takes), p.Statements)
	}
}
