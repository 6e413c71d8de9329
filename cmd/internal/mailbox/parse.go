package mailbox

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"time"
)

// Mail is one mail as it arrived.
type Mail struct {
	ID         int       `json:"id"`
	Received   time.Time `json:"received"`
	Recipients []string  `json:"recipients"` // of the envelope
	From       string    `json:"from"`
	To         string    `json:"to"`
	Subject    string    `json:"subject"`
	Date       string    `json:"date"`
	MessageID  string    `json:"message_id"`
	Text       string    `json:"text"`
	HTML       string    `json:"html"`
}

// parse reads a mail. Only what has no header at all is refused; parts that
// cannot be read are left out.
func parse(raw []byte) (Mail, error) {
	msg, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return Mail{}, err
	}
	m := Mail{
		From: words(msg.Header.Get("From")), To: words(msg.Header.Get("To")), Subject: words(msg.Header.Get("Subject")),
		Date: msg.Header.Get("Date"), MessageID: msg.Header.Get("Message-Id"),
	}
	m.read(msg.Header.Get("Content-Type"), msg.Header.Get("Content-Transfer-Encoding"), msg.Body, 0)
	return m, nil
}

// words decodes a header's encoded words.
func words(header string) string {
	decoded, err := new(mime.WordDecoder).DecodeHeader(header)
	if err != nil {
		return header
	}
	return decoded
}

// read takes the first plain and the first HTML part.
func (m *Mail) read(contentType, encoding string, body io.Reader, depth int) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = "text/plain"
	}
	switch {
	case strings.HasPrefix(kind, "multipart/") && depth < 5:
		m.readParts(multipart.NewReader(body, params["boundary"]), depth)
	case kind == "text/plain" && m.Text == "":
		m.Text = decoded(encoding, body)
	case kind == "text/html" && m.HTML == "":
		m.HTML = decoded(encoding, body)
	}
}

func (m *Mail) readParts(parts *multipart.Reader, depth int) {
	for {
		p, err := parts.NextRawPart()
		if err != nil {
			return
		}
		m.read(p.Header.Get("Content-Type"), p.Header.Get("Content-Transfer-Encoding"), p, depth+1)
	}
}

func decoded(encoding string, body io.Reader) string {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	text, _ := io.ReadAll(body) // what could be read of a broken part
	return strings.ReplaceAll(strings.ToValidUTF8(string(text), "\ufffd"), "\r\n", "\n")
}
