package instagram

import (
	"testing"
	"time"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/nettest"
)

func TestFindAsksTheContainerThenTheList(t *testing.T) {
	t.Parallel()
	all := posts()
	bare := all["image"]
	bare.Text = ""
	other := all["image"]
	other.Text = "Something else"
	list := nettest.File(t, "media.json")
	twins := `{"data":[{"id":"1","caption":"Look","timestamp":"2026-05-01T10:00:00+0000","media_type":"IMAGE"},{"id":"2","caption":"Look","timestamp":"2026-05-01T10:00:00+0000","media_type":"IMAGE"}]}`
	blank := `{"data":[{"id":"3","timestamp":"2026-05-01T10:00:00+0000","media_type":"IMAGE","media_product_type":"FEED"}]}`
	story := `{"data":[{"id":"4","timestamp":"2026-05-01T10:00:00+0000","media_type":"IMAGE","media_product_type":"STORY"}]}`
	code := func(s string) nettest.Answer { return reply("id", "17900", "status_code", s) }
	for _, c := range []struct {
		name   string
		post   networks.Post
		state  nettest.Answer
		list   string
		w      networks.Window
		want   string
		id     string
		single bool // the list is not even asked for
	}{
		{"published", all["image"], code(graph.Published), list, window, "found", "18001", false},
		{"published carousel", all["carousel"], code(graph.Published), list, window, "found", "18002", false},
		{"published reel", all["reel"], code(graph.Published), list, window, "found", "18003", false},
		{"published, said in words only", all["image"], reply("status", "Published: Media has been successfully published."), list, window, "found", "18001", false},
		{"published, not listed yet", all["image"], code(graph.Published), `{"data":[]}`, window, "transient", "", false},
		{"published, two alike", all["image"], code(graph.Published), twins, window, "cant_tell", "", false},
		{"published, one of two taken", all["image"], code(graph.Published), twins, networks.Window{Since: window.Since, Until: window.Until, Taken: []string{"1"}}, "found", "2", false},
		{"published without a caption", bare, code(graph.Published), blank, window, "found", "3", false},
		{"published story", all["story"], code(graph.Published), story, window, "found", "4", false},
		{"finished, and another like it is listed", all["image"], code(graph.Finished), list, window, "cant_tell", "", false},
		{"finished and not listed", other, code(graph.Finished), list, window, "absent", "", false},
		{"finished, listed too early", all["image"], code(graph.Finished), list, networks.Window{Since: noon.Add(time.Second), Until: window.Until}, "absent", "", false},
		{"finished, listed but taken", all["image"], code(graph.Finished), list, networks.Window{Since: window.Since, Until: window.Until, Taken: []string{"18001"}}, "absent", "", false},
		{"finished without a caption", bare, code(graph.Finished), blank, window, "cant_tell", "", false},
		{"finished story, another one there", all["story"], code(graph.Finished), story, window, "cant_tell", "", false},
		{"finished story", all["story"], code(graph.Finished), `{"data":[]}`, window, "absent", "", false},
		{"in progress", other, code(graph.InProgress), list, window, "absent", "", false},
		{"expired", all["image"], code(graph.Expired), list, window, "absent", "", true},
		{"failed", all["image"], reply("status", "Error: 2207026"), list, window, "absent", "", true},
		{"vanished and listed", all["image"], refuse(100, 33), list, window, "found", "18001", false},
		{"vanished and not listed", other, refuse(24, 2207008), list, window, "absent", "", false},
		{"token dead", all["image"], refuse(190, 463), list, window, "auth", "", true},
	} {
		h := nettest.New(t, func(call nettest.Call) nettest.Answer {
			if call.Name() == "GET 17900" {
				return c.state
			}
			return nettest.Answer{Body: c.list}
		})
		kept := h.Handles()
		kept.Kept[container] = "17900"
		got, err := adapter(h).Find(t.Context(), jobOf(c.post), kept, c.w)
		verdict := string(got.Verdict)
		if err != nil {
			verdict = string(fault.Of(err).Kind)
		} else if got.Say == "" {
			t.Errorf("%s: says nothing", c.name)
		}
		if verdict != c.want || got.Receipt.ExternalID != c.id || (len(h.Calls()) == 1) != c.single {
			t.Errorf("%s: got %s %+v, want %s %s\n%s", c.name, verdict, got, c.want, c.id, h.Log())
		}
	}
}

func TestWithoutAContainerNothingCanBeLive(t *testing.T) {
	t.Parallel()
	h := host(t, newAccount())
	kept := h.Handles()
	kept.Kept["child.1"] = "17900"
	got, err := adapter(h).Find(t.Context(), jobOf(posts()["carousel"]), kept, window)
	if err != nil || got.Verdict != networks.Absent || len(h.Calls()) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}
