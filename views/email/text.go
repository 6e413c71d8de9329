package email

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// width is where lines of the plain part break.
const width = 72

// Text is the plain part: the same words in the same order.
func (l Letter) Text() string {
	var t text
	t.paragraph(l.Hello)
	for _, s := range l.Say {
		t.paragraph(s)
	}
	for _, p := range l.Posts {
		t.post(p)
	}
	if l.More > 0 {
		t.paragraph(more(l.More))
	}
	t.paragraph(l.Label + ":")
	t.tight(l.URL) // on a line of its own, never broken
	for _, s := range l.After {
		t.paragraph(s)
	}
	if l.Stop != "" {
		t.paragraph(stopLabel + ":")
		t.tight(l.Stop)
	}
	t.paragraph("-- ")
	t.tight(wrap(signature(l), width))
	return t.String() + "\n"
}

func more(n int) string { return fmt.Sprintf("And %d more on the page.", n) }

func signature(l Letter) string {
	if l.Agency == "" {
		return l.Why
	}
	return l.Agency + ", by Herald. " + l.Why
}

// text is paragraphs with an empty line between them.
type text struct{ strings.Builder }

func (t *text) paragraph(s string) {
	if t.Len() > 0 {
		t.WriteString("\n\n")
	}
	if s != "-- " { // the mark of a signature, space included
		s = wrap(s, width)
	}
	t.WriteString(s)
}

func (t *text) tight(s string) { t.WriteString("\n" + s) }

func (t *text) post(p Post) {
	var lines []string
	for _, s := range []string{p.Verdict, words(p.Words), join(p.Client, p.Where), p.Note, planned(p.When), stage(p.Stage), quoted(p.Excerpt, 280)} {
		if s != "" {
			lines = append(lines, wrap(s, width-2))
		}
	}
	if p.Picture != "" {
		lines = append(lines, wrap("["+pictureWords(p.Alt)+"]", width-2))
	}
	t.paragraph("")
	t.WriteString("  " + strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\n  "))
}

const stopLabel = "I want no more reminders"

// pictureWords stand where a picture is not seen.
func pictureWords(alt string) string {
	if alt == "" {
		return "The picture of this post"
	}
	return "Picture: " + alt
}

func words(decider string) string {
	if decider == "" {
		return ""
	}
	return "“" + decider + "”"
}

func planned(when string) string {
	if when == "" {
		return ""
	}
	return "Planned for " + when
}

func stage(name string) string {
	if name == "" {
		return ""
	}
	return "Step: " + name
}

func join(parts ...string) string {
	var some []string
	for _, p := range parts {
		if p != "" {
			some = append(some, p)
		}
	}
	return strings.Join(some, " · ")
}

// wrap breaks lines between words; a longer word stays whole.
func wrap(s string, width int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
