package boot

import (
	"context"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/connect"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
)

// checkPatience is how long a person waits for a network's answer on a form.
const checkPatience = 15 * time.Second

// tokenChecker asks the adapter of a network, or of the publisher that an account is reached by, where it can tell, whose a token
// is, and says a refusal in words for the form.
func tokenChecker(adapters map[network.Name]networks.Adapter, aggregators map[network.Publisher]networks.Adapter) connect.TokenChecker {
	return func(ctx context.Context, c connect.Connection) (db.Learned, error) {
		adapter, who := adapters[c.Network], network.Label(c.Network)
		if c.Publisher != "" && c.Publisher != network.Direct {
			adapter, who = aggregators[c.Publisher], network.PublisherLabel(c.Publisher)
		}
		checker, ok := adapter.(networks.Checker)
		if !ok {
			return db.Learned{}, nil
		}
		ctx, cancel := context.WithTimeout(ctx, checkPatience)
		defer cancel()
		p, err := checker.Check(ctx, networks.Account{Network: c.Network, RemoteID: c.RemoteID, Address: c.Address, Handle: c.Handle, Token: c.Token, Settings: c.Settings})
		if err != nil {
			return db.Learned{}, notTaken(who, fault.Of(err))
		}
		return db.Learned{RemoteID: p.RemoteID, Handle: p.Handle, Scopes: p.Scopes, Settings: p.Settings}, nil
	}
}

// notTaken is a fault as whoever pasted the token reads it.
func notTaken(name string, f *fault.Fault) error {
	switch f.Kind {
	case fault.Auth:
		return model.RefuseField("token", name+" does not accept this token. Copy it again, whole, or get a new one there.")
	case fault.Permission, fault.Validation:
		return model.RefuseField("token", f.Say)
	}
	return model.RefuseField("token", name+" could not be reached to check this token, so nothing was saved. Try again in a few minutes.")
}
