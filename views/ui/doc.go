// Package ui holds the parts that every page is made of: buttons, fields,
// dialogs, menus, notices, statuses. A part takes plain values in a props struct
// and draws markup that works without script; the handler has already chosen
// words, zones and addresses. Nothing here asks, counts or knows a permission.
//
// The looks are in static/css, one file per part, under the same nouns as the
// classes. Attrs on a props struct is for hx-* and data-* of the caller; it must
// never carry style or on* attributes, which the content security policy
// refuses. Start with button.templ, field.templ and status.go.
package ui
