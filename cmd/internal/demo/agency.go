package demo

import (
	"bytes"
	"context"
	_ "embed"
	"net/url"
	"strings"
	"text/template"
	"time"

	"golang.org/x/sync/errgroup"

	"herald/cmd/internal/declare"
	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/sim"
)

//go:embed agency.yaml
var agencyYAML string

// workspace is the demo's agency.
const workspace = "tidewater"

// agencyZone is where the agency's clocks are.
const agencyZone = "Europe/Berlin"

// password is everybody's. The demo prints it: it guards nothing.
const password = "herald-demo"

// person is somebody who signs in.
type person struct{ name, email, what string }

func people() []person {
	return []person{
		{"nora", "nora@tidewater.example", "owner"},
		{"jonas", "jonas@tidewater.example", "manager of two of the three clients"},
		{"mia", "mia@tidewater.example", "editor"},
		{"sam", "sam@tidewater.example", "viewer"},
	}
}

// readAgency reads the agency as it would be applied now.
func readAgency(now time.Time) (declare.Document, error) {
	location, err := time.LoadLocation(agencyZone)
	if err != nil {
		return declare.Document{}, err
	}
	day := func(n int) string { return now.In(location).AddDate(0, 0, n).Format(time.DateOnly) }
	t, err := template.New("agency.yaml").Funcs(template.FuncMap{"day": day}).Parse(agencyYAML)
	if err != nil {
		return declare.Document{}, err
	}
	var text bytes.Buffer
	if err := t.Execute(&text, nil); err != nil {
		return declare.Document{}, err
	}
	return declare.Parse(declare.Source{Name: "agency.yaml", Text: text.Bytes()})
}

// hashPasswords does the dear part of applying the agency while the servers
// start.
func hashPasswords(ctx context.Context, doc *declare.Document, cost secret.Cost) error {
	g, ctx := errgroup.WithContext(ctx)
	for i := range doc.Users {
		u := &doc.Users[i]
		g.Go(func() (err error) {
			u.PasswordHash, err = secret.HashPassword(ctx, u.Password.Reveal(), cost)
			u.Password = secret.Token{}
			return err
		})
	}
	return g.Wait()
}

// openAccounts declares the agency's accounts to the simulated networks, so that
// they are called there what they are called here. Any token is good for them,
// which lets a person reconnect one; a webhook's receiver knows its secret.
func openAccounts(s *sim.Sim, doc declare.Document) {
	for _, w := range doc.Workspaces {
		for _, c := range w.Clients {
			for _, a := range c.Accounts {
				one := sim.Account{ID: remoteID(a.RemoteID, a.Address), Handle: *a.Handle, Name: *c.Name}
				if *a.Network == network.Webhook {
					one.Token, one.Name = a.Token.Reveal(), *a.Handle
				}
				s.AddAccount(*a.Network, one)
			}
		}
	}
}

// remoteID is what a network calls an account: a webhook is called as its address
// ends.
func remoteID(id, address *string) string {
	if id != nil {
		return *id
	}
	u, err := url.Parse(*address)
	if err != nil {
		return *address
	}
	return u.Path[strings.LastIndex(u.Path, "/")+1:]
}
