package desk

import (
	"net/http"
	"net/url"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/settings"
)

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
	f, err := h.Look(r.Context(), d.Hosts, d.BaseURL, func(f db.HostFinding) error { return scope.CheckedReviewHost(r.Context(), client, f) })
	say := f.Say
	if f.Live {
		say = "It works: mails lead to " + h.Spelled() + " from now on."
	}
	return d.afterHost(w, r, scope, err, say)
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
func (d *Desk) hostProps(scope *db.Scope, client model.ClientID, h db.ReviewHost, zone string) settings.Host {
	p := settings.Host{Action: lookPath(scope, client) + "/host", Say: h.Say}
	if h.Host == "" {
		return p
	}
	p.Name, p.Plain = h.Spelled(), h.Host
	p.RecordName, p.RecordValue = h.Proof()
	p.Owned, p.Live = h.OwnedAt != nil, h.LiveAt != nil
	if h.LookedAt != nil {
		looked := clientTime(*h.LookedAt, zone)
		p.Looked = &looked
	}
	p.Next = clientTime(h.NextAt, zone)
	if own, err := url.Parse(d.BaseURL); err == nil {
		p.Leads = own.Hostname()
	}
	return p
}
