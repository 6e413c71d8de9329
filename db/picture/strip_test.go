package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"strings"
	"testing"
)

func strip(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := StripVideo(t.Context(), bytes.NewReader(b), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// mp4Box is a box with a body of others, or of bytes.
func mp4Box(name string, body ...[]byte) []byte {
	b := append([]byte(name), bytes.Join(body, nil)...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b)+4)), b...)
}

// addToMoov puts a box at the end of a file's movie box, which has to be last.
func addToMoov(t *testing.T, b, extra []byte) []byte {
	t.Helper()
	at := bytes.LastIndex(b, []byte("moov")) - 4
	size := binary.BigEndian.Uint32(b[at:])
	if at+int(size) != len(b) {
		t.Fatal("the movie box is not last")
	}
	out := append(append([]byte{}, b...), extra...)
	binary.BigEndian.PutUint32(out[at:], size+uint32(len(extra)))
	return out
}

func TestVideosLoseWhatTheyTellAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"landscape.mp4", "rotated.mp4", "fragmented.mp4"} {
		b := file(t, name)
		b = append(b, mp4Box("uuid", []byte("sixteen bytes idXMP +52.52+013.40/"))...)
		before, err := Inspect(t.Context(), bytes.NewReader(b), Standard())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := strip(t, b)
		if len(got) != len(b) {
			t.Errorf("%s: %d bytes, had %d: indexes no longer fit", name, len(got), len(b))
		}
		for _, word := range []string{"+52.52", "Lavf", "VideoHandler", "udta"} {
			if bytes.Contains(got, []byte(word)) {
				t.Errorf("%s still says %s", name, word)
			}
		}
		after, err := Inspect(t.Context(), bytes.NewReader(got), Standard())
		if err != nil || after != before {
			t.Errorf("%s: %+v, %v, was %+v", name, after, err, before)
		}
	}
}

func TestAPlaceTrackIsNotLetThrough(t *testing.T) {
	t.Parallel()
	hdlr := mp4Box("hdlr", make([]byte, 8), []byte("meta"), make([]byte, 12), []byte("GPS\x00"))
	b := addToMoov(t, moovLast(t), mp4Box("trak", mp4Box("mdia", hdlr)))
	err := StripVideo(t.Context(), bytes.NewReader(b), &bytes.Buffer{})
	wantRefusal(t, err, "more than picture and sound")
}

// moovLast is a video whose movie box ends the file.
func moovLast(t *testing.T) []byte {
	t.Helper()
	b := file(t, "landscape.mp4")
	at := bytes.LastIndex(b, []byte("moov")) - 4
	size := int(binary.BigEndian.Uint32(b[at:]))
	// The movie box is copied to the end; where it was is free space.
	out := append(append([]byte{}, b...), b[at:at+size]...)
	copy(out[at+4:], "free")
	return out
}

// FuzzVideo: whatever the bytes, measuring and stripping end, and what is stripped
// has its length.
// FuzzStripGIF: what is left is a GIF of the same frames.
func FuzzStripGIF(f *testing.F) {
	f.Add(asGIF(f, 1, image.Rect(0, 0, 48, 32)))
	f.Add(asGIF(f, 3, image.Rect(8, 8, 40, 24)))
	f.Fuzz(func(t *testing.T, b []byte) {
		before, err := Inspect(t.Context(), bytes.NewReader(b), Standard())
		if err != nil || before.Type != GIF {
			return
		}
		var out bytes.Buffer
		if err := StripGIF(t.Context(), bytes.NewReader(b), &out); err != nil {
			t.Fatal(err)
		}
		if after, err := Inspect(t.Context(), bytes.NewReader(out.Bytes()), Standard()); err != nil || after != before || out.Len() > len(b) {
			t.Errorf("%+v became %+v, %v", before, after, err)
		}
	})
}

func FuzzVideo(f *testing.F) {
	for _, name := range []string{"landscape.mp4", "fragmented.mp4"} {
		f.Add(file(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := Inspect(context.Background(), bytes.NewReader(b), Standard())
		if err != nil && strings.Contains(err.Error(), "panicked") {
			t.Error(err)
		}
		var out bytes.Buffer
		err = StripVideo(context.Background(), bytes.NewReader(b), &out)
		if err == nil && out.Len() != len(b) {
			t.Errorf("%d bytes became %d", len(b), out.Len())
		}
		if err != nil && strings.Contains(err.Error(), "panicked") {
			t.Error(err)
		}
	})
}
