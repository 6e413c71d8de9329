package networks

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestASieveJudgesByWhatOnlyOursCarriesFirst(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	post := func(id string, kind string, after time.Duration) Listed {
		return Listed{Receipt: Receipt{ExternalID: id}, Made: noon.Add(after), Proved: kind == "ours", Alike: kind != "other"}
	}
	old := func(n int) (list []Listed) {
		for i := range n {
			list = append(list, post("old"+strconv.Itoa(i), "alike", -time.Hour))
		}
		return list
	}
	for name, c := range map[string]struct {
		list      []Listed
		marked    bool
		unordered bool
		want      Verdict
		id        string
		pages     int
	}{
		"nothing":                         {nil, false, false, Absent, "", 1},
		"ours":                            {[]Listed{post("2", "other", 0), post("1", "ours", 0)}, true, false, Found, "1", 1},
		"ours beside a twin":              {[]Listed{post("2", "alike", 0), post("1", "ours", 0)}, true, false, Found, "1", 1},
		"a twin alone":                    {[]Listed{post("2", "alike", 0)}, true, false, CantTell, "", 1},
		"two of ours":                     {[]Listed{post("2", "ours", 0), post("1", "ours", 0)}, true, false, CantTell, "", 1},
		"one alike":                       {[]Listed{post("1", "alike", 0)}, false, false, Found, "1", 1},
		"two alike":                       {[]Listed{post("1", "alike", 0), post("2", "alike", 0)}, false, false, CantTell, "", 1},
		"tied to another target":          {[]Listed{post("taken", "alike", 0), post("1", "alike", 0)}, false, false, Found, "1", 1},
		"too early, too late":             {[]Listed{post("2", "alike", time.Hour), post("1", "alike", -time.Hour)}, false, false, Absent, "", 1},
		"within the second that it began": {[]Listed{post("1", "alike", -time.Minute)}, false, false, Found, "1", 1},
		"behind one that is pinned":       {append(old(5), post("1", "alike", 0)), false, false, Found, "1", 1},
		"behind a page of old ones":       {append(old(30), post("1", "alike", 0)), false, false, Absent, "", 1},
		"in no order":                     {append(old(30), post("1", "alike", 0)), false, true, Found, "1", 1},
		"without end":                     {[]Listed{post("2", "other", 0)}, false, false, CantTell, "", sievePages},
	} {
		s := Sieve{Window: Window{Since: noon.Add(-time.Minute + 900*time.Millisecond), Until: noon.Add(time.Minute), Taken: []string{"taken"}}, Marked: c.marked, Unordered: c.unordered, Looked: "the list"}
		pages := 0
		f, err := s.Read(t.Context(), func(context.Context, string) ([]Listed, string, error) {
			if pages++; name == "without end" {
				return c.list, strconv.Itoa(pages), nil
			}
			return c.list, "", nil
		})
		if err != nil || f.Verdict != c.want || f.Receipt.ExternalID != c.id || pages != c.pages || !strings.HasSuffix(f.Say, ".") {
			t.Errorf("%s: %+v, %v after %d pages, want %s %s", name, f, err, pages, c.want, c.id)
		}
	}
	s := Sieve{Looked: "the list"}
	f, err := s.Read(t.Context(), func(context.Context, string) ([]Listed, string, error) { return nil, "same", nil })
	if err != nil || f.Verdict != CantTell {
		t.Errorf("a cursor that does not move: %+v, %v", f, err)
	}
}
