package desk_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"herald/db/blob"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// upload sends files with the form of a new post and returns the page.
func (s *studio) upload(t *testing.T, form url.Values, files ...file) answer {
	t.Helper()
	form.Set("do", "upload")
	return s.post(t, s.owner, "/w/north/media", form, files...)
}

func picked(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../db/picture/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// eicar is the harmless test virus, in two pieces.
func eicar() string {
	return `X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR-` + `STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`
}

// bomb is a small PNG that says it is enormous.
func bomb() []byte {
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	head := make([]byte, 17)
	copy(head, "IHDR")
	binary.BigEndian.PutUint32(head[4:], 60_000)
	binary.BigEndian.PutUint32(head[8:], 60_000)
	head[12], head[13] = 8, 6
	_ = binary.Write(&b, binary.BigEndian, uint32(13))
	b.Write(head)
	_ = binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE(head))
	return b.Bytes()
}

// storedFiles counts the files in the store.
func (s *studio) storedFiles(t *testing.T) (n int) {
	t.Helper()
	keys := dbtest.Look[[]string](t, s.World, s.agency.Shard, `SELECT coalesce(array_agg(k), '{}') FROM (SELECT path AS k FROM tenant.media UNION SELECT thumb_path FROM tenant.media WHERE thumb_path <> '') all_files`)
	for _, key := range keys {
		if _, err := s.blobs.Stat(t.Context(), key); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		n++
	}
	return n
}

func TestPicturesAndVideosAreAttachedWithoutScript(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	form.Set("text", "Typed before the upload")
	page := s.upload(t, form, file{"a.jpg", photo(t, 300, 200, 90)}, file{"b.webp", picked(t, "lossy.webp")}, file{"c.mp4", picked(t, "landscape.mp4")}).
		want(t, 200, "300 × 200, JPEG", "c.mp4")
	form = page.form(t)
	if form.Get("text") != "Typed before the upload" || len(form["media"]) != 3 {
		t.Fatalf("form %v", form)
	}
	form.Set("alt."+form["media"][0], "A loaf")
	form.Set("do", "up:"+form["media"][1])
	moved := s.post(t, s.owner, "/w/north/posts/form", form).want(t, 200).form(t)
	if moved["media"][0] != form["media"][1] || moved.Get("alt."+form["media"][0]) != "A loaf" {
		t.Errorf("after moving: %v", moved)
	}
	moved.Set("do", "remove:"+form["media"][2])
	left := s.post(t, s.owner, "/w/north/posts/form", moved).want(t, 200).form(t)
	id, page := s.saved(t, s.send(t, left, "save"))
	media := s.stored(t, id).Version.Content.Media
	if len(media) != 2 || fmt.Sprint(int64(media[0].ID)) != form["media"][1] || media[1].Alt != "A loaf" || media[1].SHA256 == "" {
		t.Errorf("stored %+v", media)
	}
	if kept := page.form(t); len(kept["media"]) != 2 || s.storedFiles(t) != 6 {
		t.Errorf("opened again with %v, %d files stored", kept["media"], s.storedFiles(t))
	}
	types := dbtest.Look[[]string](t, s.World, s.agency.Shard, `SELECT array_agg(type ORDER BY id) FROM tenant.media`)
	if fmt.Sprint(types) != "[image/jpeg image/jpeg video/mp4]" {
		t.Errorf("types %v: a WebP is published as what networks take", types)
	}
}

func TestFilesThatComeWithSavingAreAttachedToo(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	id, _ := s.saved(t, s.send(t, s.fresh(t), "save", file{"a.jpg", photo(t, 30, 20, 90)}))
	if m := s.stored(t, id).Version.Content.Media; len(m) != 1 {
		t.Errorf("attached %v", m)
	}
}

func TestRefusedFilesSayTheRuleAndLoseNothing(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	jpg := photo(t, 300, 200, 90)
	for name, c := range map[string]struct {
		file file
		say  string
	}{
		"bomb":      {file{"big.png", bomb()}, "big.png: This picture is 60,000 × 60,000 pixels"},
		"cut short": {file{"half.jpg", jpg[:len(jpg)/2]}, "half.jpg: This picture is cut short"},
		"mislabelled": {file{"photo.jpg", []byte("<!doctype html><script>alert(1)</script>")},
			"“photo.jpg” is a web page (HTML), whatever its name says."},
		"pdf":       {file{"plan.pdf", []byte("%PDF-1.7 ...")}, "PDF is cut short"},
		"empty":     {file{"none.png", nil}, "is empty"},
		"virus":     {file{"test.jpg", []byte(eicar())}, "test.jpg: This file was refused by the virus check"},
		"virus far": {file{"far.jpg", append(append(bytes.Clone(jpg), make([]byte, 131_100-len(jpg))...), eicar()...)}, "far.jpg: This file was refused by the virus check"},
		"too large": {file{"huge.jpg", append(bytes.Clone(jpg), make([]byte, uploadLimit)...)}, "huge.jpg: This file has 2.0 MB; the limit is 2.0 MB."},
		"animated":  {file{"gif.webp", picked(t, "animated.webp")}, "gif.webp: This picture is animated"},
	} {
		form := s.fresh(t)
		form.Set("notes", "typed")
		page := s.upload(t, form, c.file, file{"good.jpg", jpg})
		page.want(t, 422, "One file was not taken", c.say)
		if got := page.form(t); got.Get("notes") != "typed" || len(got["media"]) != 1 {
			t.Errorf("%s: lost %v", name, got)
		}
	}
	if n := s.count(t, "media"); n != 1 {
		t.Errorf("%d assets, want the good one once", n)
	}
	page := s.send(t, s.fresh(t), "publish", file{"none.png", []byte("nonsense")}).want(t, 422, "One file was not taken")
	if s.count(t, "posts") != 0 || page.form(t).Get("text") != "Fresh bread from seven" {
		t.Error("it was saved without the file")
	}
}

func TestAFullDiskLosesNothingThatWasTyped(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.blobs.fail(fmt.Errorf("put media: %w", blob.ErrFull))
	form := s.fresh(t)
	form.Set("notes", "typed")
	page := s.upload(t, form, file{"a.jpg", photo(t, 300, 200, 90)}).want(t, 422, "One file was not taken", "a.jpg: There is no room left where files are kept.")
	if got := page.form(t); got.Get("notes") != "typed" || s.count(t, "media") != 0 {
		t.Errorf("form %v, %d assets", got, s.count(t, "media"))
	}
	s.blobs.heal()
	s.upload(t, form, file{"a.jpg", photo(t, 300, 200, 90)}).want(t, 200, "300 × 200, JPEG")
}

func TestABodyBeyondAllBoundsIsRefused(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	var files []file
	for i := range 10 {
		files = append(files, file{fmt.Sprintf("%d.jpg", i), make([]byte, uploadLimit-1)})
	}
	s.upload(t, s.fresh(t), files...).want(t, 413, "These files are more than")
	form := s.fresh(t)
	form.Set("text", strings.Repeat("x", 9<<20))
	s.send(t, form, "save").want(t, 413, "That is more than one form can hold.")
	form.Set("text", strings.Repeat("x", 300_000))
	s.send(t, form, "save").want(t, 422, "Nothing was saved yet", "no network takes so much")
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "herald-upload-*")); len(left) > 40 {
		t.Errorf("%d temporary files left", len(left))
	}
}

func TestTheSameFileIsKeptOncePerClient(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	jpg := photo(t, 300, 200, 90)
	one := s.upload(t, s.fresh(t), file{"a.jpg", jpg}).want(t, 200).form(t)
	two := s.upload(t, s.fresh(t), file{"b.jpg", jpg}).want(t, 200, "“b.jpg” was in the client's library already, so that file is used.").form(t)
	if one.Get("media") == "" || one.Get("media") != two.Get("media") || s.count(t, "media") != 1 || s.storedFiles(t) != 2 {
		t.Errorf("%v and %v, %d assets", one["media"], two["media"], s.count(t, "media"))
	}
	other := s.agency.Client(t, "forest")
	form := s.fresh(t)
	form.Set("account", fmt.Sprint(int64(s.agency.Account(t, other, network.Webhook))))
	form.Set("owner", fmt.Sprint(int64(other)))
	if theirs := s.upload(t, form, file{"a.jpg", jpg}).want(t, 200).form(t); theirs.Get("media") == one.Get("media") || s.count(t, "media") != 2 {
		t.Errorf("two clients share an asset")
	}
}

func TestTheSameFileFromFourUploadsAtOnceIsKeptOnce(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	form.Set("do", "upload")
	jpg := photo(t, 300, 200, 91)
	defer s.develop(t)()
	var wg sync.WaitGroup
	for range 4 {
		r := s.request(t, "/w/north/media", form, file{"a.jpg", jpg})
		wg.Go(func() {
			if a := s.do(t, s.owner, r); a.status != 200 {
				t.Errorf("status %d: %.300s", a.status, a.body)
			}
		})
	}
	wg.Wait()
	if s.count(t, "media") != 1 || s.storedFiles(t) != 2 {
		t.Errorf("%d assets", s.count(t, "media"))
	}
}

func TestAFileOfAnotherClientIsNotTakenIntoAPost(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	other := s.agency.Client(t, "forest")
	form := s.fresh(t)
	form.Set("account", fmt.Sprint(int64(s.agency.Account(t, other, network.Webhook))))
	theirs := s.upload(t, form, file{"a.jpg", photo(t, 30, 20, 3)}).form(t).Get("media")
	form = s.fresh(t)
	form.Set("media", theirs)
	s.send(t, form, "save").want(t, 422, "A file belongs to a client that this post does not go to.")
	form.Set("do", "refresh")
	s.post(t, s.owner, "/w/north/posts/check", form).want(t, 200, "A file belongs to a client that this post does not go to.")
}

func TestUploadsKeepToRoleAndQuota(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.Super(t, s.agency.Shard, `UPDATE tenant.tenants SET media_bytes = 100`)
	s.upload(t, s.fresh(t), file{"a.jpg", photo(t, 30, 20, 3)}).want(t, 422, "The workspace's storage is full")
	s.Super(t, s.agency.Shard, `UPDATE tenant.tenants SET media_bytes = NULL`)
	writes := []model.Permission{model.PostsView, model.PostsWrite, model.MediaView}
	other := s.agency.Client(t, "forest")
	s.owner = s.signIn(t, s.agency.Member(t, model.Editor, map[model.ClientID][]model.Permission{s.client: writes, other: {model.PostsView, model.MediaView, model.MediaWrite}}))
	s.upload(t, s.fresh(t), file{"a.jpg", photo(t, 30, 20, 3)}).want(t, 422, "You may not upload files for the clients of this post.")
	if s.count(t, "media") != 0 {
		t.Error("it was taken")
	}
}

func TestHTMXGetsThePartsThatChanged(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	defer s.develop(t)()
	form := s.fresh(t)
	form.Set("do", "upload")
	r := s.request(t, "/w/north/media", form, file{"a.jpg", photo(t, 30, 20, 3)})
	r.Header.Set("HX-Request", "true")
	a := s.do(t, s.owner, r)
	if !strings.HasPrefix(a.body, `<hx-partial hx-target="#composer-networks"`) && !strings.Contains(a.body, `<section class="composer-section composer-media" id="composer-media"`) || strings.Contains(a.body, "<html") {
		t.Errorf("answer: %.400s", a.body)
	}
	a.want(t, http.StatusOK, "a.jpg")
}
