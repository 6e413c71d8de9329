package connect

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
)

// Connection is what a network is asked about before Herald keeps a token.
type Connection struct {
	Network   network.Name
	Publisher network.Publisher // the route to it; empty is direct
	RemoteID  string            // empty: not known yet
	Address   string
	Handle    string
	Settings  map[string]string
	Token     secret.Token
}

// TokenChecker asks a network whose token it is. It refuses with a sentence for
// the form if the network does not take it or cannot be asked; of a network that
// has nothing to ask it learns nothing.
type TokenChecker func(ctx context.Context, c Connection) (db.Learned, error)

// AddressChecker refuses an address that a user chose and that Herald may not
// reach, with a sentence for the form.
type AddressChecker func(address string) error

// Clean writes an address that is new as it is kept, and asks whether Herald may
// call it. was is the one that there is.
func (check AddressChecker) Clean(name network.Name, f *db.AccountForm, was string) error {
	if f.Address == "" || f.Address == was {
		return nil
	}
	address, say := network.CleanAddress(name, f.Address)
	if say != "" {
		return model.RefuseField("address", say)
	}
	err := check(address)
	if no, ok := errors.AsType[*model.Refusal](err); ok {
		return model.RefuseField("address", no.Say)
	}
	f.Address = address
	return err
}

// ReadAccount reads what a form says about an account.
func ReadAccount(r *http.Request) db.AccountForm {
	f := db.AccountForm{Handle: strings.TrimSpace(r.PostFormValue("handle")), RemoteID: strings.TrimSpace(r.PostFormValue("remote_id")),
		Address: strings.TrimSpace(r.PostFormValue("address")), Settings: map[string]string{}}
	for name, values := range r.PostForm {
		if key, ok := strings.CutPrefix(name, "setting."); ok && key != "" {
			f.Settings[key] = strings.TrimSpace(values[0])
		}
	}
	if key := strings.TrimSpace(r.PostFormValue("new_key")); key != "" {
		f.Settings[key] = strings.TrimSpace(r.PostFormValue("new_value"))
	}
	return f
}

// shortestSecret is the least length of a signing secret of a person's own.
const shortestSecret = 16

// ReadCredentials reads a token from the form, or makes a secret where the form
// asks for one, as one of an account that signs does.
func ReadCredentials(r *http.Request, signs bool, zone string) (c db.Credentials, made bool, err error) {
	token := strings.TrimSpace(r.PostFormValue("token"))
	if signs && r.PostFormValue("make") != "false" {
		token, _ = secret.NewLinkToken()
		return db.Credentials{Token: secret.NewToken(token)}, true, nil
	}
	if signs && len(token) < shortestSecret {
		return c, false, model.RefuseField("token", "A signing secret has at least 16 characters.")
	}
	c = db.Credentials{Token: secret.NewToken(token), Refresh: secret.NewToken(strings.TrimSpace(r.PostFormValue("refresh")))}
	if local := r.PostFormValue("expires"); local != "" && !signs {
		c.Expires, err = readExpiry(local, zone)
	}
	return c, false, err
}

func readExpiry(text, zone string) (*time.Time, error) {
	local, err := model.ParseLocal(text)
	if err != nil {
		return nil, model.RefuseField("expires", "Give day and time, or leave it empty.")
	}
	when, err := model.Resolve(local, zone, model.Earlier)
	if no, ok := model.Refused(err); ok {
		return nil, model.RefuseField("expires", no.Say)
	}
	if err != nil {
		return nil, err
	}
	return &when.At, nil
}

// SecretField is what is typed when an account is connected again, as the network calls
// it where it has one way to type anything.
func SecretField(name network.Name, by network.Publisher) network.Field {
	if n, ok := network.Get(name); ok && by == network.Direct && len(n.Entries) == 1 {
		for _, f := range n.Entries[0].Fields {
			if f.Name == "token" {
				return f
			}
		}
	}
	return network.Field{Name: "token", Label: "Access token", Secret: true}
}

// saysItself are the fields whose lack the model has a sentence for.
var saysItself = []string{"handle", "address", "token"}

// Filled refuses a form that lacks what its entry asks for, and takes out of a secret
// the spaces that do not count.
func Filled(r *http.Request, e network.Entry, c *db.Credentials) error {
	for _, f := range e.Fields {
		value := strings.TrimSpace(r.PostFormValue(f.Name))
		if value == "" && !f.Optional && !slices.Contains(saysItself, f.Name) {
			return model.RefuseField(f.Name, "This is needed: "+strings.ToLower(f.Label[:1])+f.Label[1:]+".")
		}
		if f.Name == "token" && f.Spaces {
			c.Token = secret.NewToken(strings.Join(strings.Fields(value), ""))
		}
	}
	return nil
}
