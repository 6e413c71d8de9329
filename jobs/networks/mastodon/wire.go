package mastodon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// posted is what of a new post is needed; nothing else in the answer can make
// it unreadable.
type posted struct {
	ID  string `json:"id"`
	URL string `json:"url"`
	URI string `json:"uri"`
}

// address is where people see the post; some servers give private posts a uri
// only.
func (p posted) address() string {
	for _, address := range []string{p.URL, p.URI} {
		if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
			return address
		}
	}
	return ""
}

// status is a post as the server lists it.
type status struct {
	posted
	CreatedAt  time.Time `json:"created_at"`
	Visibility string    `json:"visibility"`
	Content    *string   `json:"content"` // HTML
	ReplyTo    string    `json:"in_reply_to_id"`
	Reblog     *struct{} `json:"reblog"`
	Media      []struct {
		ID string `json:"id"`
	} `json:"media_attachments"`
}

// source is a post's text as it was sent.
type source struct {
	Text    *string `json:"text"`
	Spoiler string  `json:"spoiler_text"`
}

// attachment is an uploaded file; its url is empty while it is processed.
type attachment struct {
	ID string `json:"id"`
}

// refusal is the body of an error.
type refusal struct {
	Error string `json:"error"`
}

// call is one request to an account's server.
type call struct {
	job    networks.Job
	step   httpx.Step
	method string
	path   string
	query  url.Values
	form   url.Values
	key    string // Idempotency-Key
}

// do makes a call and reads its answer into out. Any status but a 2xx is a
// fault, and so is a 2xx that cannot be read.
func (a *Adapter) do(ctx context.Context, c call, out any) (*httpx.Answer, error) {
	req, err := a.request(ctx, c)
	if err != nil {
		return nil, err
	}
	answer, err := a.http.Do(ctx, c.job.Trail, c.step, req)
	if err != nil {
		return answer, err
	}
	if !answer.OK() {
		return answer, sortAnswer(c.step, answer)
	}
	if !parse(answer, out) {
		return answer, httpx.Unparsable(c.step, answer)
	}
	return answer, nil
}

func parse(answer *httpx.Answer, out any) bool { return json.Unmarshal(answer.Body, out) == nil }

func (a *Adapter) request(ctx context.Context, c call) (*http.Request, error) {
	address := a.address(c.job.Account) + c.path
	if len(c.query) > 0 {
		address += "?" + c.query.Encode()
	}
	var body io.Reader
	if c.form != nil {
		body = strings.NewReader(c.form.Encode())
	}
	req, err := http.NewRequestWithContext(ctx, c.method, address, body)
	if err != nil {
		return nil, badAddress()
	}
	if c.form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if c.key != "" {
		req.Header.Set("Idempotency-Key", c.key)
	}
	sign(req, c.job.Account)
	return req, nil
}

// sign adds the credential, and asks for English: a few refusals can be told
// apart by their words only.
func sign(req *http.Request, account networks.Account) {
	req.Header.Set("Authorization", "Bearer "+account.Token.Reveal())
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Language", "en")
}

func badAddress() error {
	return fault.New(fault.Validation, "address", "The account's server address cannot be used. Correct it in the account's settings.")
}

// clientKey is the Idempotency-Key of a logical post: it tells the server
// nothing about us.
func clientKey(key string) string {
	sum := sha256.Sum256([]byte("herald mastodon " + key))
	return hex.EncodeToString(sum[:])
}

// stamp and parseStamp keep an instant in a handle.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func parseStamp(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil
}
