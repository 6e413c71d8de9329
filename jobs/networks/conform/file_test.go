package conform

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"herald/db/model"
	"herald/db/network"
	"herald/db/picture/picturetest"
	"herald/jobs/networks"
)

// stuff is a file and what is known about it.
type stuff struct {
	network.Media
	data []byte
	name string
}

// sample is a small real file of a type. Where nothing here can write a type,
// it is the type's header, which is what networks tell types by.
func sample(mime string) stuff {
	switch kind, _, _ := strings.Cut(mime, "/"); kind {
	case "video":
		return film(mime, 1080, 1920, 10*time.Second)
	case "application":
		return leaflet(3)
	default:
		return photo(mime, 400, 400)
	}
}

// leaflet is a PDF of so many pages.
func leaflet(pages int) stuff {
	b := picturetest.Leaflet(pages, 612, 792)
	return stuff{network.Media{Kind: network.Document, Type: "application/pdf", Bytes: int64(len(b)), Width: 612, Height: 792, Frames: int64(pages)}, b, fmt.Sprintf("%d.pdf", pages)}
}

var photos sync.Map // encoding is slow under the race detector

func photo(mime string, wide, high int) stuff {
	name := fmt.Sprintf("%dx%d.%s", wide, high, strings.TrimPrefix(mime, "image/"))
	data, ok := photos.Load(name)
	if !ok {
		data, _ = photos.LoadOrStore(name, drawn(mime, wide, high))
	}
	b := data.([]byte)
	return stuff{network.Media{Kind: network.Image, Type: mime, Bytes: int64(len(b)), Width: wide, Height: high}, b, name}
}

func drawn(mime string, wide, high int) []byte {
	m := image.NewRGBA(image.Rect(0, 0, wide, high))
	for i := range min(wide, high) {
		m.Set(i, i, color.RGBA{200, uint8(i), 90, 255})
	}
	var b bytes.Buffer
	var err error
	switch mime {
	case "image/jpeg":
		err = jpeg.Encode(&b, m, nil)
	case "image/png":
		err = png.Encode(&b, m)
	case "image/gif":
		err = gif.Encode(&b, m, nil)
	case "image/bmp":
		err = bmp.Encode(&b, m)
	case "image/tiff":
		err = tiff.Encode(&b, m, nil)
	case "image/webp":
		return webp(wide, high)
	default: // heic, heif, avif
		brand := map[string]string{"image/heic": "heic", "image/heif": "mif1", "image/avif": "avif"}[mime]
		return append(box("ftyp", []byte(brand+"\x00\x00\x00\x00"+brand)), box("meta", make([]byte, 64))...)
	}
	if err != nil {
		panic(err)
	}
	return b.Bytes()
}

// webp is the header of a lossless picture; nobody here looks further.
func webp(wide, high int) []byte {
	bits := uint32(wide-1) | uint32(high-1)<<14
	body := append([]byte{0x2f}, binary.LittleEndian.AppendUint32(nil, bits)...)
	body = append(body, make([]byte, 11)...)
	riff := append([]byte("WEBPVP8L"), binary.LittleEndian.AppendUint32(nil, uint32(len(body)))...)
	riff = append(riff, body...)
	return append(append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(riff)))...), riff...)
}

// film is a video whose header says how large and how long it is.
func film(mime string, wide, high int, long time.Duration) stuff {
	s := stuff{Media: network.Media{Kind: network.Video, Type: mime, Width: wide, Height: high, Duration: long}}
	s.name = fmt.Sprintf("%dx%d-%s.%s", wide, high, long, strings.TrimPrefix(mime, "video/"))
	switch mime {
	case "video/mp4":
		s.data = movie("isom", wide, high, long)
	case "video/quicktime":
		s.data = movie("qt  ", wide, high, long)
	case "video/webm":
		s.data = append([]byte("\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm"), make([]byte, 4000)...)
	case "video/ogg":
		s.data = append([]byte("OggS\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x2a\x80theora"), make([]byte, 4000)...)
	}
	s.Bytes = int64(len(s.data))
	return s
}

func box(name string, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8)), name...), body...)
}

// words are big-endian 32-bit numbers.
func words(list ...int) (b []byte) {
	for _, n := range list {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// movie is an MP4 or QuickTime file with one video track: every box that readers
// ask for, and one sample.
func movie(brand string, wide, high int, long time.Duration) []byte {
	ms := int(long.Milliseconds())
	matrix := words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
	mvhd := box("mvhd", words(0, 0, 0, 1000, ms, 0x10000, 0x01000000, 0, 0), matrix, make([]byte, 24), words(2))
	tkhd := box("tkhd", words(3, 0, 0, 1, 0, ms, 0, 0, 0, 0), matrix, words(wide<<16, high<<16))
	mdhd := box("mdhd", words(0, 0, 0, 1000, ms, 0x55c40000))
	hdlr := box("hdlr", words(0, 0), []byte("vide"), make([]byte, 12), []byte("video\x00"))
	avcC := box("avcC", []byte{1, 66, 0, 30, 0xff, 0xe0, 0})
	avc1 := box("avc1", words(0, 1, 0, 0, 0, 0), words(wide<<16|high, 0x480000, 0x480000, 0, 0x10000), make([]byte, 30), []byte{0, 24, 0xff, 0xff}, avcC)
	sample := bytes.Repeat([]byte{0, 0, 0, 12, 0x65, 0x88, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0}, 200)
	stbl := box("stbl", box("stsd", words(0, 1), avc1), box("stts", words(0, 1, 1, ms)), box("stsc", words(0, 1, 1, 1, 1)),
		box("stsz", words(0, len(sample), 1)), box("stco", words(0, 1, 0)))
	minf := box("minf", box("vmhd", words(1, 0, 0)), box("dinf", box("dref", words(0, 1), box("url ", words(1)))), stbl)
	moov := box("moov", mvhd, box("trak", tkhd, box("mdia", mdhd, hdlr, minf)))
	return bytes.Join([][]byte{box("ftyp", []byte(brand), words(0x200), []byte(brand+"mp41")), moov, box("mdat", sample)}, nil)
}

// store serves the suite's files as Herald serves signed media: only under the
// right signature.
type store struct {
	once  sync.Once
	srv   *httptest.Server
	mu    sync.Mutex
	files map[string]stuff
}

var shared = &store{files: map[string]stuff{}}

const signature = "sig=4b1d9c77e0aa5f3c21"

func (s *store) open() *httptest.Server {
	s.once.Do(func() { s.srv = httptest.NewServer(http.HandlerFunc(s.serve)) })
	return s.srv
}

func (s *store) close() {
	if s.srv != nil {
		s.srv.Close()
	}
}

func (s *store) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	f, ok := s.files[strings.TrimPrefix(r.URL.Path, "/")]
	s.mu.Unlock()
	if !ok || r.URL.RawQuery != signature {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", f.Type)
	w.Header().Set("Content-Length", strconv.FormatInt(f.Bytes, 10))
	if r.Method != http.MethodHead {
		_, _ = io.Copy(w, f.reader())
	}
}

// reader gives the file, with zeros behind it up to the size that it says.
func (f stuff) reader() io.Reader {
	return io.MultiReader(bytes.NewReader(f.data), io.LimitReader(zeros{}, f.Bytes-int64(len(f.data))))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// file makes a file part of a post: by its address and by its bytes.
func (w *world) file(f stuff) networks.Media {
	srv := shared.open()
	path := fmt.Sprintf("%d-%s", f.Bytes, f.name)
	shared.mu.Lock()
	shared.files[path] = f
	shared.mu.Unlock()
	return networks.Media{
		Media: f.Media, ID: model.MediaID(1), Name: f.name, URL: srv.URL + "/" + path + "?" + signature,
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(f.reader()), nil },
	}
}

func TestTheSuitesFilesAreWhatTheySay(t *testing.T) {
	t.Parallel()
	for _, mime := range []string{"image/jpeg", "image/png", "image/gif", "image/bmp", "image/tiff"} {
		got, _, err := image.DecodeConfig(bytes.NewReader(photo(mime, 40, 30).data))
		if err != nil || got.Width != 40 || got.Height != 30 {
			t.Errorf("%s: %+v, %v", mime, got, err)
		}
	}
}
