package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Folder is a folder of a client's library. It keeps its place; what lies in it
// can be moved.
type Folder struct {
	ID        model.FolderID
	ClientID  model.ClientID
	ParentID  *model.FolderID
	Name      string
	Assets    int // that lie in it directly
	CreatedAt time.Time
}

const sqlFolders = `
	SELECT f.id, f.client_id, f.parent_id, f.name, f.created_at,
	       (SELECT count(*) FROM tenant.media m WHERE m.tenant_id = f.tenant_id AND m.folder_id = f.id AND m.state <> 'deleted') AS assets
	  FROM tenant.media_folders f
	 WHERE f.tenant_id = $1 AND ($2::bigint = 0 OR f.client_id = $2) AND ($3 OR f.client_id = ANY ($4)) ORDER BY f.client_id, lower(f.name), f.id`

// Folders lists the folders of a client, or with zero those of every client the
// actor may see, by name.
func (sc *Scope) Folders(ctx context.Context, client model.ClientID) (list []Folder, err error) {
	defer wrap(&err, "list folders")
	ids, all := sc.Actor.ClientsWith(model.MediaView)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if err := sc.libraryKnows(ctx, tx, LibraryFilter{Client: client}); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sqlFolders, sc.Actor.Tenant, client, all, ids)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByName[Folder])
		return err
	})
	return list, err
}

const (
	maxFolders = 500 // of one client
	maxNesting = 6
)

var errNoFolder = model.Refuse(model.NotFound, "There is no such folder.")

const sqlFolderAdd = `
	INSERT INTO tenant.media_folders (tenant_id, client_id, parent_id, name, created_at) VALUES ($1, $2, $3, $4, $5) RETURNING id`

const sqlFolderDepth = `
	WITH RECURSIVE up AS (
		SELECT f.id, f.parent_id, 1 AS depth FROM tenant.media_folders f WHERE f.tenant_id = $1 AND f.client_id = $2 AND f.id = $3
		UNION ALL
		SELECT f.id, f.parent_id, up.depth + 1 FROM up JOIN tenant.media_folders f ON f.tenant_id = $1 AND f.id = up.parent_id)
	SELECT (SELECT coalesce(max(depth), 0) FROM up), (SELECT count(*) FROM tenant.media_folders f WHERE f.tenant_id = $1 AND f.client_id = $2)`

// AddFolder makes a folder, in another one or (nil) at the top. It refuses a name
// that the place has already.
func (sc *Scope) AddFolder(ctx context.Context, client model.ClientID, parent *model.FolderID, name string) (f Folder, err error) {
	defer wrap(&err, "add folder for client %d", client)
	if err := sc.needMedia(model.MediaWrite, client); err != nil {
		return f, err
	}
	if name, err = folderName(name); err != nil {
		return f, err
	}
	f = Folder{ClientID: client, ParentID: parent, Name: name, CreatedAt: sc.now()}
	err = sc.write(ctx, func(tx pgx.Tx) error {
		if err := sc.roomForFolder(ctx, tx, f); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, sqlFolderAdd, sc.Actor.Tenant, client, parent, name, f.CreatedAt).Scan(&f.ID); err != nil {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "made", subject: "folder", id: int64(f.ID), client: client})
	})
	return f, err
}

func (sc *Scope) roomForFolder(ctx context.Context, tx pgx.Tx, f Folder) error {
	if err := sc.libraryKnows(ctx, tx, LibraryFilter{Client: f.ClientID}); err != nil {
		return err
	}
	var depth, count int
	if err := tx.QueryRow(ctx, sqlFolderDepth, sc.Actor.Tenant, f.ClientID, f.ParentID).Scan(&depth, &count); err != nil {
		return err
	}
	switch {
	case f.ParentID != nil && depth == 0:
		return errNoFolder
	case depth >= maxNesting:
		return model.RefuseField("name", fmt.Sprintf("Folders can lie %d deep. Make this one further up.", maxNesting))
	case count >= maxFolders:
		return model.RefuseField("name", fmt.Sprintf("This client has %d folders, which is the most. Remove some, or use tags.", count))
	}
	return nil
}

func folderName(name string) (string, error) {
	name = strings.Join(strings.Fields(printable(name)), " ")
	switch n := len([]rune(name)); {
	case n == 0:
		return "", model.RefuseField("name", "Give the folder a name.")
	case n > 80:
		return "", model.RefuseField("name", fmt.Sprintf("The name of a folder has at most 80 characters; this one has %d.", n))
	}
	return name, nil
}

const sqlFolderOf = `SELECT client_id FROM tenant.media_folders WHERE tenant_id = $1 AND id = $2`

// ofFolder runs f in a transaction, with the client whose folder it is.
func (sc *Scope) ofFolder(ctx context.Context, id model.FolderID, f func(tx pgx.Tx, client model.ClientID) error) error {
	return sc.write(ctx, func(tx pgx.Tx) error {
		var client model.ClientID
		err := tx.QueryRow(ctx, sqlFolderOf, sc.Actor.Tenant, id).Scan(&client)
		if noRows(err) || err == nil && !sc.Actor.May(model.MediaView, client) {
			return errNoFolder
		}
		if err != nil {
			return err
		}
		if err := sc.needMedia(model.MediaWrite, client); err != nil {
			return err
		}
		return f(tx, client)
	})
}

const sqlFolderRename = `UPDATE tenant.media_folders SET name = $3 WHERE tenant_id = $1 AND id = $2`

// RenameFolder gives a folder another name.
func (sc *Scope) RenameFolder(ctx context.Context, id model.FolderID, name string) (err error) {
	defer wrap(&err, "rename folder %d", id)
	if name, err = folderName(name); err != nil {
		return err
	}
	return sc.ofFolder(ctx, id, func(tx pgx.Tx, client model.ClientID) error {
		if _, err := tx.Exec(ctx, sqlFolderRename, sc.Actor.Tenant, id, name); err != nil {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "renamed", subject: "folder", id: int64(id), client: client})
	})
}

const sqlFolderEmpty = `
	UPDATE tenant.media m SET folder_id = f.parent_id FROM tenant.media_folders f
	 WHERE f.tenant_id = $1 AND f.id = $2 AND m.tenant_id = f.tenant_id AND m.folder_id = f.id`

const sqlFolderHasMore = `SELECT EXISTS (SELECT FROM tenant.media_folders WHERE tenant_id = $1 AND client_id = $2 AND parent_id = $3)`

const sqlFolderRemove = `DELETE FROM tenant.media_folders WHERE tenant_id = $1 AND id = $2`

// RemoveFolder takes a folder away. What lay in it lies one up then; no file is
// deleted. It refuses a folder that holds folders.
func (sc *Scope) RemoveFolder(ctx context.Context, id model.FolderID) (err error) {
	defer wrap(&err, "remove folder %d", id)
	return sc.ofFolder(ctx, id, func(tx pgx.Tx, client model.ClientID) error {
		var more bool
		if err := tx.QueryRow(ctx, sqlFolderHasMore, sc.Actor.Tenant, client, id).Scan(&more); err != nil {
			return err
		}
		if more {
			return model.Refuse(model.Conflict, "There are folders in this folder. Remove those first.")
		}
		for _, sql := range []string{sqlFolderEmpty, sqlFolderRemove} {
			if _, err := tx.Exec(ctx, sql, sc.Actor.Tenant, id); err != nil {
				return err
			}
		}
		return sc.audit(ctx, tx, note{verb: "removed", subject: "folder", id: int64(id), client: client})
	})
}
