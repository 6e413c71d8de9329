package web

import (
	"crypto/rand"
	"net/http"
	"regexp"
)

// FormKey names one form that makes something, so that the same form sent again is
// known: by a double click, by the back button, by a browser that tries twice.
func FormKey() string { return rand.Text() }

var keyShape = regexp.MustCompile(`^[A-Za-z0-9_-]{16,64}$`)

// IsFormKey says whether key can be a form's.
func IsFormKey(key string) bool { return keyShape.MatchString(key) }

// SentKey is the key that a form brought along; empty if it is none.
func SentKey(r *http.Request) string {
	key := r.PostFormValue("key")
	if !IsFormKey(key) {
		return ""
	}
	return key
}
