package desk

import (
	"context"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"herald/db"
	"herald/db/blob"
	"herald/db/model"
	"herald/db/network"
	"herald/db/picture"
)

// thumbSide is the longer side of a thumbnail, for a card on a sharp screen.
const thumbSide = 640

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
		return a, false, tooLarge(u.size, d.formBytes())
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
	a = db.Asset{ClientID: client, State: "ready", Name: fileLabel(u.name), Sha256: sum[:]}
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

// keep stores the bytes and records the asset; what is not recorded in the end is
// taken away again.
func (d *Desk) keep(ctx context.Context, scope *db.Scope, a db.Asset, facts picture.Facts, src *io.SectionReader) (_ db.Asset, again bool, err error) {
	made := a
	defer func() {
		if err != nil || again {
			d.forget(ctx, made)
		}
	}()
	if facts.Type.Video() {
		err = d.keepVideo(ctx, scope, &made, facts, src)
	} else {
		err = d.keepPicture(ctx, scope, &made, src)
	}
	if err != nil {
		return a, false, err
	}
	return scope.AddMedia(ctx, made)
}

func (d *Desk) keepVideo(ctx context.Context, scope *db.Scope, a *db.Asset, facts picture.Facts, src *io.SectionReader) error {
	describeAsset(a, facts)
	a.Kind, a.DurationMs = network.Video, facts.Duration.Milliseconds()
	return d.put(ctx, scope, &a.Path, &a.Bytes, facts.Type, io.NewSectionReader(src, 0, src.Size()), src.Size())
}

// keepPicture makes what is published and the thumbnail.
func (d *Desk) keepPicture(ctx context.Context, scope *db.Scope, a *db.Asset, src *io.SectionReader) error {
	a.Kind = network.Image
	facts, err := d.develop(ctx, scope, &a.Path, &a.Bytes, func(out io.Writer) (picture.Facts, error) {
		return d.Darkroom.Upright(ctx, src, out)
	})
	if err != nil {
		return err
	}
	describeAsset(a, facts)
	var small int64
	_, err = d.develop(ctx, scope, &a.ThumbPath, &small, func(out io.Writer) (picture.Facts, error) {
		return d.Darkroom.Thumbnail(ctx, src, out, thumbSide)
	})
	return err
}

func describeAsset(a *db.Asset, facts picture.Facts) {
	a.Type, a.Width, a.Height = string(facts.Type), facts.Width, facts.Height
}

// develop makes a picture on disk, then stores it: its type is known only once
// it is made.
func (d *Desk) develop(ctx context.Context, scope *db.Scope, key *string, size *int64, make func(io.Writer) (picture.Facts, error)) (facts picture.Facts, err error) {
	file, err := os.CreateTemp("", "herald-picture-*")
	if err != nil {
		return facts, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if facts, err = make(file); err != nil {
		return facts, err
	}
	length, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return facts, err
	}
	return facts, d.put(ctx, scope, key, size, facts.Type, io.NewSectionReader(file, 0, length), length)
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

// forget takes stored bytes away that nothing points at.
func (d *Desk) forget(ctx context.Context, a db.Asset) { d.forgetKeys(ctx, a.Path, a.ThumbPath) }

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
