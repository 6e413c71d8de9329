package e2e

import (
	"bytes"
	"crypto/sha256"
	"image/jpeg"
	"strings"
	"testing"

	"herald/db"
	"herald/db/blob"
	"herald/db/model"
	"herald/db/network"
	"herald/db/picture"
	"herald/db/picture/picturetest"
)

// hang puts a painted picture into a client's library, ready as the pipeline
// leaves it.
func (a *agency) hang(t *testing.T, client string, seed uint64, width, height int, name, alt string) db.Asset {
	t.Helper()
	theme := map[string]picture.Theme{"bakery": picture.Bakery, "museum": picture.Coast}[client]
	file, thumb := painted(t, theme, seed, width, height), painted(t, theme, seed, width/2, height/2)
	sum := sha256.Sum256(file)
	one := db.Asset{ClientID: a.client(t, client), State: db.MediaReady, Kind: network.Image, Type: string(picture.JPEG), Name: name, Sha256: sum[:],
		Path: a.store(t, file, "jpg"), ThumbPath: a.store(t, thumb, "jpg"), Bytes: int64(len(file)), Width: width, Height: height}
	one, _, err := a.owner.AddMedia(t.Context(), one)
	if err == nil && alt != "" {
		err = a.owner.DescribeMedia(t.Context(), one.ID, one.Revision, db.MediaWords{Name: name, Alt: alt})
	}
	if err != nil {
		t.Fatal(err)
	}
	one.Alt = alt
	return one
}

// leaflet puts a document into the museum's library, ready as the pipeline leaves it.
func (a *agency) leaflet(t *testing.T, name string) db.Asset {
	t.Helper()
	file, thumb := picturetest.Leaflet(6, 300, 400), painted(t, picture.Coast, 9, 300, 400)
	sum := sha256.Sum256(file)
	one, _, err := a.owner.AddMedia(t.Context(), db.Asset{ClientID: a.client(t, "museum"), State: db.MediaReady, Kind: network.Document, Type: "application/pdf", Name: name, Sha256: sum[:],
		Path: a.store(t, file, "pdf"), ThumbPath: a.store(t, thumb, "jpg"), Bytes: int64(len(file)), Width: 300, Height: 400, Probe: db.Probe{Frames: 6}})
	if err != nil {
		t.Fatal(err)
	}
	return one
}

func painted(t *testing.T, theme picture.Theme, seed uint64, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, picture.Paint(theme, seed, width, height), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (a *agency) store(t *testing.T, data []byte, ext string) string {
	t.Helper()
	key := blob.Key(int64(a.owner.Actor.Tenant), here.app.Now(), ext)
	if _, err := here.app.Blobs.Put(t.Context(), key, bytes.NewReader(data), blob.Options{Size: int64(len(data))}); err != nil {
		t.Fatal(err)
	}
	return key
}

// client finds a client by its name.
func (a *agency) client(t *testing.T, name string) model.ClientID {
	t.Helper()
	list, err := a.owner.LibraryClients(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if strings.EqualFold(c.Name, name) {
			return c.ID
		}
	}
	t.Fatalf("no client %s", name)
	return 0
}
