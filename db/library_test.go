package db_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// shelf is an agency with one client, whose library a test fills.
type shelf struct {
	*house
	n int
}

func newShelf(t *testing.T) *shelf { return &shelf{house: newHouse(t, dbtest.SecondShard)} }

// put adds a ready picture.
func (s *shelf) put(t *testing.T, name string, width, height int) model.MediaID {
	t.Helper()
	s.n++
	sum := sha256.Sum256(fmt.Appendf(nil, "picture %d", s.n))
	a, again, err := s.Owner.AddMedia(t.Context(), db.Asset{ClientID: s.client, State: db.MediaReady, Kind: network.Image, Type: "image/jpeg", Name: name,
		Path: "x.jpg", Sha256: sum[:], Bytes: 1000, Width: width, Height: height})
	if err != nil || again {
		t.Fatalf("add %s: again %v, %v", name, again, err)
	}
	return a.ID
}

func (s *shelf) list(t *testing.T, f db.LibraryFilter) []string {
	t.Helper()
	page, err := s.Owner.Library(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, a := range page.Assets {
		names = append(names, a.Name)
	}
	return names
}

func wantNames(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestLibraryIsFoundByNameAltTextAndTag(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	bread, cake := s.put(t, "IMG_Brot-04.jpg", 10, 10), s.put(t, "cake.jpg", 10, 10)
	s.put(t, "東京タワー.png", 10, 10)
	if err := s.Owner.DescribeMedia(t.Context(), cake, 1, db.MediaWords{Name: "cake.jpg", Alt: "Ein Käsekuchen auf dem Tisch"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Owner.TagMedia(t.Context(), []model.MediaID{bread, cake}, []string{" #Summer  Campaign ", "food"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Owner.TagMedia(t.Context(), []model.MediaID{cake}, nil, []string{"FOOD"}); err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string][]string{
		"brot":              {"IMG_Brot-04.jpg"},
		"BRO 4":             {},
		"bro 04":            {"IMG_Brot-04.jpg"},
		"käse":              {"cake.jpg"},
		"camp":              {"cake.jpg", "IMG_Brot-04.jpg"},
		"タワー":               {"東京タワー.png"},
		"rot":               {},
		"%":                 {},
		"cake'; DROP":       {},
		"tisch CAKE":        {"cake.jpg"},
		"  ":                {"東京タワー.png", "cake.jpg", "IMG_Brot-04.jpg"},
		"käse\u202eliam":    {},
		"\U0010FFFFnothing": {},
	} {
		wantNames(t, words, s.list(t, db.LibraryFilter{Words: words}), want...)
	}
	wantNames(t, "by tag", s.list(t, db.LibraryFilter{Tags: []string{"food"}}), "IMG_Brot-04.jpg")
	wantNames(t, "by part of a tag", s.list(t, db.LibraryFilter{Tags: []string{"foo"}}))
	tags, err := s.Owner.Tags(t.Context(), s.client)
	if want := []db.Tag{{"food", 1}, {"summer campaign", 2}}; err != nil || !slices.Equal(tags, want) {
		t.Errorf("tags: %v, %v, want %v", tags, err, want)
	}
}

func TestLibraryPagesByKey(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for i := range 7 { // all at one instant, and names that differ in case alone
		s.put(t, fmt.Sprintf("%c%d.jpg", "aB"[i%2], i/2), 10, 10)
	}
	for order, want := range map[db.LibraryOrder]string{
		db.NewestFirst: "a3 B2 a2 B1 a1 B0 a0",
		db.OldestFirst: "a0 B0 a1 B1 a2 B2 a3",
		db.ByName:      "a0 a1 a2 a3 B0 B1 B2",
	} {
		f, got := db.LibraryFilter{Order: order, Limit: 3}, []string{}
		for pages := 1; ; pages++ {
			page, err := s.Owner.Library(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range page.Assets {
				got = append(got, strings.TrimSuffix(a.Name, ".jpg"))
			}
			if f.After = page.Next; f.After == "" || pages > 3 {
				break
			}
		}
		wantNames(t, string(order), got, strings.Fields(want)...)
	}
	if _, err := s.Owner.Library(t.Context(), db.LibraryFilter{After: "eyJpIjo"}); err == nil {
		t.Error("half an address was taken")
	}
}

func TestLibraryFiltersByShapeFolderAndUse(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	wide, tall, even := s.put(t, "wide", 300, 200), s.put(t, "tall", 200, 300), s.put(t, "even", 1000, 990)
	folder, err := s.Owner.AddFolder(t.Context(), s.client, nil, " Summer\u200b 2026 ")
	if err != nil || folder.Name != "Summer 2026" {
		t.Fatalf("folder: %+v, %v", folder, err)
	}
	if err := s.Owner.MoveMedia(t.Context(), []model.MediaID{tall}, &folder.ID); err != nil {
		t.Fatal(err)
	}
	save := func(id model.PostID, seen int, ids ...model.MediaID) db.PostPage {
		form := newPost(s.account, ids...)
		form.Seen = seen
		page, err := s.Owner.SavePost(t.Context(), id, form)
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	draft := save(0, 0, wide, even)
	save(draft.Post.ID, draft.Post.Revision, wide) // the square one was taken out again
	wantNames(t, "landscape", s.list(t, db.LibraryFilter{Shape: db.Landscape}), "wide")
	wantNames(t, "portrait", s.list(t, db.LibraryFilter{Shape: db.Portrait}), "tall")
	wantNames(t, "square", s.list(t, db.LibraryFilter{Shape: db.Square}), "even")
	wantNames(t, "folder", s.list(t, db.LibraryFilter{Folder: folder.ID}), "tall")
	wantNames(t, "loose", s.list(t, db.LibraryFilter{Loose: true}), "even", "wide")
	wantNames(t, "used", s.list(t, db.LibraryFilter{Use: db.Used}), "wide")
	wantNames(t, "unused", s.list(t, db.LibraryFilter{Use: db.Unused}), "even", "tall")
	wantNames(t, "scheduled", s.list(t, db.LibraryFilter{Use: db.Scheduled}))
	wantNames(t, "later", s.list(t, db.LibraryFilter{From: dbtest.Noon.Add(time.Second)}))
	s.schedule(t, draft.Post.ID)
	wantNames(t, "scheduled", s.list(t, db.LibraryFilter{Use: db.Scheduled}), "wide")
	page, err := s.Owner.Asset(t.Context(), wide)
	if want := (db.Usage{Posts: 1, Scheduled: 1}); err != nil || page.Usage != want || len(page.Uses) != 1 || !page.Uses[0].Scheduled {
		t.Errorf("usage: %+v, uses %+v, %v, want %+v", page.Usage, page.Uses, err, want)
	}
	if err := s.Owner.RemoveFolder(t.Context(), folder.ID); err != nil {
		t.Fatal(err)
	}
	wantNames(t, "loose", s.list(t, db.LibraryFilter{Loose: true}), "even", "tall", "wide")
}

// schedule approves a post past its workflow and plans it.
func (s *shelf) schedule(t *testing.T, id model.PostID) {
	t.Helper()
	s.Super(t, s.Shard, `UPDATE tenant.posts SET approved_version_id = current_version_id, review = 'approved' WHERE id = $1`, id)
	s.Super(t, s.Shard, `UPDATE tenant.targets SET state = 'ready' WHERE post_id = $1`, id)
	page, err := s.Owner.Post(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Owner.SchedulePost(t.Context(), id, page.Post.Revision, later()); err != nil {
		t.Fatal(err)
	}
}

func TestDeletingWhatIsInUseAsksAndNamesIt(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	used, free := s.put(t, "used", 10, 10), s.put(t, "free", 10, 10)
	post, err := s.Owner.SavePost(t.Context(), 0, newPost(s.account, used))
	if err != nil {
		t.Fatal(err)
	}
	err = s.Owner.DeleteMedia(t.Context(), []model.MediaID{free, used}, false)
	no, ok := errors.AsType[*db.InUse](err)
	if !ok || len(no.Uses) != 1 || no.Uses[0].Post != post.Post.ID || no.Uses[0].Excerpt != "A new post" || no.More != 0 {
		t.Fatalf("got %v, %+v, want the post that uses it", err, no)
	}
	if refusal, ok := model.Refused(err); !ok || refusal.Kind != model.Conflict {
		t.Errorf("who does not ask what it names gets %v, want a Conflict", err)
	}
	wantNames(t, "after the question", s.list(t, db.LibraryFilter{}), "free", "used")
	if err := s.Owner.DeleteMedia(t.Context(), []model.MediaID{free, used}, true); err != nil {
		t.Fatal(err)
	}
	wantNames(t, "after the answer", s.list(t, db.LibraryFilter{}))
	// The same bytes may come again, as another asset.
	s.n = 0
	if again := s.put(t, "used", 10, 10); again == used {
		t.Error("the deleted asset came back")
	}
}

func TestPostsThatUseSeveralFilesAreCountedOnce(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	all := []model.MediaID{s.put(t, "a", 10, 10), s.put(t, "b", 10, 10), s.put(t, "c", 10, 10)}
	asks := func(named, more int, say string) {
		t.Helper()
		err := s.Owner.DeleteMedia(t.Context(), all, false)
		if no, ok := errors.AsType[*db.InUse](err); !ok || len(no.Uses) != named || no.More != more || no.Error() != say {
			t.Errorf("got %v with %+v, want %d posts, %d more: %s", err, no, named, more, say)
		}
	}
	save := func(media ...model.MediaID) {
		t.Helper()
		if _, err := s.Owner.SavePost(t.Context(), 0, newPost(s.account, media...)); err != nil {
			t.Fatal(err)
		}
	}
	save(all[0], all[1])
	asks(1, 0, "A post uses 2 of these files. If you delete them, that post cannot go out as it is.")
	for range 21 {
		save(all...)
	}
	asks(20, 2, "22 posts use these files. If you delete them, they cannot go out as they are.")
}

func TestStorageCountsWhatWasUploaded(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.Super(t, s.Shard, `UPDATE tenant.tenants SET media_bytes = 2500`)
	s.put(t, "one", 10, 10)
	gone := s.put(t, "two", 10, 10)
	sum := sha256.Sum256([]byte("three"))
	three := db.Asset{ClientID: s.client, State: db.MediaScanning, Kind: network.Image, Type: "image/jpeg", Name: "three", OriginalPath: "x", Sha256: sum[:], UploadedBytes: 1000}
	if _, _, err := s.Owner.AddMedia(t.Context(), three); err == nil || !strings.Contains(err.Error(), "storage is full") {
		t.Errorf("a third file: %v, want a refusal", err)
	}
	if err := s.Owner.DeleteMedia(t.Context(), []model.MediaID{gone}, false); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Owner.AddMedia(t.Context(), three); err != nil {
		t.Errorf("after one was deleted: %v", err)
	}
	got, err := s.Owner.Storage(t.Context())
	if err != nil || got.Used != 2000 || *got.Limit != 2500 {
		t.Errorf("storage: %+v, %v", got, err)
	}
}

func TestCropsAreHeldToTheirPresetAndTheFile(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	id := s.put(t, "wide", 3000, 1000)
	crop := func(preset string, c model.Crop) error { return s.Owner.CropMedia(t.Context(), id, preset, c) }
	for _, c := range []struct {
		preset string
		part   model.Crop
		want   string
	}{
		{"instagram/post", model.Crop{X: 2000, Width: 1001, Height: 1000}, "outside"},
		{"instagram/post", model.Crop{Width: 3000, Height: 1000}, "shape"},
		{"instagram/post", model.Crop{X: -1, Width: 1000, Height: 1000}, "outside"},
		{"instagram/reel", model.Crop{Width: 1000, Height: 1000}, "no such crop"}, // of videos
		{"nowhere/post", model.Crop{Width: 1000, Height: 1000}, "no such crop"},
		{"instagram/post", model.Crop{X: 1 << 62, Width: 1 << 62, Height: 1000}, "outside"},
	} {
		if err := crop(c.preset, c.part); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v, want %q", c.preset, c.part, err, c.want)
		}
	}
	part := model.Crop{X: 1000, Width: 1900, Height: 1000}
	if err := crop("instagram/post", part); err != nil {
		t.Fatal(err)
	}
	if page, err := s.Owner.Asset(t.Context(), id); err != nil || page.Crops["instagram/post"] != part {
		t.Errorf("crops: %v, %v", page.Crops, err)
	}
	if err := crop("instagram/post", model.Crop{}); err != nil {
		t.Fatal(err)
	}
	if page, err := s.Owner.Asset(t.Context(), id); err != nil || len(page.Crops) != 0 {
		t.Errorf("crops: %v, %v", page.Crops, err)
	}
}

func TestFoldersRefuseTwiceTheNameAndTooDeep(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	add := func(parent *model.FolderID, name string) (db.Folder, error) {
		return s.Owner.AddFolder(t.Context(), s.client, parent, name)
	}
	var parent *model.FolderID
	for i := range 6 {
		f, err := add(parent, "Same name")
		if err != nil {
			t.Fatalf("%d deep: %v", i, err)
		}
		parent = &f.ID
	}
	if _, err := add(parent, "Same name"); err == nil || !strings.Contains(err.Error(), "6 deep") {
		t.Errorf("seven deep: %v", err)
	}
	if _, err := add(nil, "SAME NAME"); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("twice the name: %v", err)
	}
	list, err := s.Owner.Folders(t.Context(), s.client)
	if err != nil || len(list) != 6 {
		t.Fatalf("folders: %v, %v", list, err)
	}
	if err := s.Owner.RemoveFolder(t.Context(), list[0].ID); err == nil || !strings.Contains(err.Error(), "in this folder") {
		t.Errorf("remove one with folders in it: %v", err)
	}
}

func TestMediaNamesAreShownAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"C:\\Users\\x/photo.jpg":          "photo.jpg",
		"../../etc/passwd":                "passwd",
		"invoice\u202egpj.exe":            "invoicegpj.exe",
		"\x00\n\t":                        "file",
		strings.Repeat("ä", 300) + ".jpg": strings.Repeat("ä", 119) + "…",
		"bad\xff.jpg":                     "bad.jpg",
	} {
		if got := db.MediaName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
