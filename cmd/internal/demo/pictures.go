package demo

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"image"
	"image/jpeg"
	"runtime"
	"slices"

	"golang.org/x/image/draw"

	"herald/db"
	"herald/db/blob"
	"herald/db/network"
	"herald/db/picture"
)

var themes = map[string]picture.Theme{"kornblume": picture.Bakery, "mare": picture.Coast, "hemlock": picture.Forest}

// sheet names one picture of one client.
type sheet struct {
	client string
	painting
}

// proof is a picture as a file, with its small copy.
type proof struct {
	file, thumb   []byte
	blur          []byte // a ThumbHash
	width, height int
	err           error
}

// album is the demo's pictures, painted in the background from the moment it is
// made, in the order in which they are wanted.
type album map[sheet]chan proof

// paintAlbum begins to paint every picture of the drafts, until ctx ends.
func paintAlbum(ctx context.Context, drafts []draft) album {
	a := album{}
	var order []sheet
	byDay := slices.Clone(drafts)
	slices.SortStableFunc(byDay, func(a, b draft) int { return cmp.Compare(a.Written, b.Written) })
	for _, d := range byDay {
		for _, p := range d.Pictures {
			if s := (sheet{d.Client, p}); a[s] == nil {
				a[s] = make(chan proof, 1)
				order = append(order, s)
			}
		}
	}
	next := make(chan sheet)
	go func() {
		defer close(next)
		for _, s := range order {
			select {
			case next <- s:
			case <-ctx.Done():
				return
			}
		}
	}()
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for s := range next {
				a[s] <- paint(s)
			}
		}()
	}
	return a
}

// The sizes and qualities of what uploads become.
const (
	fileQuality  = 90
	thumbQuality = 82
	thumbSide    = 640
	blurSide     = 60
)

func paint(s sheet) (p proof) {
	size := shapes[s.shape]
	p.width, p.height = size[0], size[1]
	whole := picture.Paint(themes[s.client], s.seed, p.width, p.height)
	small := reduce(whole, thumbSide)
	p.blur = picture.Hash(reduce(small, blurSide))
	p.file, p.err = encode(whole, fileQuality)
	if p.err == nil {
		p.thumb, p.err = encode(small, thumbQuality)
	}
	return p
}

// reduce makes a picture small, so that its longer side is side.
func reduce(img image.Image, side int) image.Image {
	b := img.Bounds()
	longer := max(b.Dx(), b.Dy())
	small := image.NewRGBA(image.Rect(0, 0, b.Dx()*side/longer, b.Dy()*side/longer))
	draw.ApproxBiLinear.Scale(small, small.Bounds(), img, b, draw.Src, nil)
	return small
}

func encode(img image.Image, quality int) ([]byte, error) {
	var file bytes.Buffer
	err := jpeg.Encode(&file, img, &jpeg.Options{Quality: quality})
	return file.Bytes(), err
}

// take waits for a picture. It can be taken once.
func (a album) take(ctx context.Context, s sheet) (proof, error) {
	ready, ok := a[s]
	if !ok {
		return proof{}, fmt.Errorf("picture %d of %s is not in the album", s.seed, s.client)
	}
	select {
	case p := <-ready:
		return p, p.err
	case <-ctx.Done():
		return proof{}, ctx.Err()
	}
}

// hang puts a picture into the client's library, as an upload would; the same
// picture again is the same asset.
func (h *history) hang(ctx context.Context, scope *db.Scope, s sheet) (a db.Asset, err error) {
	h.hung.Lock()
	a, ok := h.assets[s]
	h.hung.Unlock()
	if ok {
		return a, nil
	}
	p, err := h.album.take(ctx, s)
	if err != nil {
		return a, err
	}
	sum := sha256.Sum256(p.file)
	a = db.Asset{
		ClientID: h.clients[s.client].ID, State: "ready", Kind: network.Image, Type: string(picture.JPEG), Sha256: sum[:],
		Name: fmt.Sprintf("%s-%02d-%s.jpg", themes[s.client], s.seed, s.shape), Width: p.width, Height: p.height, Bytes: int64(len(p.file)), Placeholder: p.blur,
	}
	if a.Path, err = h.put(ctx, scope, p.file); err != nil {
		return a, err
	}
	if a.ThumbPath, err = h.put(ctx, scope, p.thumb); err != nil {
		return a, err
	}
	words := picture.Describe(themes[s.client], s.seed)
	if s.seed%9 != 0 { // some are yet to be described, as in every library
		a.Alt = words
	}
	if a, _, err = scope.AddMedia(ctx, a); err != nil {
		return a, err
	}
	a.Alt = words
	h.hung.Lock()
	defer h.hung.Unlock()
	h.assets[s] = a
	return a, nil
}

func (h *history) put(ctx context.Context, scope *db.Scope, data []byte) (string, error) {
	key := blob.Key(int64(scope.Actor.Tenant), h.clock.Now(), picture.JPEG.Ext())
	_, err := h.blobs.Put(ctx, key, bytes.NewReader(data), blob.Options{Size: int64(len(data))})
	return key, err
}
