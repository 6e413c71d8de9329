package declare

import (
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"herald/db/model"
	"herald/db/network"
)

// A rule returns a value as it is kept, or what is wrong with it in words that
// follow "key: ".

var slugForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

func slug(s string) (string, string) {
	if !slugForm.MatchString(s) {
		return "", "use up to 63 small letters, digits and dashes, beginning with a letter or digit"
	}
	return s, ""
}

// words is a name as people write it.
func words(s string) (string, string) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return "", "it is empty"
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return "", "it holds characters that no name has"
	case utf8.RuneCountInString(s) > 200:
		return "", "it is longer than 200 characters"
	}
	return s, ""
}

// maybe allows a value to be taken away by the empty text.
func maybe(good func(string) (string, string)) func(string) (string, string) {
	return func(s string) (string, string) {
		if s == "" {
			return "", ""
		}
		return good(s)
	}
}

// plain is a value that only the network understands.
func plain(s string) (string, string) {
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) || len(s) > 4000 {
		return "", "it is longer than 4,000 bytes, or holds characters that no text has"
	}
	return s, ""
}

func email(s string) (string, string) {
	s = strings.ToLower(strings.TrimSpace(s))
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || len(s) > 254 {
		return "", "write an e-mail address, as anna@example.com"
	}
	return s, ""
}

func zone(s string) (string, string) {
	if _, err := model.LoadZone(s); err != nil {
		return "", "name a time zone, as Europe/Berlin"
	}
	return s, ""
}

// webAddress is the address of an account; what its network wants more is asked when
// the network is known.
func webAddress(s string) (string, string) { return network.CleanAddress("", s) }

// oneOf takes one of a few words.
func oneOf(list ...string) func(string) (string, string) {
	return func(s string) (string, string) {
		if !slices.Contains(list, s) {
			return "", "write " + strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
		}
		return s, ""
	}
}

func permission(s string) (string, string) {
	var all []string
	for _, p := range model.Owner.Grants() {
		if p != model.WorkspaceManage && p != model.ClientsManage {
			all = append(all, string(p))
		}
	}
	return oneOf(all...)(s)
}

// shortest is the least length of a password that is given in the open.
const shortest = 8

func password(s string) (string, string) {
	if n := utf8.RuneCountInString(s); n < shortest || len(s) > 1024 {
		return "", "a password has at least 8 characters, and at most 1,024 bytes"
	}
	return s, ""
}

var phcForm = regexp.MustCompile(`^\$argon2id\$v=19\$m=[1-9][0-9]*,t=[1-9][0-9]*,p=[1-9][0-9]*\$[A-Za-z0-9+/]{11,}\$[A-Za-z0-9+/]{22,}$`)

func passwordHash(s string) (string, string) {
	if !phcForm.MatchString(s) {
		return "", "write an argon2id hash in PHC form, which begins with $argon2id$v=19$"
	}
	return s, ""
}

// credential is a token; what is wrong with it never shows it.
func credential(s string) (string, string) {
	if s == "" || len(s) > 16<<10 || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return "", "a token has no line breaks and at most 16,384 bytes, and is not empty"
	}
	return s, ""
}
