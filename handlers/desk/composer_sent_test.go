package desk_test

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

var pictureLink = regexp.MustCompile(`<img class="look-picture" src="([^"]+)"`)

// shownFiles are the pictures on a page, as they are served to somebody.
func (s *studio) shownFiles(t *testing.T, a answer) (list []string) {
	t.Helper()
	for _, m := range pictureLink.FindAllStringSubmatch(a.body, -1) {
		file := s.get(t, s.owner, html.UnescapeString(m[1]))
		c, kind, err := image.DecodeConfig(strings.NewReader(file.body))
		if file.status != 200 || err != nil {
			t.Errorf("%s: %d, %v", m[1], file.status, err)
		}
		list = append(list, fmt.Sprintf("%s %dx%d", kind, c.Width, c.Height))
	}
	return list
}

// Where a post can only be read, each network's part shows the files as that network
// gets them, and says so while that is still being made.
func TestAPostThatIsReadShowsFilesAsTheyAreSent(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	instagram := s.agency.Account(t, s.client, network.Instagram)
	var tall bytes.Buffer
	if err := png.Encode(&tall, image.NewNRGBA(image.Rect(0, 0, 400, 900))); err != nil {
		t.Fatal(err)
	}
	form := s.fresh(t)
	form["account"] = []string{fmt.Sprint(int64(s.account)), fmt.Sprint(int64(instagram))}
	page := s.upload(t, form, file{"tall.png", tall.Bytes()}).want(t, 200, "400 × 900, PNG")
	id, _ := s.saved(t, s.send(t, page.form(t), "save"))
	reader := s.signIn(t, s.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{s.client: model.Viewer.Grants()}))
	at := fmt.Sprintf("/w/north/posts/%d", id)

	s.Clock.Advance(3 * time.Minute) // what the upload did not wait for was left in its workers' hands
	done := s.develop(t)
	defer done()
	s.waits(t, `SELECT count(*) > 0 AND bool_and(state = 'ready') FROM tenant.media_renditions`)
	for _, path := range []string{at, at + "/versions/1"} {
		read := s.get(t, reader, path).want(t, 200, "As it is sent: 400 × 500")
		if got, want := fmt.Sprint(s.shownFiles(t, read)), "[jpeg 400x500 png 284x640]"; got != want {
			t.Errorf("%s shows %s, want %s", path, got, want)
		}
	}

	s.Super(t, s.agency.Shard, `UPDATE tenant.media_renditions SET state = 'making', path = ''`)
	read := s.get(t, reader, at).want(t, 200, "What will be sent is still being made: 400 × 500. This is the file that it is made of.")
	if got := fmt.Sprint(s.shownFiles(t, read)); strings.Contains(got, "400x500") {
		t.Errorf("it shows %s", got)
	}
}

// link is the newest review link that was mailed.
func (s *studio) link(t *testing.T) string {
	t.Helper()
	key := dbtest.Look[string](t, s.World, s.agency.Shard, `SELECT key FROM tenant.mails WHERE sealed IS NOT NULL ORDER BY id DESC LIMIT 1`)
	token, err := s.Ring.Open(dbtest.Look[[]byte](t, s.World, s.agency.Shard, `SELECT sealed FROM tenant.mails WHERE key = $1`, key), db.MailAAD(s.agency.ID, key))
	if err != nil {
		t.Fatal(err)
	}
	return "/review/" + token
}

// Whoever writes a post sees the part of a picture that each network gets; whoever
// approves or reads it sees the very file. The picture is red above and blue below,
// and the part that was chosen is the red one.
func TestEverybodySeesThePartThatIsSent(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.stage(t)
	dana := dbtest.Look[model.ApproverID](t, s.World, s.agency.Shard, `INSERT INTO tenant.approvers (tenant_id, client_id, name, email) VALUES ($1, $2, 'Dana', 'dana@client.example') RETURNING id`, s.agency.ID, s.client)
	s.Super(t, s.agency.Shard, `INSERT INTO tenant.stage_people (tenant_id, stage_id, approver_id) SELECT tenant_id, id, $2 FROM tenant.stages WHERE tenant_id = $1`, s.agency.ID, dana)
	form := s.fresh(t)
	form["account"] = []string{fmt.Sprint(int64(s.account)), fmt.Sprint(int64(s.agency.Account(t, s.client, network.Instagram)))}
	flag := image.NewNRGBA(image.Rect(0, 0, 400, 1000))
	draw.Draw(flag, flag.Rect, image.NewUniform(color.NRGBA{0, 0, 255, 255}), image.Point{}, draw.Src)
	draw.Draw(flag, image.Rect(0, 0, 400, 500), image.NewUniform(color.NRGBA{255, 0, 0, 255}), image.Point{}, draw.Src)
	var tall bytes.Buffer
	if err := png.Encode(&tall, flag); err != nil {
		t.Fatal(err)
	}
	page := s.upload(t, form, file{"flag.png", tall.Bytes()}).want(t, 200, "400 × 500, JPEG", "400 × 1000, PNG")
	if !strings.Contains(page.body, `viewBox="0 250 400 500"`) {
		t.Error("the composer does not show the middle of the picture, which Instagram would get")
	}
	form = page.form(t)
	crop := fmt.Sprintf("/w/north/media/%s/crop", form.Get("media"))
	s.submit(t, s.owner, crop, url.Values{"preset": {"instagram/post"}, "shape": {"4:5"}, "do": {"save"}, "x": {"0"}, "y": {"0"}, "width": {"400"}, "height": {"500"}})
	form.Set("do", "refresh")
	if page = s.post(t, s.owner, "/w/north/posts/form", form); strings.Count(page.body, `viewBox="0 0 400 500"`) != 1 {
		t.Error("the composer does not show the part that was chosen, on Instagram and nowhere else")
	}
	id, _ := s.saved(t, s.send(t, page.form(t), "submit"))
	s.Clock.Advance(3 * time.Minute)
	done := s.develop(t)
	defer done()
	s.waits(t, `SELECT count(*) > 0 AND bool_and(state = 'ready') FROM tenant.media_renditions`)
	asked, err := s.agency.Owner.PostApprovals(t.Context(), id)
	if err != nil || len(asked) != 1 {
		t.Fatalf("%d requests, %v", len(asked), err)
	}
	for where, path := range map[string]string{
		"the inbox": "/w/north/approvals", "the request": fmt.Sprintf("/w/north/approvals/%d", asked[0].ID), "the client's page": s.link(t), "the version": fmt.Sprintf("/w/north/posts/%d/versions/1", id),
	} {
		parts := 0
		for _, m := range pictureLink.FindAllStringSubmatch(s.get(t, s.owner, path).want(t, 200).body, -1) {
			img, kind, err := image.Decode(strings.NewReader(s.get(t, s.owner, html.UnescapeString(m[1])).body))
			if err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			if b := img.Bounds(); kind != "jpeg" || b.Dx() != 400 || b.Dy() != 500 {
				continue
			}
			parts++
			if r, _, b, _ := img.At(200, 490).RGBA(); r < 0xf000 || b > 0x1000 {
				t.Errorf("%s shows another part of the picture", where)
			}
		}
		if parts != 1 {
			t.Errorf("%s shows what Instagram gets %d times", where, parts)
		}
	}
}

// A post with many files asks no more often than one with few.
func TestReadingAPostTakesTheSameStatementsHoweverManyFilesItHas(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	count := &counter{}
	options := s.Options()
	options.Tracer = count
	store, err := db.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	s.edge.Store = store
	reader := s.signIn(t, s.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{s.client: model.Viewer.Grants()}))
	files := s.stock(t, 4)
	var asked []int64
	for n := 1; n <= 4; n += 3 {
		content := model.Content{Text: "x", Accounts: []model.AccountID{s.account}}
		for _, id := range files[:n] {
			content.Media = append(content.Media, model.ContentMedia{ID: id, Alt: "x"})
		}
		page, err := s.agency.Owner.SavePost(t.Context(), 0, db.PostForm{Content: content})
		if err != nil {
			t.Fatal(err)
		}
		before := count.n.Load()
		read := s.get(t, reader, fmt.Sprintf("/w/north/posts/%d", page.Post.ID)).want(t, 200)
		asked = append(asked, count.n.Load()-before)
		if got := strings.Count(read.body, `class="preview-file"`); got != n {
			t.Errorf("%d of %d files are shown", got, n)
		}
	}
	if asked[0] != asked[1] {
		t.Errorf("%d statements for one file, %d for four", asked[0], asked[1])
	}
}
