package web

import (
	"strings"
	"unicode/utf8"

	"herald/db/model"
	"herald/db/secret"
)

// passwordLeast is how many characters a new password has at least.
const passwordLeast = 10

// CheckNewPassword refuses, for the field "secret", a password that is short, that is
// the person's own address, or that repeats one character.
func CheckNewPassword(password, email string) error {
	name, _, _ := strings.Cut(email, "@")
	lower := strings.ToLower(password)
	switch {
	case utf8.RuneCountInString(password) < passwordLeast:
		return model.RefuseField("secret", "Use ten characters or more.")
	case len(password) > secret.MaxPassword:
		return model.RefuseField("secret", "Use at most 1,024 characters.")
	case lower == email || lower == name || strings.Trim(password, password[:1]) == "":
		return model.RefuseField("secret", "That is too easy to guess. A few words that only you would put together are best.")
	}
	return nil
}
