package desk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"herald/db"
	"herald/db/blob"
	"herald/db/model"
	"herald/db/picture"
)

// Fetched is a file that is being read from an address.
type Fetched struct {
	Body io.ReadCloser
	Size int64 // as announced; -1 if it was not
	Name string
}

// Fetcher asks for a file at an address that a person chose. What the person can
// do something about it refuses.
type Fetcher func(ctx context.Context, address string) (Fetched, error)

// formAddresses is how many files one form may have fetched.
const formAddresses = 10

// takeAddresses copies files into a client's library, each by itself, at once: an
// address is where the bytes came from, and no more is kept of it.
func (d *Desk) takeAddresses(ctx context.Context, scope *db.Scope, client model.ClientID, addresses []string) (t taken, err error) {
	if len(addresses) > formAddresses {
		return t, model.Refuse(model.TooLarge, fmt.Sprintf("At most %d addresses are fetched at once. Take some away, then add the others.", formAddresses))
	}
	for _, address := range addresses {
		asset, again, err := d.takeAddress(ctx, scope, client, address)
		err = d.Stored(ctx, err)
		if no, ok := model.Refused(err); ok {
			t.refused = append(t.refused, named(addressLabel(address), no.Say))
			t.kept = append(t.kept, address)
			continue
		}
		if err != nil {
			return t, err
		}
		if again {
			t.said = append(t.said, "“"+asset.Name+"” was in the client's library already, so that file is used.")
		}
		t.assets = append(t.assets, asset)
	}
	return t, nil
}

// add puts what became of other files behind what became of these.
func (t *taken) add(other taken) {
	t.assets, t.said = append(t.assets, other.assets...), append(t.said, other.said...)
	t.refused, t.kept = append(t.refused, other.refused...), append(t.kept, other.kept...)
}

// addressLabel is the host, for a sentence: the rest may be long, or secret.
func addressLabel(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return fileLabel(u.Host)
	}
	return "The address"
}

// FetchFile copies a file into a client's library for whoever acts in scope.
func (d *Desk) FetchFile(ctx context.Context, scope *db.Scope, client model.ClientID, address string) (model.MediaID, error) {
	asset, _, err := d.takeAddress(ctx, scope, client, address)
	return asset.ID, d.Stored(ctx, err)
}

func (d *Desk) takeAddress(ctx context.Context, scope *db.Scope, client model.ClientID, address string) (a db.Asset, again bool, err error) {
	if err := d.CheckAddress(address); err != nil {
		return a, false, err
	}
	if err := scope.RoomForMedia(ctx, client, 1); err != nil {
		return a, false, err
	}
	f, err := d.Fetch(ctx, address)
	if err != nil {
		return a, false, err
	}
	defer f.Body.Close()
	if err := scope.RoomForMedia(ctx, client, max(f.Size, 1)); err != nil {
		return a, false, err
	}
	a = db.Asset{ClientID: client, State: db.MediaScanning, Name: fileLabel(f.Name)}
	if err := d.store(ctx, scope, &a, f); err != nil {
		return a, false, err
	}
	made := a
	if a, again, err = scope.AddMedia(ctx, a); err != nil || again {
		d.forgetKeys(ctx, made.OriginalPath)
	}
	return a, again, err
}

// store copies the bytes, after a look at the first of them, as far as the rule
// for their type allows.
func (d *Desk) store(ctx context.Context, scope *db.Scope, a *db.Asset, f Fetched) error {
	head := make([]byte, picture.HeadSize)
	n, err := io.ReadFull(f.Body, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	t, err := picture.Recognize(f.Name, head[:n])
	if err == nil {
		err = d.limits().CheckBytes(t, f.Size)
	}
	if err != nil {
		return err
	}
	most := d.limits().Most(t)
	sum := sha256.New()
	body := io.TeeReader(io.LimitReader(io.MultiReader(bytes.NewReader(head[:n]), f.Body), most+1), sum)
	key := blob.Key(int64(scope.Actor.Tenant), d.Now(), t.Ext())
	info, err := d.Blobs.Put(ctx, key, body, blob.Options{Size: blob.Unknown})
	if err != nil {
		return err
	}
	a.Type, a.Kind, a.OriginalPath, a.Sha256, a.UploadedBytes = string(t), kindOf(t), key, sum.Sum(nil), info.Size
	if info.Size > most {
		d.forgetKeys(ctx, key)
		return d.limits().CheckBytes(t, info.Size)
	}
	return nil
}

// typedAddresses are the addresses of a form's field, between spaces or lines.
func typedAddresses(values []string) []string {
	return strings.Fields(strings.Join(values, "\n"))
}
