package db

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// LibraryFilter picks assets of the library. Zero values pick all.
type LibraryFilter struct {
	IDs      []model.MediaID // of these alone; nil: of all
	Client   model.ClientID
	Folder   model.FolderID
	Loose    bool // only what lies in no folder
	Kind     network.MediaKind
	Use      MediaUse
	Shape    Orientation
	Standing MediaStanding
	From     time.Time // uploaded at or after
	To       time.Time // uploaded before
	Tags     []string  // has all of them
	Words    string    // each word begins one of name, alt text and tags
	NoAlt    bool      // has no alt text
	Order    LibraryOrder
	After    string // LibraryPage.Next of the page before
	Limit    int    // at most maxLibrary
}

// MediaUse sorts assets by the posts that use them.
type MediaUse string

// The uses: see Usage.
const (
	Unused    MediaUse = "unused"
	Used      MediaUse = "used"
	Scheduled MediaUse = "scheduled"
)

// Orientation sorts assets by their shape.
type Orientation string

// The orientations. A square has less than two percent between its sides.
const (
	Landscape Orientation = "landscape"
	Portrait  Orientation = "portrait"
	Square    Orientation = "square"
)

// MediaStanding sorts assets by whether they are ready.
type MediaStanding string

// The standings.
const (
	Unfinished MediaStanding = "unfinished" // on its way
	Stopped    MediaStanding = "stopped"    // refused, or in quarantine
	Attachable MediaStanding = "attachable" // not stopped
)

// LibraryOrder is what the library is sorted by.
type LibraryOrder string

// The orders.
const (
	NewestFirst LibraryOrder = ""
	OldestFirst LibraryOrder = "oldest"
	ByName      LibraryOrder = "name"
)

// LibraryPage is one page of the library.
type LibraryPage struct {
	Assets []LibraryAsset
	Next   string // what After asks for the page behind this; empty at the end
}

// LibraryAsset is an asset with what its card shows beside it.
type LibraryAsset struct {
	Asset
	Client string
	Usage  Usage `db:"-"`
}

const maxLibrary = 200

// Library lists assets of the clients whose media the actor may see. It refuses
// with NotFound a client or folder that is not there or hidden, and ids of which
// none is.
func (sc *Scope) Library(ctx context.Context, f LibraryFilter) (page LibraryPage, err error) {
	defer wrap(&err, "list media")
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if err := sc.libraryKnows(ctx, tx, f); err != nil {
			return err
		}
		spans := wordSpans(f)
		if err := sc.weighWords(ctx, tx, spans); err != nil {
			return err
		}
		q, err := sc.libraryQuery(f, spans)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, q.sql, q.args...)
		if err != nil {
			return err
		}
		if page.Assets, err = pgx.CollectRows(rows, pgx.RowToStructByName[LibraryAsset]); err != nil {
			return err
		}
		if len(page.Assets) > q.limit {
			page.Assets = page.Assets[:q.limit]
			page.Next = turnOf(f.Order, page.Assets[q.limit-1].Asset).String()
		}
		if f.IDs != nil && len(page.Assets) == 0 {
			return errNoMedia
		}
		return sc.addUsage(ctx, tx, page.Assets)
	})
	return page, err
}

func (sc *Scope) addUsage(ctx context.Context, tx pgx.Tx, list []LibraryAsset) error {
	var ids []model.MediaID
	for _, a := range list {
		ids = append(ids, a.ID)
	}
	all, err := sc.usage(ctx, tx, ids)
	for i := range list {
		list[i].Usage = all[list[i].ID]
	}
	return err
}

const sqlLibraryKnows = `
	SELECT ($2::bigint = 0 OR EXISTS (SELECT FROM tenant.clients c WHERE c.tenant_id = $1 AND c.id = $2 AND ($4 OR c.id = ANY ($5))))
	   AND ($3::bigint = 0 OR EXISTS (SELECT FROM tenant.media_folders f WHERE f.tenant_id = $1 AND f.id = $3 AND ($2::bigint = 0 OR f.client_id = $2) AND ($4 OR f.client_id = ANY ($5))))`

func (sc *Scope) libraryKnows(ctx context.Context, tx pgx.Tx, f LibraryFilter) error {
	clients, all := sc.Actor.ClientsWith(model.MediaView)
	var known bool
	if err := tx.QueryRow(ctx, sqlLibraryKnows, sc.Actor.Tenant, f.Client, f.Folder, all, clients).Scan(&known); err != nil {
		return err
	}
	if !known {
		return model.Refuse(model.NotFound, "There is no such client or folder.")
	}
	return nil
}

// libraryQuery is a statement that is put together from the filter.
type libraryQuery struct {
	sql   string
	args  []any
	limit int
}

func (q *libraryQuery) and(format string, args ...any) {
	var at []any
	for _, a := range args {
		q.args = append(q.args, a)
		at = append(at, fmt.Sprintf("$%d", len(q.args)))
	}
	q.sql += " AND " + fmt.Sprintf(format, at...)
}

const libraryColumns = `
	SELECT ` + assetFields + `, c.name AS client
	  FROM tenant.media m JOIN tenant.clients c ON c.tenant_id = m.tenant_id AND c.id = m.client_id
	 WHERE m.tenant_id = $1 AND m.state <> 'deleted'`

func (sc *Scope) libraryQuery(f LibraryFilter, spans []wordSpan) (q *libraryQuery, err error) {
	q = &libraryQuery{sql: libraryColumns, args: []any{sc.Actor.Tenant}, limit: f.Limit}
	if q.limit <= 0 || q.limit > maxLibrary {
		q.limit = maxLibrary
	}
	if ids, all := sc.Actor.ClientsWith(model.MediaView); !all {
		q.and("m.client_id = ANY (%s)", ids)
	}
	q.belongs(f)
	q.looks(f)
	q.says(f, spans)
	return q, q.turn(f)
}

func (q *libraryQuery) belongs(f LibraryFilter) {
	if f.IDs != nil {
		q.and("m.id = ANY (%s)", f.IDs)
	}
	if f.Client != 0 {
		q.and("m.client_id = %s", f.Client)
	}
	if f.Folder != 0 {
		q.and("m.folder_id = %s", f.Folder)
	}
	if f.Loose {
		q.and("m.folder_id IS NULL")
	}
	switch f.Use {
	case Unused:
		q.and("NOT EXISTS (SELECT" + postOfMedia + ofRow + ")")
	case Used:
		q.and("(SELECT true" + postOfMedia + ofRow + " LIMIT 1)")
	case Scheduled:
		q.and("(SELECT true" + useOfMedia + ofRow + " AND s.scheduled LIMIT 1)")
	}
}

// ofRow asks about the file at hand. Asked this way and not by EXISTS, it is not
// turned into a join with all that is used.
const ofRow = ` WHERE vm.tenant_id = m.tenant_id AND vm.media_id = m.id`

func (q *libraryQuery) looks(f LibraryFilter) {
	if f.Kind != "" {
		q.and("m.kind = %s", f.Kind)
	}
	switch f.Standing { // in the words of the index media_unfinished
	case Unfinished:
		q.and("m.state IN ('uploading', 'scanning', 'processing')")
	case Stopped:
		q.and("m.state IN ('refused', 'quarantined')")
	case Attachable:
		q.and("m.state NOT IN ('refused', 'quarantined')")
	}
	if !f.From.IsZero() {
		q.and("m.created_at >= %s", f.From)
	}
	if !f.To.IsZero() {
		q.and("m.created_at < %s", f.To)
	}
	switch f.Shape {
	case Landscape:
		q.and("m.width * 100 > m.height * 102")
	case Portrait:
		q.and("m.height * 100 > m.width * 102")
	case Square:
		q.and("m.width > 0 AND m.width * 100 <= m.height * 102 AND m.height * 100 <= m.width * 102")
	}
}

// libraryTurn is where a page ends and the next one begins.
type libraryTurn struct {
	At   time.Time     `json:"t,omitzero"`
	Name string        `json:"n,omitempty"`
	ID   model.MediaID `json:"i"`
}

func turnOf(o LibraryOrder, a Asset) libraryTurn {
	if o == ByName {
		return libraryTurn{Name: a.Name, ID: a.ID}
	}
	return libraryTurn{At: a.CreatedAt, ID: a.ID}
}

func (t libraryTurn) String() string {
	b, _ := json.Marshal(t)
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseTurn(s string) (t libraryTurn, err error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err != nil || t.ID <= 0 || strings.ContainsRune(t.Name, 0) {
		return t, model.RefuseField("after", "This address is cut short. Go back to the library and try again.")
	}
	return t, nil
}

// turn adds where the page begins, its order and its length.
func (q *libraryQuery) turn(f LibraryFilter) error {
	t, order := libraryTurn{}, ""
	if f.After != "" {
		var err error
		if t, err = parseTurn(f.After); err != nil {
			return err
		}
	}
	switch {
	case f.Order == ByName && f.After != "":
		q.and("(lower(m.name), m.id) > (lower(%s), %s)", t.Name, t.ID)
	case f.Order == OldestFirst && f.After != "":
		q.and("(m.created_at, m.id) > (%s, %s)", t.At, t.ID)
	case f.After != "":
		q.and("(m.created_at, m.id) < (%s, %s)", t.At, t.ID)
	}
	switch f.Order {
	case ByName:
		order = "lower(m.name), m.id"
	case OldestFirst:
		order = "m.created_at, m.id"
	default:
		order = "m.created_at DESC, m.id DESC"
	}
	q.sql += fmt.Sprintf(" ORDER BY %s LIMIT %d", order, q.limit+1)
	return nil
}

// tidyTags trims tags, writes them in lower case, and sorts them, each once.
func tidyTags(tags []string) []string {
	out := []string{}
	for _, t := range tags {
		if t = strings.ToLower(strings.Join(strings.Fields(strings.TrimPrefix(strings.TrimSpace(t), "#")), " ")); t != "" {
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Tag is one tag of the library and how many assets have it.
type Tag struct {
	Name  string
	Count int
}

const sqlLibraryTags = `
	SELECT substr(w.word, 2) AS name, count(*) AS count
	  FROM tenant.media_words w JOIN tenant.media m ON m.tenant_id = w.tenant_id AND m.id = w.media_id AND m.state <> 'deleted'
	 WHERE w.tenant_id = $1 AND w.word >= '#' AND w.word < '$' AND ($2::bigint = 0 OR m.client_id = $2) AND ($3 OR m.client_id = ANY ($4))
	 GROUP BY w.word ORDER BY w.word LIMIT 500`

// Tags lists the tags that assets of a client have, or with zero those of every
// client the actor may see.
func (sc *Scope) Tags(ctx context.Context, client model.ClientID) (list []Tag, err error) {
	defer wrap(&err, "list tags")
	if client != 0 {
		if err := sc.needMedia(model.MediaView, client); err != nil {
			return nil, err
		}
	}
	ids, all := sc.Actor.ClientsWith(model.MediaView)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if err := sc.libraryKnows(ctx, tx, LibraryFilter{Client: client}); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sqlLibraryTags, sc.Actor.Tenant, client, all, ids)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByName[Tag])
		return err
	})
	return list, err
}

// Storage is how much of its plan a workspace's library fills.
type Storage struct {
	Used  int64  // bytes that were uploaded and not deleted
	Limit *int64 // nil: the plan has none
}

const sqlStorage = `
	SELECT (SELECT coalesce(sum(m.uploaded_bytes), 0)::bigint FROM tenant.media m WHERE m.tenant_id = t.tenant_id AND m.state <> 'deleted') AS used, t.media_bytes AS "limit"
	  FROM tenant.tenants t WHERE t.tenant_id = $1`

// Storage says how full the library is. Renditions and thumbnails do not count.
func (sc *Scope) Storage(ctx context.Context) (s Storage, err error) {
	defer wrap(&err, "read storage")
	err = sc.read(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, sqlStorage, sc.Actor.Tenant).Scan(&s.Used, &s.Limit)
	})
	return s, err
}
