package desk

import (
	"net/http"
	"strconv"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/settings"
)

// linkTagsPart is a client's rule as its form shows it.
func linkTagsPart(path, client string, t db.LinkTags) settings.LinkTags {
	p := settings.LinkTags{Action: path + "/link-tags", Seen: strconv.Itoa(t.Revision), Source: t.Source, Medium: t.Medium, Campaign: t.Campaign, Term: t.Term, Content: t.Content,
		Hosts: strings.Join(t.Hosts, "\n"), Everywhere: t.Everywhere}
	if t.Active() {
		host := "example.com"
		if len(t.Hosts) > 0 {
			host = t.Hosts[0]
		}
		tags := network.LinkTags{Source: t.Source, Medium: t.Medium, Campaign: t.Campaign, Term: t.Term, Content: t.Content, Everywhere: true}
		p.Example = tags.Fill(map[string]string{"network": string(network.Facebook), "client": client, "campaign": "Spring sale"}).Link("https://" + host + "/")
	}
	return p
}

// setLinkTags answers POST /settings/clients/{client}/link-tags.
func (d *Desk) setLinkTags(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	client := pathID[model.ClientID](r, "client")
	seen, err := web.Count(r.PostFormValue("seen"))
	if err != nil {
		return errForm
	}
	value := func(name string) string { return strings.Join(strings.Fields(typed(r.PostFormValue(name))), " ") }
	t := db.LinkTags{ClientID: client, Source: value("source"), Medium: value("medium"), Campaign: value("campaign"), Term: value("term"), Content: value("content"),
		Everywhere: r.PostFormValue("everywhere") == "true", Revision: seen}
	hosts, wrong := network.ParseHosts(typed(r.PostFormValue("hosts")))
	t.Hosts = hosts
	if wrong == "" {
		err = scope.SetLinkTags(r.Context(), t)
	} else {
		err = model.RefuseField("hosts", "“"+model.Excerpt(wrong, 60)+"” is no website. Write it as example.com.")
	}
	if no, ok := model.Refused(err); ok && no.Field != "" {
		return d.drawClient(w, r, scope, web.Status(err), func(p *settings.ClientProps) {
			p.LinkTags = linkTagsPart(clientPath(scope, client), p.Name, t)
			p.LinkTags.Hosts, p.LinkTags.Problem = r.PostFormValue("hosts"), problems(no, "hosts")
		})
	}
	if err != nil {
		return err
	}
	return d.say(w, r, clientPath(scope, client)+"#link-tags", "Saved. What is written from now on has these tags.")
}
