package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
)

// event is the one event there is.
const event = "post.publish"

type delivery struct {
	Event      string    `json:"event"`
	DeliveryID string    `json:"delivery_id"`
	OccurredAt time.Time `json:"occurred_at"`
	Account    account   `json:"account"`
	Post       post      `json:"post"`
}

type account struct {
	Name string `json:"name"`
}

type post struct {
	Format       network.Format    `json:"format"`
	Text         string            `json:"text"`
	Link         string            `json:"link,omitempty"`
	Title        string            `json:"title,omitempty"`
	FirstComment string            `json:"first_comment,omitempty"`
	Media        []medium          `json:"media,omitempty"`
	Options      map[string]string `json:"options,omitempty"`
}

type medium struct {
	Kind     network.MediaKind `json:"kind"`
	Type     string            `json:"type"`
	URL      string            `json:"url"`
	Name     string            `json:"name,omitempty"`
	Alt      string            `json:"alt,omitempty"`
	Bytes    int64             `json:"bytes,omitempty"`
	Width    int               `json:"width,omitempty"`
	Height   int               `json:"height,omitempty"`
	Duration float64           `json:"duration_seconds,omitempty"`
}

// body is the delivery's JSON, the very bytes that are signed and sent.
func body(job networks.Job, now time.Time) ([]byte, error) {
	p := job.Post
	d := delivery{
		Event: event, DeliveryID: deliveryID(job.Key), OccurredAt: now.UTC().Truncate(time.Second), Account: account{label(job.Account)},
		Post: post{Format: p.Format, Text: p.Text, Link: p.Link, Title: p.Options[network.OptTitle], FirstComment: p.FirstComment, Options: p.Options},
	}
	for _, m := range p.Media {
		d.Post.Media = append(d.Post.Media, medium{m.Kind, m.Type, m.URL, m.Name, m.Alt, m.Bytes, m.Width, m.Height, m.Duration.Seconds()})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // addresses stay readable
	if err := e.Encode(d); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// deliveryID is the same over all attempts of a post, and tells nothing of us.
func deliveryID(key string) string {
	sum := sha256.Sum256([]byte("herald webhook " + key))
	return hex.EncodeToString(sum[:16])
}

// signatures signs with the account's secret and, while it is being exchanged,
// with the one before it, which stands in the place of a refresh token.
func signatures(a networks.Account, stamp string, raw []byte) string {
	s := sign(a.Token, stamp, raw)
	if !a.Refresh.Empty() {
		s += "," + sign(a.Refresh, stamp, raw)
	}
	return s
}

func sign(key secret.Token, stamp string, raw []byte) string {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write([]byte(stamp + "."))
	mac.Write(raw)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// permalink is where the receiver says that the post is to be seen. Only an
// ordinary https address is believed, since people will click it.
func permalink(raw []byte) string {
	var said struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(raw, &said) != nil || len(said.URL) > 2048 {
		return ""
	}
	u, err := url.Parse(said.URL)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return ""
	}
	return u.String()
}
