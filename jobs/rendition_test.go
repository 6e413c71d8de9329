package jobs_test

import (
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
)

// gallery is an archive whose posts are published, by hand too.
type gallery struct {
	*archive
	*rig
	account model.AccountID
}

func newGallery(t *testing.T, net network.Name) *gallery {
	t.Helper()
	a := newArchive(t)
	g := &gallery{archive: a, rig: &rig{World: a.World, net: &pretend{}, settings: jobs.Defaults()}}
	g.account = a.Account(t, a.client, net)
	g.rig.pub = g.rig.process(t)
	g.rig.pipe = g.rig.pub.Pipe
	return g
}

// post saves a draft with a file.
func (g *gallery) post(t *testing.T, id model.MediaID) db.PostPage {
	t.Helper()
	page, err := g.Owner.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: "Look", Accounts: []model.AccountID{g.account}, Media: []model.ContentMedia{{ID: id, Alt: "A wall"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func (g *gallery) submit(t *testing.T, page db.PostPage) (db.PostPage, error) {
	t.Helper()
	return g.Owner.SubmitPost(t.Context(), db.Submission{Post: page.Post.ID, Seen: page.Post.Revision})
}

// soon plans a post for a minute from now.
func (g *gallery) soon(t *testing.T, page db.PostPage) (db.PostPage, error) {
	t.Helper()
	when, err := model.At(g.archive.Clock.Now().Add(time.Minute), "Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return g.Owner.SchedulePost(t.Context(), page.Post.ID, page.Post.Revision, when)
}

// publish waits for what is planned, and does what is due.
func (g *gallery) publish(t *testing.T) {
	t.Helper()
	g.archive.Clock.Advance(2 * time.Minute)
	for _, d := range g.rig.due(t) {
		g.rig.work(t, d)
	}
}

func (g *gallery) target(t *testing.T, page db.PostPage) db.Target {
	t.Helper()
	got, err := g.Owner.Target(t.Context(), page.Targets[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func says(t *testing.T, what string, err error, want string) {
	t.Helper()
	if no, ok := model.Refused(err); !ok || !strings.Contains(no.Say, want) {
		t.Errorf("%s: got %v, want a refusal with %q", what, err, want)
	}
}

// The file is attached before anybody knows its size; what is sent is what the
// network takes of it all the same, and what the approver is shown.
func TestANetworkGetsTheRenditionThatWasMadeForIt(t *testing.T) {
	t.Parallel()
	g := newGallery(t, network.Instagram)
	id := g.upload(t, network.Image, "image/png", "tall.png", pngOf(t, 400, 900))
	page := g.post(t, id)
	_, err := g.submit(t, page)
	says(t, "submitted before it was scanned", err, "tall.png” is still being scanned")
	g.archive.work(t)
	if page, err = g.submit(t, page); err != nil {
		t.Fatal(err)
	}
	if page, err = g.soon(t, page); err != nil {
		t.Fatal(err)
	}
	g.publish(t)
	if len(g.net.media) != 1 || len(g.net.media[0]) != 1 {
		t.Fatalf("published %+v", g.net.media)
	}
	var want db.Rendition
	for _, r := range g.asset(t, id).Renditions {
		if strings.HasPrefix(r.Recipe, "image/jpeg 400x500 ") {
			want = r
		}
	}
	m := g.net.media[0][0]
	if m.Type != "image/jpeg" || m.Width != 400 || m.Height != 500 || m.Bytes != want.Bytes || m.Alt != "A wall" || m.ID != id || want.ID == 0 {
		t.Errorf("sent %+v, want %+v", m.Media, want)
	}
	if page.Targets[0].Problems[0].Code != network.MediaNotReady { // as it was when saved
		t.Errorf("problems: %+v", page.Targets[0].Problems)
	}
}

// A GIF moves where the network takes it, and stands still elsewhere, of which its
// writer is told.
func TestAGIFIsSentAsTheNetworkTakesIt(t *testing.T) {
	t.Parallel()
	for net, want := range map[network.Name]struct {
		mime string
		told string
	}{
		network.Mastodon:  {"image/gif", ""},
		network.Instagram: {"image/jpeg", "The picture moves, and Instagram does not take it like that: its first frame is sent, as a still picture. Attach it as a video if it has to move."},
	} {
		g := newGallery(t, net)
		id := g.upload(t, network.Image, "image/gif", "moving.gif", gifOf(t, 12, 400, 400))
		g.archive.work(t)
		page := g.post(t, id)
		var told string
		for _, p := range page.Targets[0].Problems {
			if p.Code == network.MediaStilled {
				told = p.Say
			}
			if !p.Warn {
				t.Errorf("%s: %+v", net, p)
			}
		}
		if told != want.told {
			t.Errorf("%s: told %q, want %q", net, told, want.told)
		}
		page, err := g.submit(t, page)
		if err == nil {
			_, err = g.soon(t, page)
		}
		if err != nil {
			t.Fatalf("%s: %v", net, err)
		}
		g.archive.work(t)
		g.publish(t)
		if len(g.net.media) != 1 || g.net.media[0][0].Type != want.mime || g.net.media[0][0].Width != 400 {
			t.Errorf("%s got %+v", net, g.net.media)
		}
	}
}

func TestAPostWaitsForItsRendition(t *testing.T) {
	t.Parallel()
	g := newGallery(t, network.Mastodon) // which takes any shape, so nothing is made ahead
	id := g.upload(t, network.Image, "image/png", "a.png", pngOf(t, 400, 300))
	g.archive.work(t)
	g.archive.Super(t, g.archive.Shard, `UPDATE tenant.accounts SET settings = '{"image_matrix_limit": "30000"}' WHERE id = $1`, g.account)
	page, err := g.submit(t, g.post(t, id))
	if err != nil {
		t.Fatal(err)
	}
	if page, err = g.soon(t, page); err != nil {
		t.Fatal(err)
	}
	g.publish(t)
	if got := g.target(t, page); got.State != model.RetryScheduled || got.Reason != "media_not_ready" || len(g.net.media) != 0 {
		t.Fatalf("before it is made: %s, %s", got.State, got.Reason)
	}
	if n := len(g.archive.work(t)); n != 0 {
		t.Fatalf("%d faults", n)
	}
	g.publish(t)
	if got := g.target(t, page); got.State != model.Published {
		t.Fatalf("once it is made: %s, %s", got.State, got.Reason)
	}
	if m := g.net.media[0][0]; m.Width*m.Height > 30000 || m.Width != 200 {
		t.Errorf("sent %+v", m.Media)
	}
}

// What cannot be made is said when the post is submitted and when it is planned,
// and the guard refuses it even so.
func TestAPostWhoseRenditionFailedDoesNotGo(t *testing.T) {
	t.Parallel()
	g := newGallery(t, network.Instagram)
	id := g.upload(t, network.Image, "image/png", "a.png", pngOf(t, 400, 400))
	g.archive.work(t)
	first := g.post(t, id)
	planned, err := g.submit(t, first)
	if err != nil {
		t.Fatal(err)
	}
	if planned, err = g.soon(t, planned); err != nil {
		t.Fatal(err)
	}
	g.archive.Super(t, g.archive.Shard, `UPDATE tenant.media_renditions SET state = 'failed', reason = 'It does not come down to 8 MB.', path = ''`)
	_, err = g.submit(t, g.post(t, id))
	says(t, "submit", err, "does not come down")
	_, err = g.soon(t, planned)
	says(t, "schedule", err, "a.png” could not be made ready: It does not come down")
	g.publish(t)
	if got := g.target(t, planned); got.State != model.Failed || got.Reason != "media_not_made" || len(g.net.media) != 0 {
		t.Errorf("the guard: %s, %s", got.State, got.Reason)
	}
	if err := g.Owner.RetryMedia(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	g.archive.work(t)
	if _, err := g.submit(t, g.post(t, id)); err != nil {
		t.Errorf("after it was made again: %v", err)
	}
}

func TestAPostWhoseFileWasDeletedDoesNotGo(t *testing.T) {
	t.Parallel()
	g := newGallery(t, network.Instagram)
	id := g.upload(t, network.Image, "image/jpeg", "a.jpg", jpegOf(t, 400, 400))
	g.archive.work(t)
	draft := g.post(t, id)
	page, err := g.submit(t, g.post(t, id))
	if err != nil {
		t.Fatal(err)
	}
	if page, err = g.soon(t, page); err != nil {
		t.Fatal(err)
	}
	if err := g.Owner.DeleteMedia(t.Context(), []model.MediaID{id}, true); err != nil {
		t.Fatal(err)
	}
	_, err = g.submit(t, draft)
	says(t, "submitted", err, "One of the files is not there any more.")
	_, err = g.soon(t, page)
	says(t, "moved", err, "was deleted")
	g.publish(t)
	if got := g.target(t, page); got.State != model.Failed || got.Reason != "media_gone" || len(g.net.media) != 0 {
		t.Errorf("the guard: %s, %s", got.State, got.Reason)
	}
}

func TestAPostIsNotPlannedWithAFileThatIsNotReady(t *testing.T) {
	t.Parallel()
	g := newGallery(t, network.Instagram)
	id := g.upload(t, network.Image, "image/jpeg", "a.jpg", jpegOf(t, 400, 400))
	g.archive.work(t)
	page, err := g.submit(t, g.post(t, id))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ state, want string }{
		{"scanning", "“a.jpg” is still being scanned. Try again in a moment."},
		{"processing", "“a.jpg” is still being prepared. Try again in a moment."},
		{"quarantined", "“a.jpg” was refused when it was checked."},
		{"refused", "“a.jpg” was refused when it was checked."},
	} {
		g.archive.Super(t, g.archive.Shard, `UPDATE tenant.media SET state = $1`, c.state)
		_, err := g.soon(t, page)
		says(t, c.state, err, c.want)
	}
	g.archive.Super(t, g.archive.Shard, `UPDATE tenant.media SET state = 'ready'`)
	if _, err := g.soon(t, page); err != nil {
		t.Errorf("once it is ready: %v", err)
	}
}

// A crop is part of the version: choosing another one later changes nothing that
// was approved, and makes a new version of a post that is saved again.
func TestACropBelongsToTheVersion(t *testing.T) {
	t.Parallel()
	g := newGallery(t, network.Instagram)
	id := g.upload(t, network.Image, "image/jpeg", "a.jpg", jpegOf(t, 400, 400))
	g.archive.work(t)
	crop := func(x int) {
		if err := g.Owner.CropMedia(t.Context(), id, "instagram/post", model.Crop{X: x, Width: 200, Height: 200}); err != nil {
			t.Fatal(err)
		}
	}
	crop(10)
	page, err := g.submit(t, g.post(t, id))
	if err != nil {
		t.Fatal(err)
	}
	crop(150)
	if page, err = g.soon(t, page); err != nil {
		t.Fatal(err)
	}
	g.archive.work(t)
	g.publish(t)
	if got := g.target(t, page); got.State != model.Published {
		t.Fatalf("%s, %s", got.State, got.Reason)
	}
	recipe := dbtest.Look[string](t, g.archive.World, g.archive.Shard, `SELECT media_recipes[1] FROM tenant.targets WHERE id = $1`, page.Targets[0].ID)
	if !strings.Contains(recipe, "crop=10,0,200,200") {
		t.Errorf("sent as %q", recipe)
	}
	next := g.post(t, id)
	if c := next.Version.Content.Media[0].Crops["instagram/post"]; c.X != 150 {
		t.Errorf("a new post has %+v", next.Version.Content.Media[0].Crops)
	}
	crop(20)
	again, err := g.Owner.SavePost(t.Context(), next.Post.ID, db.PostForm{Seen: next.Post.Revision, Content: next.Version.Content})
	if err != nil || again.Version.Number != 2 || again.Version.Content.Media[0].Crops["instagram/post"].X != 20 {
		t.Errorf("saved again: version %d, %+v, %v", again.Version.Number, again.Version.Content.Media[0].Crops, err)
	}
}
