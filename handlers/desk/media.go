package desk

import (
	"context"
	"io"
	"strings"
	"time"
	"unicode"

	"herald/db"
	"herald/db/blob"
	"herald/db/model"
	"herald/db/picture"
)

// taken is what became of the files of a form.
type taken struct {
	assets  []db.Asset
	said    []string // of files that were there already
	refused []string // one sentence for each file that was not taken
	kept    []string // addresses that were not taken, to be tried again
}

// takeFiles puts uploads into a client's library, each by itself: one that is
// refused does not keep the others out.
func (d *Desk) takeFiles(ctx context.Context, scope *db.Scope, client model.ClientID, files []*upload) (t taken, err error) {
	for _, u := range files {
		asset, again, err := d.takeFile(ctx, scope, client, u)
		err = d.Stored(ctx, err)
		if no, ok := model.Refused(err); ok {
			t.refused = append(t.refused, named(u.name, no.Say))
			continue
		}
		if err != nil {
			return t, err
		}
		if again {
			t.said = append(t.said, "“"+fileLabel(u.name)+"” was in the client's library already, so that file is used.")
		}
		t.assets = append(t.assets, asset)
	}
	return t, nil
}

// named puts a file's name before a sentence that does not say it.
func named(name, say string) string {
	label := fileLabel(name)
	if strings.Contains(say, label) {
		return say
	}
	return label + ": " + say
}

// takeFile looks at an upload before it does any work on it, and keeps it if the
// client does not have it yet.
func (d *Desk) takeFile(ctx context.Context, scope *db.Scope, client model.ClientID, u *upload) (a db.Asset, again bool, err error) {
	if u.full != nil {
		return a, false, u.full
	}
	if u.over {
		return a, false, d.tooLargeForForm(u.size)
	}
	if err := d.uploadTurn(ctx, scope); err != nil {
		return a, false, err
	}
	if err := scope.RoomForMedia(ctx, client, u.size); err != nil {
		return a, false, err
	}
	src := io.NewSectionReader(u.file, 0, u.size)
	sum, err := scan(ctx, src)
	if err != nil {
		return a, false, err
	}
	facts, err := d.inspect(ctx, u.name, src)
	if err != nil {
		return a, false, err
	}
	if a, known, err := scope.KnownMedia(ctx, client, sum); known || err != nil {
		return a, known, err
	}
	a = db.Asset{ClientID: client, State: db.MediaScanning, Kind: kindOf(facts.Type), Type: string(facts.Type), Name: fileLabel(u.name), Sha256: sum[:],
		Width: facts.Width, Height: facts.Height, DurationMs: facts.Duration.Milliseconds()}
	return d.keep(ctx, scope, a, facts, src)
}

// inspect measures a file by its bytes; the name only helps to say what is wrong.
func (d *Desk) inspect(ctx context.Context, name string, src *io.SectionReader) (picture.Facts, error) {
	head := make([]byte, min(picture.HeadSize, src.Size()))
	if _, err := src.ReadAt(head, 0); err != nil && err != io.EOF {
		return picture.Facts{}, err
	}
	if _, err := picture.Recognize(name, head); err != nil {
		return picture.Facts{}, err
	}
	return picture.Inspect(ctx, src, d.limits())
}

// keep stores the bytes as they came and records the asset, which the media queue
// then scans and develops: nothing is decoded here. What is not recorded in the end
// is taken away again.
func (d *Desk) keep(ctx context.Context, scope *db.Scope, a db.Asset, facts picture.Facts, src *io.SectionReader) (_ db.Asset, again bool, err error) {
	key := ""
	defer func() {
		if err != nil || again {
			d.forgetKeys(ctx, key)
		}
	}()
	if err := d.put(ctx, scope, &key, &a.UploadedBytes, facts.Type, io.NewSectionReader(src, 0, src.Size()), src.Size()); err != nil {
		return a, false, err
	}
	a.OriginalPath = key
	return scope.AddMedia(ctx, a)
}

// await gives the media queue a moment with new files, so that the page shows most
// of them as they will be. One that is refused meanwhile is told like any other.
func (d *Desk) await(ctx context.Context, scope *db.Scope, t *taken) error {
	for until := time.Now().Add(d.Limits.Patience); ; { // of the network, not of the clock that rules read
		waits, err := d.look(ctx, scope, t)
		if err != nil || !waits || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
	}
}

const lookEvery = 100 * time.Millisecond

// look reads new files again, and says whether any is still on its way.
func (d *Desk) look(ctx context.Context, scope *db.Scope, t *taken) (waits bool, err error) {
	var ids []model.MediaID
	for _, a := range t.assets {
		ids = append(ids, a.ID)
	}
	now, err := scope.Media(ctx, ids)
	if err != nil {
		return false, err
	}
	t.assets = nil
	for _, a := range now {
		if a.State.Lost() {
			t.refused = append(t.refused, named(a.Name, a.Reason))
			continue
		}
		waits = waits || a.State.OnItsWay()
		t.assets = append(t.assets, a)
	}
	return waits, nil
}

func (d *Desk) put(ctx context.Context, scope *db.Scope, key *string, size *int64, t picture.Type, r io.Reader, length int64) error {
	name := blob.Key(int64(scope.Actor.Tenant), d.Now(), t.Ext())
	info, err := d.Blobs.Put(ctx, name, r, blob.Options{Size: length})
	if err != nil {
		return err
	}
	*key, *size = name, info.Size
	return nil
}

// forgetKeys takes stored bytes away that nothing points at.
func (d *Desk) forgetKeys(ctx context.Context, keys ...string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	for _, key := range keys {
		if key == "" {
			continue
		}
		if err := d.Blobs.Delete(ctx, key); err != nil {
			d.Log.WarnContext(ctx, "stored file left behind", "err", err)
		}
	}
}

// fileLabel is a file's name as it is kept and shown: its last part, at most 120
// characters, nothing invisible.
func fileLabel(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	clean := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "")))
	if len(clean) > 120 {
		clean = append(clean[:119], '…')
	}
	if len(clean) == 0 {
		return "file"
	}
	return string(clean)
}
