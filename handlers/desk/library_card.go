package desk

import (
	"bytes"
	"encoding/base64"
	"strings"

	"golang.org/x/image/bmp"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/db/picture"
	"herald/views/library"
)

// card is an asset as it is shown among others.
func (d *Desk) card(scope *db.Scope, a db.LibraryAsset) library.Card {
	c := library.Card{ID: a.ID, Href: at(scope, "/media/"+id(a.ID)), Name: a.Name, Alt: a.Alt, NoAlt: strings.TrimSpace(a.Alt) == "" && a.State == db.MediaReady && a.Kind != network.Document,
		Video: a.Kind == network.Video, Document: a.Kind == network.Document, Client: a.Client, Facts: factsOf(a.Asset), Added: clientTime(a.CreatedAt, scope.Workspace.Zone),
		Uses: library.Uses(a.Usage), Standing: standingOf(a.Asset), Chooses: scope.Actor.MayAnywhere(model.MediaWrite)}
	c.Added.Zone, c.Added.IANA = "", ""
	if a.DurationMs > 0 {
		c.Length = library.Length(a.DurationMs)
	}
	if a.ThumbPath != "" && a.State == db.MediaReady {
		c.Thumb, c.Blur = d.mediaURL(scope, a.ID, "thumbnail"), blurred(a.Placeholder)
	}
	return c
}

// blurSide is how many pixels a card's placeholder has along its longer side; the
// browser smooths them.
const blurSide = 10

// blurred is a ThumbHash as an address that holds the picture itself; empty for what
// is none, and where it would shine through the thumbnail. A bitmap, since a few hundred bytes are not worth a compressor each.
func blurred(hash []byte) string {
	img := picture.Blur(hash, blurSide)
	var b bytes.Buffer
	if img == nil || !img.Opaque() || bmp.Encode(&b, img) != nil {
		return ""
	}
	return "data:image/bmp;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

// standingOf says where an asset stands that is not ready. One that waits for the
// scanner is not yet scanned, whatever the reason.
func standingOf(a db.Asset) library.Standing {
	if a.State == db.MediaReady {
		return library.Standing{}
	}
	s := library.Standing{State: string(a.State), Say: a.Reason, Progress: a.Progress, Moves: a.State.OnItsWay()}
	if a.State == db.MediaScanning {
		s.Words = "Being checked"
		if a.Reason != "" {
			s.State, s.Words = "waiting", "Not yet scanned"
		}
	}
	return s
}
