package network

import (
	"strings"
	"testing"
)

func TestAnAddressIsKeptInOneForm(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://social.example":                    "https://social.example",
		" HTTPS://Social.Example./ ":                "https://social.example",
		"https://social.example:443":                "https://social.example",
		"http://social.example:80/":                 "http://social.example",
		"https://social.example:08443":              "https://social.example:8443",
		"https://Bücher.example":                    "https://xn--bcher-kva.example",
		"https://bücher.example?":                   "https://xn--bcher-kva.example",
		"https://" + strings.Repeat("a", 63) + ".x": "https://" + strings.Repeat("a", 63) + ".x",
		"http://127.0.0.1:9090":                     "http://127.0.0.1:9090",
		"https://[2001:DB8::1]:8443":                "https://[2001:db8::1]:8443",
	} {
		if got, say := CleanAddress(Mastodon, raw); got != want || say != "" {
			t.Errorf("%q: %q, %s", raw, got, say)
		}
	}
	for raw, want := range map[string]string{
		"https://Hooks.example/Herald/In?Key=A%20b": "https://hooks.example/Herald/In?Key=A%20b",
		"https://hooks.example:443/":                "https://hooks.example",
		"https://hooks.example/ä":                   "https://hooks.example/%C3%A4",
	} {
		if got, say := CleanAddress(Webhook, raw); got != want || say != "" {
			t.Errorf("%q: %q, %s", raw, got, say)
		}
	}
}

func TestAnAddressThatIsNoneIsRefusedInASentence(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"":                                                    sayNoAddress,
		"social":                                              sayNoAddress,
		"social.example":                                      "Begin the address with https://, as https://social.example.",
		"Social.example/@anna":                                "Begin the address with https://, as https://social.example.",
		"@anna@social.example":                                sayNoAddress,
		"https://":                                            sayNoAddress,
		"https:social.example":                                sayNoAddress,
		"ftp://social.example":                                "Begin the address with https://; nothing else",
		"https://a..example":                                  "two dots in a row",
		"https://.example":                                    "two dots in a row, or begins with one",
		"https://a.example..":                                 "two dots in a row",
		"https://.":                                           sayNoAddress,
		"https://anna@social.example":                         "Leave user name and password out",
		"https://anna:pw@social.example":                      "Leave user name and password out",
		"https://social.example#top":                          "after #",
		"https://social.example#":                             "after #",
		"https://social.example:0":                            sayPort,
		"https://social.example:65536":                        sayPort,
		"https://social.example:":                             sayPort,
		"https://social.example:https":                        sayPort,
		"https://soc ial.example":                             "spaces or characters",
		"https://soc\u200bial.example":                        "spaces or characters",
		"https://social.example\\@evil.com":                   "spaces or characters",
		"https://soc%20ial.example":                           "not a",
		"https://" + strings.Repeat("a", 64) + ".example":     "longer than 63",
		"https://" + strings.Repeat("ü", 60) + ".example":     "longer than 63",
		"https://" + strings.Repeat("a.", 130) + "example":    "longer than 253",
		"https://-a.example":                                  "not a host name",
		"https://a_b.example":                                 "not a host name",
		"https://[fe80::1%25eth0]":                            "not a host name",
		"https://social.example/" + strings.Repeat("a", 2048): "too long",
	} {
		for _, name := range []Name{Mastodon, Webhook, ""} {
			if got, say := CleanAddress(name, raw); got != "" || !strings.Contains(say, want) || !strings.HasSuffix(say, ".") {
				t.Errorf("%q for %s: %q, %q, want %q", raw, name, got, say, want)
			}
		}
	}
	const alone = "Give the server alone, without what comes after its name: https://social.example."
	for _, raw := range []string{"https://social.example/@anna", "https://Social.example/?x=1", "https://social.example//", "https://social.example/api/v1"} {
		if got, say := CleanAddress(Mastodon, raw); got != "" || say != alone {
			t.Errorf("%q: %q, %q", raw, got, say)
		}
	}
}

func FuzzCleanAddress(f *testing.F) {
	for _, raw := range []string{"https://Bücher.example./?", "http://[::1]:80/", "https://a..b", "https://x:0", "https://0x7f.1/%2e%2e?a=b&c", "https://ß.example"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, name := range []Name{Mastodon, Webhook} {
			once, say := CleanAddress(name, raw)
			if (once == "") == (say == "") {
				t.Fatalf("%q: both or neither: %q, %q", raw, once, say)
			}
			if once == "" {
				continue
			}
			if again, say := CleanAddress(name, once); again != once || say != "" {
				t.Errorf("%q became %q, and then %q (%s)", raw, once, again, say)
			}
		}
	})
}
