package sim_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"herald/db/network"
	"herald/jobs/sim"
)

const tg = "/telegram/bot1001:token"

func (w *world) tgMessage(text string) *http.Request {
	return w.request("POST", tg+"/sendMessage", "application/x-www-form-urlencoded", values("chat_id", "1001", "text", text))
}

// tgFail checks a refusal of Telegram's.
func (g got) tgFail(t *testing.T, status int, words string) {
	t.Helper()
	g.want(t, status)
	if g.str("ok") != "false" || !strings.Contains(g.str("description"), words) {
		t.Errorf("got %s, want %q", g.raw, words)
	}
}

func TestTelegramShowsAMessageToTheChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddAccount(network.Telegram, sim.Account{ID: "1001", Handle: "bakery"})
	g := w.send(w.tgMessage("Hello <b>")).want(t, 200)
	if g.str("ok") != "true" || g.str("result.chat.username") != "bakery" || g.str("result.text") != "Hello <b>" || g.str("result.message_id") == "" {
		t.Errorf("got %s", g.raw)
	}
	w.json(tg+"/sendMessage", `{"chat_id":"@bakery","text":"by name"}`).want(t, 200)
	w.wantPosts(network.Telegram, "1001", 2)
	w.json(tg+"/sendMessage", `{"chat_id":"@nobody","text":"by name"}`).tgFail(t, 400, "chat not found")
	w.json("/telegram/1001:token/sendMessage", `{"chat_id":1001,"text":"a"}`).tgFail(t, 401, "Unauthorized")
	w.json("/telegram/botexpired/sendMessage", `{"chat_id":1001,"text":"a"}`).tgFail(t, 401, "Unauthorized")
	w.json("/telegram/botnoscope/sendMessage", `{"chat_id":1001,"text":"a"}`).tgFail(t, 400, "not enough rights")
	w.json(tg+"/readHistory", `{}`).tgFail(t, 404, "Not Found")
	_, id, _ := strings.Cut(w.json(tg+"/getMe", `{}`).want(t, 200).raw, `"id":`)
	id, _, _ = strings.Cut(id, ",")
	if g := w.json(tg+"/getChatMember", `{"chat_id":1001,"user_id":`+id+`}`); g.str("result.status") != "administrator" {
		t.Errorf("the bot is %s", g.raw)
	}
}

func TestTelegramCountsInUTF16(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for text, status := range map[string]int{
		strings.Repeat("a", 4096): 200, strings.Repeat("b", 4097): 400, strings.Repeat("😀", 2048): 200, strings.Repeat("😀", 2049): 400, " \n": 400,
	} {
		if g := w.send(w.tgMessage(text)); g.status != status {
			t.Errorf("%d bytes: %d %s", len(text), g.status, g.raw)
		}
	}
}

func TestTelegramLooksAtTheFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.upload(tg+"/sendPhoto", "photo", jpegOf(400, 400), nil, "chat_id", "1001", "caption", strings.Repeat("a", 1024)).want(t, 200)
	w.upload(tg+"/sendPhoto", "photo", jpegOf(400, 400), nil, "chat_id", "1001", "caption", strings.Repeat("a", 1025)).tgFail(t, 400, "caption is too long")
	w.upload(tg+"/sendPhoto", "photo", jpegOf(400, 400)[:2000], nil, "chat_id", "1001").tgFail(t, 400, "IMAGE_PROCESS_FAILED")
	w.upload(tg+"/sendPhoto", "photo", pngOf(10, 210), nil, "chat_id", "1001").tgFail(t, 400, "PHOTO_INVALID_DIMENSIONS")
	w.upload(tg+"/sendPhoto", "photo", append(jpegOf(40, 40), make([]byte, 10_000_000)...), nil, "chat_id", "1001").tgFail(t, 413, "Too Large")
	w.upload(tg+"/sendVideo", "video", film(), nil, "chat_id", "1001", "supports_streaming", "true").want(t, 200)
	w.upload(tg+"/sendVideo", "video", jpegOf(40, 40), nil, "chat_id", "1001").tgFail(t, 400, "wrong type")
	w.form(tg+"/sendPhoto", "chat_id", "1001").tgFail(t, 400, "wrong file identifier")
	w.upload(tg+"/sendPhoto", "photo", jpegOf(40, 40), nil, "chat_id", "1001", "alt", "a").tgFail(t, 400, "no parameter alt")
}

// tgAlbum sends n pictures whose captions are as given.
func (w *world) tgAlbum(n int, captions ...string) got {
	var body bytes.Buffer
	mw := multipart.NewWriter(&body)
	items := []string{}
	for i := range n {
		caption := ""
		if i < len(captions) {
			caption = captions[i]
		}
		items = append(items, fmt.Sprintf(`{"type":"photo","media":"attach://f%d","caption":%q}`, i, caption))
		part, _ := mw.CreateFormFile(fmt.Sprintf("f%d", i), "file")
		_, _ = part.Write(jpegOf(40, 40))
	}
	_ = mw.WriteField("chat_id", "1001")
	_ = mw.WriteField("media", "["+strings.Join(items, ",")+"]")
	_ = mw.Close()
	return w.send(w.request("POST", tg+"/sendMediaGroup", mw.FormDataContentType(), body.String()))
}

func TestATelegramAlbumIsOnePost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n, status := range map[int]int{1: 400, 2: 200, 10: 200, 11: 400} {
		if g := w.tgAlbum(n, "Look"); g.status != status {
			t.Errorf("%d pictures: %d %s", n, g.status, g.raw)
		}
	}
	posts := w.sim.Posts(network.Telegram, "1001")
	if len(posts) != 2 || posts[0].Text != "Look" || len(posts[0].Media)+len(posts[1].Media) != 12 {
		t.Errorf("the public sees %+v", posts)
	}
}

// Who names a group by its old number is told the supergroup's, and nothing is sent.
func TestAGroupThatBecameASupergroupSaysItsNewNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddAccount(network.Telegram, sim.Account{ID: "-55", Token: "token"})
	send := func(chat string) got {
		return w.json("/telegram/bottoken/sendMessage", `{"chat_id":`+chat+`,"text":"Hello"}`)
	}
	send("-55").want(t, 200)
	w.json("/_control/accounts", `{"network":"telegram","id":"-100777","token":"token","former":"-55"}`).want(t, 200)
	for range 2 {
		g := send("-55")
		g.tgFail(t, 400, "upgraded to a supergroup")
		if !strings.Contains(g.raw, `"migrate_to_chat_id":-100777`) {
			t.Errorf("got %s", g.raw)
		}
		w.json("/telegram/bottoken/getChat", `{"chat_id":-55}`).tgFail(t, 400, "upgraded to a supergroup")
		w.json("/telegram/botother/sendMessage", `{"chat_id":-55,"text":"Hello"}`).tgFail(t, 401, "Unauthorized")
		w.wantPosts(network.Telegram, "-100777", 0)
		w.sim.Reset() // it is declared so
	}
	if g := send("-100777").want(t, 200); g.str("result.chat.type") != "supergroup" {
		t.Errorf("it is %s", g.raw)
	}
	w.wantPosts(network.Telegram, "-100777", 1)
}
