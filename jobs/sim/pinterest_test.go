package sim_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

const pin = "/pinterest/v5"

// pin is a pin of a picture; more begins with a comma.
func (w *world) pin(text, more string) *http.Request {
	body := fmt.Sprintf(`{"board_id":"1001","description":%q,"media_source":{"source_type":"image_url","url":"%s/square.jpg"}%s}`, text, w.media, more)
	return w.request("POST", pin+"/pins", "application/json", body, bearer...)
}

// pinFail checks a refusal of Pinterest's.
func (g got) pinFail(t *testing.T, status int, words string) {
	t.Helper()
	g.want(t, status)
	if g.str("code") == "" || !strings.Contains(g.str("message"), words) {
		t.Errorf("got %s, want %q", g.raw, words)
	}
}

func TestAPinIsShownOnItsBoard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(w.pin(" Fresh ", `,"title":"Bread","link":"https://bakery.example/","alt_text":"A loaf"`)).want(t, 201)
	g := w.get(pin+"/boards/1001/pins?page_size=25", bearer...).want(t, 200)
	for _, want := range []string{`"title":"Bread"`, `"description":"Fresh"`, `"created_at":"2026-05-04T12:00:00"`, `"bookmark":null`, `"board_id":"1001"`} {
		if !strings.Contains(g.raw, want) {
			t.Errorf("%s lacks %s", g.raw, want)
		}
	}
	for range 30 {
		w.sim.AddStranger(network.Pinterest, "1001", "another")
	}
	first := w.get(pin+"/boards/1001/pins?page_size=25", bearer...).want(t, 200)
	if first.str("bookmark") == "" || strings.Contains(first.raw, "Bread") {
		t.Errorf("the first page is %s", first.raw)
	}
	if second := w.get(pin+"/boards/1001/pins?page_size=25&bookmark="+first.str("bookmark"), bearer...).want(t, 200); !strings.Contains(second.raw, "Bread") || second.str("bookmark") != "" {
		t.Errorf("the second page is %s", second.raw)
	}
	w.get(pin+"/boards/2002/pins?page_size=25", bearer...).pinFail(t, 404, "Board not found")
	if g := w.get(pin+"/boards?page_size=250", bearer...).want(t, 200); !strings.Contains(g.raw, `"id":"1001"`) {
		t.Errorf("boards are %s", g.raw)
	}
}

func TestPinterestRefusesWhatIsNoPin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	raw := func(body string) got { return w.json(pin+"/pins", body, bearer...) }
	w.send(w.pin(strings.Repeat("a", 801), "")).pinFail(t, 400, "too long")
	w.send(w.pin(strings.Repeat("😀", 800), "")).want(t, 201)
	w.send(w.pin("a", `,"title":"`+strings.Repeat("a", 101)+`"`)).pinFail(t, 400, "too long")
	w.send(w.pin("a", `,"link":"https://bit.ly/x"`)).pinFail(t, 400, "blocked this link")
	w.send(w.pin("a", `,"colour":"red"`)).pinFail(t, 400, "unknown field")
	source := func(s string) got { return raw(`{"board_id":"1001","media_source":{"source_type":` + s + `}}`) }
	source(`"image_url","url":"`+w.media+`/none.jpg"`).pinFail(t, 400, "Unable to reach the URL")
	source(`"image_url","url":"`+w.media+`/cut.jpg"`).pinFail(t, 400, "cannot be used")
	source(`"multiple_image_urls","items":[{"url":"`+w.media+`/square.jpg"}]`).pinFail(t, 400, "minItems=2")
	source(`"video_id","media_id":"1"`).pinFail(t, 400, "cover_image")
	raw(`{"board_id":"bread","media_source":{}}`).pinFail(t, 400, "does not match")
	raw(`{"board_id":"2002","media_source":{}}`).pinFail(t, 404, "Board not found")
}

func TestAPinsVideoIsStoredThenWorkedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	register := func() (string, string, []string) {
		g := w.json(pin+"/media", `{"media_type":"video"}`, bearer...).want(t, 201)
		fields, _ := g.json["upload_parameters"].(map[string]any)
		var pairs []string
		for name, value := range fields {
			pairs = append(pairs, name, value.(string))
		}
		return g.str("media_id"), g.str("upload_url"), pairs
	}
	id, to, fields := register()
	if g := w.upload(to, "file", film(), nil, fields[2:]...); g.status != 403 || !strings.Contains(g.raw, "<Code>AccessDenied") {
		t.Errorf("without a field: %d %s", g.status, g.raw)
	}
	w.upload(to, "file", film(), bearer, fields...).want(t, 400)
	w.upload(to, "file", film(), nil, fields...).want(t, 204)
	make := func(cover string) got {
		return w.json(pin+"/pins", `{"board_id":"1001","media_source":{"source_type":"video_id","media_id":"`+id+`"`+cover+`}}`, bearer...)
	}
	make(`,"cover_image_key_frame_time":0`).pinFail(t, 409, "processed")
	for _, want := range []string{"processing", "processing", "succeeded"} {
		if g := w.get(pin+"/media/"+id, bearer...).want(t, 200); g.str("status") != want {
			t.Errorf("it is %s, want %s", g.raw, want)
		}
	}
	make("").pinFail(t, 400, "cover_image")
	make(`,"cover_image_content_type":"image/png","cover_image_data":"`+base64.StdEncoding.EncodeToString(jpegOf(9, 9))+`"`).pinFail(t, 400, "cover_image_data")
	make(`,"cover_image_content_type":"image/jpeg","cover_image_data":"`+base64.StdEncoding.EncodeToString(jpegOf(9, 9))+`"`).want(t, 201)
	_, late, fields := register()
	w.pass(2 * time.Hour)
	w.upload(late, "file", film(), nil, fields...).want(t, 403)
	w.sim.Turn(func(k *sim.Knobs) { k.VideoPolls = -1 })
	id, to, fields = register()
	w.upload(to, "file", jpegOf(9, 9), nil, fields...).want(t, 204)
	if g := w.get(pin+"/media/"+id, bearer...); g.str("status") != "failed" {
		t.Errorf("a picture is %s", g.raw)
	}
}

// What an app with trial access pins its creator sees, and nobody else.
func TestAPinOfATrialAppIsForItsCreatorOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.Turn(func(k *sim.Knobs) { k.Unaudited = true })
	id := w.send(w.pin("Fresh", "")).want(t, 201).str("id")
	w.wantPosts(network.Pinterest, "", 0)
	if g := w.get(pin+"/boards/1001/pins?page_size=25", bearer...).want(t, 200); !strings.Contains(g.raw, `"id":"`+id+`"`) {
		t.Errorf("its creator sees %s", g.raw)
	}
	w.get("/pinterest/pin/"+id).want(t, 404)
}
