package desk

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/settings"
)

// HostLooker looks at a name that somebody says is theirs.
type HostLooker interface {
	// Records are the TXT records of a name; none is no error.
	Records(ctx context.Context, name string) ([]string, error)
	// Reads is what stands at an address, at most a line of it.
	Reads(ctx context.Context, address string) (string, error)
}

// hostProof is the record that shows whose a name is.
func hostProof(h db.ReviewHost) (name, value string) {
	return "_herald." + h.Host, "herald-review=" + h.Token
}

// hostBase is the address of a review page's host: as Herald's own, by another name.
func hostBase(base, host string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	if u.Host = host; u.Scheme == "http" && u.Port() == "" {
		if own, err := url.Parse(base); err == nil && own.Port() != "" {
			u.Host += ":" + own.Port()
		}
	}
	return u.Scheme + "://" + u.Host
}

// lookAtHost asks the name's DNS for the record, then the name itself whether it leads
// here. Only the record says whose it is: a name that leads to this Herald may be
// anybody's here.
func (d *Desk) lookAtHost(ctx context.Context, h db.ReviewHost) (f db.HostFinding) {
	f.Host = h.Host
	name, value := hostProof(h)
	records, err := d.Hosts.Records(ctx, name)
	switch {
	case err != nil:
		f.Say = "The DNS of this name did not answer. Try again in a moment."
		return f
	case !slices.Contains(records, value):
		f.Say = "The TXT record at " + name + " is not there yet, or says something else. New records can take an hour to be seen."
		return f
	}
	f.Owned = true
	return f
}

// createHost answers POST .../look/host.
func (d *Desk) createHost(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	client, typed := pathID[model.ClientID](r, "client"), r.PostFormValue("host")
	own, err := url.Parse(d.BaseURL)
	if err != nil {
		return err
	}
	err = scope.KeepReviewHost(r.Context(), client, typed, own.Host)
	return d.afterHost(w, r, scope, err, "Now put the two records into the DNS of this name, then let Herald look.")
}

// createHostRemoval answers POST .../look/host/removal.
func (d *Desk) createHostRemoval(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	err := scope.RemoveReviewHost(r.Context(), pathID[model.ClientID](r, "client"))
	return d.afterHost(w, r, scope, err, "Mails lead to Herald's own address again.")
}

// createHostCheck answers POST .../look/host/checks: it looks at the name now.
func (d *Desk) createHostCheck(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	client := pathID[model.ClientID](r, "client")
	h, err := scope.ReviewHost(r.Context(), client)
	if err != nil {
		return err
	}
	if h.Host == "" {
		return model.Refuse(model.NotFound, "There is no host name to look at.")
	}
	f := d.lookAtHost(r.Context(), h)
	if !f.Owned || h.OwnedAt == nil {
		// The name has to be known before it can answer, and a proxy may have to get it a certificate.
		if err := scope.CheckedReviewHost(r.Context(), client, f); err != nil || !f.Owned {
			return d.afterHost(w, r, scope, err, f.Say)
		}
	}
	if f.Say = d.reachHost(r.Context(), h); f.Say == "" {
		f.Live = true
	}
	say := f.Say
	if f.Live {
		say = "It works: mails lead to " + h.Spelled() + " from now on."
	}
	return d.afterHost(w, r, scope, scope.CheckedReviewHost(r.Context(), client, f), say)
}

// reachHost is what keeps a name from leading here; empty if nothing does.
func (d *Desk) reachHost(ctx context.Context, h db.ReviewHost) string {
	said, err := d.Hosts.Reads(ctx, hostBase(d.BaseURL, h.Host)+web.HostChallenge)
	if err != nil {
		return "The name is yours, but it does not lead to Herald yet, or has no certificate. Check its CNAME record, and ask who hosts Herald."
	}
	if said != h.Token {
		return "The name is yours, but another site answers there. Check its CNAME record."
	}
	return ""
}

func (d *Desk) afterHost(w http.ResponseWriter, r *http.Request, scope *db.Scope, err error, say string) error {
	if no, ok := model.Refused(err); ok && (no.Kind == model.Unprocessable || no.Kind == model.Conflict) {
		return d.drawLook(w, r, scope, web.Status(err), func(p *settings.LookProps) {
			p.Problem = problems(no, "host")
			if typed := r.PostFormValue("host"); typed != "" {
				p.Host.Typed = typed
			}
		})
	}
	if err != nil {
		return err
	}
	return d.say(w, r, lookPath(scope, pathID[model.ClientID](r, "client"))+"#host", say)
}

// hostProps are what the page says of a host name.
func (d *Desk) hostProps(scope *db.Scope, client model.ClientID, h db.ReviewHost) settings.Host {
	p := settings.Host{Action: lookPath(scope, client) + "/host", Say: h.Say}
	if h.Host == "" {
		return p
	}
	p.Name, p.Plain = h.Spelled(), h.Host
	p.RecordName, p.RecordValue = hostProof(h)
	p.Owned, p.Live = h.OwnedAt != nil, h.LiveAt != nil
	if own, err := url.Parse(d.BaseURL); err == nil {
		p.Leads = own.Hostname()
	}
	return p
}
