package ui

import "github.com/a-h/templ"

// servers is a text whose lines may also break before the @ of a server. The
// break is the style's, since a <wbr> would be part of what is read out. It is
// written by hand, since a template sets white space between its parts.
func servers(text string) templ.Component {
	parts := beforeServers(text)
	out := templ.EscapeString(parts[0])
	for _, part := range parts[1:] {
		out += `<span class="server">` + templ.EscapeString(part) + "</span>"
	}
	return templ.Raw(out)
}

// beforeServers cuts a text before each @ that stands inside a word:
// "@bakery@social.example" is "@bakery" and "@social.example".
func beforeServers(text string) (parts []string) {
	from := 0
	for i := 1; i < len(text); i++ {
		if text[i] == '@' && text[i-1] != ' ' && text[i-1] != '@' {
			parts, from = append(parts, text[from:i]), i
		}
	}
	return append(parts, text[from:])
}
