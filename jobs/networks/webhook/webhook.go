package webhook

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// Adapter delivers to receivers. It is safe for concurrent use.
type Adapter struct {
	http *httpx.Client
	base string // stands for the host of every receiver; empty outside tests and simulations
	now  func() time.Time
}

// New makes the adapter. A base address in env replaces scheme and host of the
// accounts' addresses and goes before their paths.
func New(env networks.Env) *Adapter {
	a := &Adapter{http: env.Guarded, base: env.Base, now: env.Now}
	if a.now == nil {
		a.now = time.Now
	}
	return a
}

var _ networks.Adapter = (*Adapter)(nil)

// Prepare sends nothing: it refuses what could not be delivered whole.
func (a *Adapter) Prepare(_ context.Context, job networks.Job, _ networks.Handles) (networks.Ready, error) {
	if job.Account.Token.Empty() {
		return networks.Ready{}, fault.New(fault.Auth, "no_secret", "This webhook has no signing secret. Enter one in the account's settings.")
	}
	for i, m := range job.Post.Media {
		if m.URL == "" {
			return networks.Ready{}, fault.New(fault.Validation, "media_missing", "File "+strconv.Itoa(i+1)+" has no address to fetch it from. Attach it again.")
		}
	}
	return networks.Ready{Job: job}, nil
}

// Commit makes the delivery. Any 2xx is success, whatever its body and even if
// the body breaks off.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	job := ready.Job
	req, err := a.request(ctx, job)
	if err != nil {
		return networks.Receipt{}, err
	}
	answer, err := a.http.Do(ctx, httpx.Hide(job.Trail, req.URL.EscapedPath()), httpx.Commit, req)
	switch {
	case answer != nil && answer.OK():
		return networks.Receipt{ExternalID: deliveryID(job.Key), Permalink: permalink(answer.Body), RequestID: answer.RequestID}, nil
	case err != nil:
		return networks.Receipt{}, err
	}
	return networks.Receipt{}, sortAnswer(answer)
}

func (a *Adapter) request(ctx context.Context, job networks.Job) (*http.Request, error) {
	now := a.now()
	raw, err := body(job, now)
	if err != nil {
		return nil, &fault.Fault{Kind: fault.Validation, Code: "body", Say: "The post holds something that cannot be delivered.", Cause: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.address(job.Account), bytes.NewReader(raw))
	if err != nil {
		return nil, fault.New(fault.Validation, "address", "The webhook's address cannot be used. Correct it in the account's settings.")
	}
	stamp := strconv.FormatInt(now.Unix(), 10)
	for name, value := range map[string]string{
		"Content-Type":    "application/json",
		"X-Event":         event,
		"X-Delivery-Id":   deliveryID(job.Key),
		"X-Attempt":       strconv.Itoa(max(job.Attempt, 1)),
		"X-Timestamp":     stamp,
		"X-Signature-256": signatures(job.Account, stamp, raw),
	} {
		req.Header.Set(name, value)
	}
	return req, nil
}

// Find asks nobody: a receiver has no list. It may be said that the post is
// absent all the same, because that leads to the same delivery again, under the
// same id, and a receiver that had it the first time does not publish it twice.
// This is right for webhooks and for nothing else.
func (a *Adapter) Find(context.Context, networks.Job, networks.Handles, networks.Window) (networks.Finding, error) {
	return networks.Finding{Verdict: networks.Absent,
		Say: "A webhook cannot be asked, but its receiver recognises a repeated delivery by its id, so the same delivery is sent again."}, nil
}

// address is where an account's deliveries go.
func (a *Adapter) address(account networks.Account) string {
	address := strings.TrimSpace(account.Address)
	base := strings.TrimRight(a.base, "/")
	if base == "" || strings.HasPrefix(address, base+"/") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return base + u.RequestURI()
}

// label is the name that the receiver knows the account by.
func label(account networks.Account) string {
	if account.Handle != "" {
		return account.Handle
	}
	return network.Label(network.Webhook)
}

// Straight: a delivery is one call, and Prepare makes none.
func (a *Adapter) Straight(network.Format) bool { return true }
