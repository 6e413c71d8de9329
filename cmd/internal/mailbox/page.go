package mailbox

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed mailbox.css
var css []byte

//go:embed page.html
var pageHTML string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"links": links, "who": who}).Parse(pageHTML))

// pagePolicy lets the page show itself and its frame; mailPolicy lets a mail show
// its own styles, run nothing, fetch nothing, and open its links elsewhere.
const (
	pagePolicy = "default-src 'none'; style-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	mailPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox"
)

// Handler serves the page, each mail's HTML part in a frame of its own, and
// GET /_mails for tests: all mails as JSON, newest first, ?to= for one recipient.
func (b *Mailbox) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", b.showList)
	mux.HandleFunc("GET /mails/{id}", b.showMail)
	mux.HandleFunc("GET /mails/{id}/html", b.showHTML)
	mux.HandleFunc("GET /_mails", b.showJSON)
	mux.HandleFunc("GET /mailbox.css", func(w http.ResponseWriter, _ *http.Request) { write(w, "text/css; charset=utf-8", pagePolicy, css) })
	return mux
}

// pageProps are the list and, if one was chosen, the mail.
type pageProps struct {
	Mails []Mail
	Mail  *Mail
	Clock func(time.Time) string
}

func (b *Mailbox) showList(w http.ResponseWriter, _ *http.Request) { b.show(w, nil) }

func (b *Mailbox) showMail(w http.ResponseWriter, r *http.Request) {
	if m, ok := b.chosen(w, r); ok {
		b.show(w, &m)
	}
}

func (b *Mailbox) show(w http.ResponseWriter, chosen *Mail) {
	var out bytes.Buffer
	if err := page.Execute(&out, pageProps{b.Mails(), chosen, b.clock}); err != nil {
		http.Error(w, "The page could not be drawn.", http.StatusInternalServerError)
		return
	}
	write(w, "text/html; charset=utf-8", pagePolicy, out.Bytes())
}

// showHTML gives the HTML part as it came, but for one thing: its links open
// outside of the frame.
func (b *Mailbox) showHTML(w http.ResponseWriter, r *http.Request) {
	if m, ok := b.chosen(w, r); ok {
		write(w, "text/html; charset=utf-8", mailPolicy, []byte(strings.Replace(m.HTML, "<head>", `<head><base target="_blank">`, 1)))
	}
}

func (b *Mailbox) showJSON(w http.ResponseWriter, r *http.Request) {
	list := b.Mails()
	if to := r.FormValue("to"); to != "" {
		list = slices.DeleteFunc(list, func(m Mail) bool { return !slices.Contains(m.Recipients, to) })
	}
	out, err := json.Marshal(append([]Mail{}, list...)) // no mail is [], not null
	if err != nil {
		http.Error(w, "The mails could not be written.", http.StatusInternalServerError)
		return
	}
	write(w, "application/json", pagePolicy, out)
}

func (b *Mailbox) chosen(w http.ResponseWriter, r *http.Request) (Mail, bool) {
	id, err := strconv.Atoi(r.PathValue("id"))
	m, ok := b.mail(id)
	if err != nil || !ok {
		http.Error(w, "There is no such mail. The mailbox keeps the newest 500.", http.StatusNotFound)
		return Mail{}, false
	}
	return m, true
}

func write(w http.ResponseWriter, contentType, policy string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(body)
}

// piece is a stretch of plain text, an address to follow or not.
type piece struct {
	Text string
	Link bool
}

var address = regexp.MustCompile(`https?://[^\s<>"]*[^\s<>".,;:!?)]`)

// links cuts plain text so that its addresses can be followed.
func links(text string) (pieces []piece) {
	at := 0
	for _, span := range address.FindAllStringIndex(text, -1) {
		pieces = append(pieces, piece{Text: text[at:span[0]]}, piece{text[span[0]:span[1]], true})
		at = span[1]
	}
	return append(pieces, piece{Text: text[at:]})
}

// who is the name of an address, else the address.
func who(header string) string {
	a, err := mail.ParseAddress(header)
	if err != nil || a.Name == "" {
		return strings.Trim(header, "<>")
	}
	return a.Name
}

// clock is the time of day, with the day in front if that is not today.
func (b *Mailbox) clock(at time.Time) string {
	at, now := at.Local(), b.now().Local()
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format("15:04:05")
	}
	return at.Format("2 Jan 15:04")
}
