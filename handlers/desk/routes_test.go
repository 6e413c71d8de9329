package desk_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var idInAddress = regexp.MustCompile(`\{(account|blackout|client|consent|feed|folder|id|import|invitation|label|link|media|member|note|request|suggestion)\}`)

func TestWhatIsNoIdIsNotFoundWhateverTheFormSays(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	tried := 0
	for pattern := range s.desk.Patterns() {
		method, address, _ := strings.Cut(strings.Replace(pattern, "{slug}", "north", 1), " ")
		if !idInAddress.MatchString(address) {
			continue
		}
		for _, id := range []string{"0", "-1", "abc", "9223372036854775808"} {
			path := strings.ReplaceAll(idInAddress.ReplaceAllString(address, id), "{number}", "1")
			if method == "GET" {
				s.get(t, s.owner, path).want(t, 404)
			} else {
				s.post(t, s.owner, path, url.Values{}).want(t, 404)
			}
			tried++
		}
	}
	if tried < 200 {
		t.Errorf("only %d requests", tried)
	}
}
