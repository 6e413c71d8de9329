package sim

import (
	"encoding/json"
	"slices"
	"strings"
)

// words are the members of an object that has been read.
type words map[string]any

// readMembers reads an object whose members are told as in bundleParts, and says
// what is wrong with it.
func readMembers(members string, raw json.RawMessage) (words, string) {
	var part words
	if err := json.Unmarshal(raw, &part); err != nil || part == nil {
		return nil, "an object is expected"
	}
	known := map[string]string{}
	for member := range strings.FieldsSeq(members) {
		name, kind, _ := strings.Cut(member, ":")
		known[name] = kind
		if _, there := part[name]; strings.HasSuffix(kind, "!") && !there {
			return nil, name + " is required"
		}
	}
	for name, v := range part {
		kind, ok := known[name]
		if !ok {
			return nil, "Unrecognized key: " + name
		}
		if v != nil && !isKind(strings.TrimSuffix(kind, "!"), v) {
			return nil, "Invalid value: " + name
		}
	}
	return part, ""
}

// isKind says whether a value is of a kind.
func isKind(kind string, v any) bool {
	text, isText := v.(string)
	list, isList := v.([]any)
	switch kind {
	case "s":
		return isText
	case "b":
		_, ok := v.(bool)
		return ok
	case "n":
		n, ok := v.(float64)
		return ok && n >= 0
	case "l":
		return isList && !slices.ContainsFunc(list, func(v any) bool { _, ok := v.(string); return !ok })
	case "o":
		_, ok := v.(map[string]any)
		return ok
	case "a":
		return isList && !slices.ContainsFunc(list, func(v any) bool { _, ok := v.(map[string]any); return !ok })
	case "f":
		return isList && !slices.ContainsFunc(list, func(v any) bool {
			m, _ := v.(map[string]any)
			for name := range m {
				if name != "uploadId" && name != "altText" {
					return true
				}
			}
			return m["uploadId"] == nil
		})
	}
	return isText && slices.Contains(strings.Split(kind, "|"), text)
}

func (w words) text(name string) string {
	s, _ := w[name].(string)
	return s
}

func (w words) list(name string) (words []string) {
	list, _ := w[name].([]any)
	for _, v := range list {
		words = append(words, v.(string))
	}
	return words
}
