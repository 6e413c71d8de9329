package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	_ "golang.org/x/image/webp"
)

// blob is a file that a network got.
type blob struct {
	kind          string // image, video, audio or file
	mime          string // sniffed
	size          int64
	width, height int           // of an image or a film whose header can be read, else 0
	long          time.Duration // of a film whose header can be read, else 0
	data          []byte        // the whole file, or its first part if it is large
}

// keptPart is how much of one file is kept for the pages.
const keptPart = 48 << 20

// sorted sniffs what data is.
func sorted(data []byte, size int64) blob {
	b := blob{kind: "file", mime: http.DetectContentType(data), size: size, data: data}
	if len(data) > 12 && string(data[4:8]) == "ftyp" {
		b.mime = map[string]string{
			"qt  ": "video/quicktime", "heic": "image/heic", "heix": "image/heic", "mif1": "image/heif",
			"avif": "image/avif", "M4A ": "audio/mp4",
		}[string(data[8:12])]
		if b.mime == "" {
			b.mime = "video/mp4"
		}
	}
	switch head := string(data[:min(len(data), 64)]); {
	case strings.HasPrefix(head, "II*\x00"), strings.HasPrefix(head, "MM\x00*"):
		b.mime = "image/tiff"
	case b.mime == "application/ogg" && strings.Contains(head, "theora"):
		b.mime = "video/ogg"
	case b.mime == "application/ogg":
		b.mime = "audio/ogg"
	}
	if kind, _, _ := strings.Cut(b.mime, "/"); kind == "image" || kind == "video" || kind == "audio" {
		b.kind = kind
	}
	if b.kind == "video" {
		b.width, b.height, b.long = film(data)
	}
	if b.kind == "image" {
		if conf, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
			b.width, b.height = conf.Width, conf.Height
		}
	}
	return b
}

// whole says whether an image file is all there, as far as its ends tell.
func (b blob) whole() bool {
	switch b.mime {
	case "image/jpeg":
		return b.width > 0 && bytes.HasSuffix(bytes.TrimRight(b.data, "\x00"), []byte{0xff, 0xd9})
	case "image/png":
		return b.width > 0 && bytes.Contains(b.data[max(0, len(b.data)-16):], []byte("IEND"))
	case "image/gif", "image/webp":
		return b.width > 0
	}
	return b.size > 0
}

// several says whether a JPEG holds more than one picture (MPO).
func (b blob) several() bool {
	return b.mime == "image/jpeg" && bytes.Contains(b.data[:min(len(b.data), 64<<10)], []byte("MPF\x00"))
}

// mediaStore keeps files for the pages, and drops the oldest when it is full.
type mediaStore struct {
	limit int64

	mu    sync.Mutex
	total int64
	files map[string]blob
	order []string
}

func newMediaStore(limit int64) *mediaStore {
	return &mediaStore{limit: limit, files: map[string]blob{}}
}

func (m *mediaStore) put(id string, b blob) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[id] = b
	m.order = append(m.order, id)
	m.total += int64(len(b.data))
	for m.total > m.limit && len(m.order) > 1 {
		m.total -= int64(len(m.files[m.order[0]].data))
		delete(m.files, m.order[0])
		m.order = m.order[1:]
	}
}

func (m *mediaStore) get(id string) (blob, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.files[id]
	return b, ok
}

// keepMedia stores a file and returns it as part of a post.
func (c *call) keepMedia(b blob, alt string) Media {
	id := strconv.FormatInt(c.sim.next(), 36)
	c.st.media.put(id, b)
	return Media{Kind: b.kind, Type: b.mime, Alt: alt, Bytes: b.size, path: "/_media/" + id}
}

// errFetch says that an address gave no file.
var errFetch = errors.New("the media could not be fetched")

// pull gets a file as the networks do that take an address. More than limit
// bytes are counted no further, and not read at all if they are announced.
func (c *call) pull(address string, limit int64) (blob, error) {
	if !webAddress(address) {
		return blob{}, fmt.Errorf("%w: %q is no web address", errFetch, address)
	}
	ctx, stop := context.WithCancel(c.r.Context())
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return blob{}, fmt.Errorf("%w: %v", errFetch, err)
	}
	req.Header.Set("User-Agent", "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)")
	resp, err := c.sim.opts.Fetch.Do(req)
	if err != nil {
		return blob{}, errFetch
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return blob{}, fmt.Errorf("%w: it answered %d", errFetch, resp.StatusCode)
	}
	if resp.ContentLength > limit { // its head says what it is, and its length that it is too large
		head, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		return sorted(head, resp.ContentLength), err
	}
	return readBlob(resp.Body, resp.ContentLength, limit)
}

// readBlob reads a file, of which it keeps the first part.
func readBlob(body io.Reader, announced, limit int64) (blob, error) {
	data, err := io.ReadAll(io.LimitReader(body, min(keptPart, limit+1)))
	if err != nil {
		return blob{}, errFetch
	}
	rest, err := io.Copy(io.Discard, io.LimitReader(body, limit+1))
	if err != nil {
		return blob{}, errFetch
	}
	size := int64(len(data)) + rest
	if announced > size && size <= limit {
		return blob{}, fmt.Errorf("%w: it ended early", errFetch)
	}
	return sorted(data, size), nil
}

// webAddress says whether s is an absolute http or https address.
func webAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// numberOf makes a number of seventeen digits or less from a text, always the same.
func numberOf(text string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return strconv.FormatUint(h.Sum64()%1e17+1e16, 10)
}
