package sim_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

const li = "/linkedin"

var liKey = []string{"Authorization", "Bearer 1001:x", "LinkedIn-Version", "202607", "X-Restli-Protocol-Version", "2.0.0"}

// liPost is a post of an organisation; content begins with a comma.
func (w *world) liPost(text, content string, headers ...string) *http.Request {
	body := fmt.Sprintf(`{"author":"urn:li:organization:1001","commentary":%q,"visibility":"PUBLIC","distribution":{"feedDistribution":"MAIN_FEED","targetEntities":[],"thirdPartyDistributionChannels":[]},"lifecycleState":"PUBLISHED","isReshareDisabledByAuthor":false%s}`, text, content)
	return w.request("POST", li+"/rest/posts", "application/json", body, append(liKey, headers...)...)
}

// liFail checks a refusal of LinkedIn's.
func (g got) liFail(t *testing.T, status int, code string) {
	t.Helper()
	if g.want(t, status); g.str("code") != code {
		t.Errorf("got %s, want %s", g.raw, code)
	}
}

func TestLinkedInCutsAtASignThatMeansNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for little, want := range map[string]string{
		`Fresh \(today\) #bread`: "Fresh (today) #bread", `Fresh (today)`: "Fresh ", `a {hashtag|\#|bread} b`: "a #bread b", `by @[Ann](urn:li:person:1)!`: "by Ann!",
		`C\# \\ \_`: `C# \ _`, "# alone": "", "a_b": "a",
	} {
		w.sim.Reset()
		g := w.send(w.liPost(little, "")).want(t, 201)
		if posts := w.sim.Posts(network.LinkedIn, "1001"); len(posts) != 1 || posts[0].Text != want || g.header.Get("x-restli-id") != posts[0].ID || g.raw != "" {
			t.Errorf("%q reads as %+v, want %q", little, posts, want)
		}
	}
}

func TestLinkedInWantsItsVersionAndItsShape(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(w.liPost("a", "", "LinkedIn-Version", "202507")).liFail(t, 426, "NONEXISTENT_VERSION")
	w.send(w.request("POST", li+"/rest/posts", "application/json", `{"author":"urn:li:organization:1001"}`, "Authorization", "Bearer 1001:x")).liFail(t, 400, "VERSION_MISSING")
	w.send(w.liPost("a", `,"colour":"red"`)).liFail(t, 400, "INVALID_VALUE_FOR_FIELD")
	w.send(w.liPost("", "")).liFail(t, 400, "INVALID_VALUE_BLANK_FIELD")
	w.send(w.liPost(strings.Repeat("a", 3001), "")).liFail(t, 400, "FIELD_LENGTH_TOO_LONG")
	w.send(w.liPost(strings.Repeat("😀", 3000), "")).want(t, 201)
	w.send(w.liPost("a", `,"content":{"article":{"source":"https://a.example"}}`)).liFail(t, 400, "MISSING_FIELD")
	w.send(w.liPost("a", `,"content":{"media":{"id":"urn:li:image:C404"}}`)).liFail(t, 400, "INVALID_URN_ID")
	w.send(w.liPost("a", "", "Authorization", "Bearer expired")).liFail(t, 401, "EXPIRED_ACCESS_TOKEN")
	w.send(w.liPost("a", "", "Authorization", "Bearer noscope")).liFail(t, 403, "ACCESS_DENIED")
}

func TestLinkedInNamesTheFirstOfTwins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.Turn(func(k *sim.Knobs) { k.Duplicates = true })
	first := w.send(w.liPost("same", "")).want(t, 201).header.Get("x-restli-id")
	if g := w.send(w.liPost("same", "")); g.status != 422 || !strings.Contains(g.str("message"), first) || g.str("code") != "DUPLICATE_POST" {
		t.Errorf("got %d %s", g.status, g.raw)
	}
	w.send(w.liPost("other", "")).want(t, 201)
	w.send(w.request("DELETE", li+"/rest/posts/"+first, "", "", liKey...)).want(t, 204)
	w.send(w.liPost("same", "")).liFail(t, 422, "DUPLICATE_POST") // its ghost
	w.get(li+"/rest/posts/"+first, liKey...).liFail(t, 404, "NOT_FOUND")
	w.pass(25 * time.Hour)
	w.send(w.liPost("same", "")).want(t, 201)
}

func TestLinkedInTakesAFileOnceAtEachAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begin := func(kind, ask string) got {
		return w.json(li+"/rest/"+kind+"?action=initializeUpload", `{"initializeUploadRequest":{"owner":"urn:li:organization:1001"`+ask+`}}`, liKey...).want(t, 200)
	}
	put := func(to string, data string) got { return w.send(w.request("PUT", to, "", data, liKey...)) }
	made := begin("images", "")
	image := made.str("value.image")
	content := `,"content":{"media":{"id":"` + image + `","altText":"Bread"}}`
	w.send(w.liPost("a", content)).liFail(t, 400, "MEDIA_ASSET_WAITING_UPLOAD")
	put(made.str("value.uploadUrl"), string(jpegOf(40, 40))).want(t, 201)
	put(made.str("value.uploadUrl"), string(jpegOf(40, 40))).liFail(t, 400, "INVALID_VALUE_FOR_FIELD")
	if g := w.get(li+"/rest/images/"+image, liKey...).want(t, 200); g.str("status") != "AVAILABLE" {
		t.Errorf("it is %s", g.raw)
	}
	w.send(w.liPost("a", content)).want(t, 201)
	late := begin("images", "").str("value.uploadUrl")
	w.pass(2 * time.Hour)
	put(late, "x").liFail(t, 400, "EXPIRED_UPLOAD_URL")

	data := string(film()) + strings.Repeat("x", 4_194_304)
	video := begin("videos", fmt.Sprintf(`,"fileSizeBytes":%d,"uploadCaptions":false,"uploadThumbnail":false`, len(data)))
	list, _ := video.json["value"].(map[string]any)["uploadInstructions"].([]any)
	if len(list) != 2 {
		t.Fatalf("%d parts", len(list))
	}
	tags := []string{}
	for i, cut := range []string{data[:4_194_304], data[4_194_304:]} {
		g := put(list[i].(map[string]any)["uploadUrl"].(string), cut).want(t, 200)
		tags = append(tags, g.header.Get("ETag"))
	}
	seal := func(a, b string) got {
		return w.json(li+"/rest/videos?action=finalizeUpload", fmt.Sprintf(`{"finalizeUploadRequest":{"video":%q,"uploadToken":%q,"uploadedPartIds":[%s,%s]}}`, video.str("value.video"), video.str("value.uploadToken"), a, b), liKey...)
	}
	seal(tags[1], tags[0]).liFail(t, 400, "INVALID_VALUE_FOR_FIELD")
	seal(tags[0], tags[1]).want(t, 200)
	for _, want := range []string{"PROCESSING", "PROCESSING", "AVAILABLE"} {
		if g := w.get(li+"/rest/videos/"+video.str("value.video"), liKey...); g.str("status") != want {
			t.Errorf("it is %s, want %s", g.raw, want)
		}
	}
}

// A document goes in one piece, is worked on, and is shown with a title.
func TestLinkedInShowsADocumentByItsTitle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	send := func(data string) string {
		made := w.json(li+"/rest/documents?action=initializeUpload", `{"initializeUploadRequest":{"owner":"urn:li:organization:1001"}}`, liKey...).want(t, 200)
		w.send(w.request("PUT", made.str("value.uploadUrl"), "", data, liKey...)).want(t, 201)
		return made.str("value.document")
	}
	content := func(urn, title string) string {
		return fmt.Sprintf(`,"content":{"media":{"id":%q,"title":%q}}`, urn, title)
	}
	look := func(urn string, want ...string) {
		t.Helper()
		for _, state := range want {
			if g := w.get(li+"/rest/documents/"+urn, liKey...).want(t, 200); g.str("status") != state {
				t.Errorf("it is %s, want %s", g.raw, state)
			}
		}
	}
	urn := send("%PDF-1.4\n1 0 obj\n<< /Type /Page >>\nendobj\n%%EOF")
	w.send(w.liPost("a", content(urn, "Menu"))).liFail(t, 400, "MEDIA_ASSET_WAITING_UPLOAD")
	look(urn, "PROCESSING", "PROCESSING", "AVAILABLE")
	w.send(w.liPost("a", content(urn, " "))).liFail(t, 400, "MISSING_FIELD")
	w.send(w.liPost("a", content(urn, "Menu"))).want(t, 201)
	if p := w.sim.Posts(network.LinkedIn, "1001"); len(p) != 1 || p[0].Title != "Menu" || p[0].Media[0].Type != "application/pdf" {
		t.Errorf("the public sees %+v", p)
	}
	for what, data := range map[string]string{"no PDF": "hello", "too many pages": "%PDF-1.4\n" + strings.Repeat("<< /Type /Page >>\n", 301) + "%%EOF"} {
		broken := send(data)
		look(broken, "PROCESSING", "PROCESSING", "PROCESSING_FAILED")
		if g := w.send(w.liPost("b", content(broken, "Menu"))); g.str("code") != "MEDIA_ASSET_PROCESSING_FAILED" {
			t.Errorf("%s: %s", what, g.raw)
		}
	}
}

func TestLinkedInShowsAMembersPostsToFew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) { o.Closed = true })
	w.sim.AddAccount(network.LinkedIn, sim.Account{ID: "1001", Token: "member", Scopes: []string{"w_member_social"}})
	key := append([]string{}, liKey...)
	key[1] = "Bearer member"
	w.send(w.liPost("a", "", key...)).want(t, 201)
	w.get(li+"/rest/posts?q=author&count=10&author=urn:li:person:1001", append(key, "X-RestLi-Method", "FINDER")...).liFail(t, 403, "ACCESS_DENIED")
}
