package desk

import (
	"net/http"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/views/accounts"
	"herald/views/ui"
)

// showAccounts answers GET /accounts: every account that the person may see.
func (d *Desk) showAccounts(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	all, err := scope.Accounts(r.Context())
	if err != nil {
		return err
	}
	p := accounts.PageProps{Networks: at(scope, "/settings/networks"), Paused: since(all.PausedAt, scope.Workspace.Zone)}
	if scope.Actor.MayAnywhere(model.WorkspaceManage) {
		p.Pause = pauseSwitch(at(scope, "/pause"), all.PausedAt != nil, "workspace", "Holds back everything that is due, for every client, until it is resumed.")
	}
	client, err := optionalID(r.URL.Query().Get("client"))
	if err != nil {
		return err
	}
	for _, c := range all.Clients {
		if client != 0 && c.ID != model.ClientID(client) {
			continue
		}
		p.Clients = append(p.Clients, d.accountClient(scope, c))
	}
	if client != 0 && len(p.Clients) == 0 {
		return model.Refuse(model.NotFound, "There is no such client.")
	}
	return d.show(w, r, scope, http.StatusOK, page{title: "Accounts", nav: "accounts", clients: true, live: true}, accounts.Page(p))
}

func (d *Desk) accountClient(scope *db.Scope, c db.ClientAccounts) accounts.Client {
	client := accounts.Client{ID: "client-" + id(c.ID), Name: c.Name, Paused: since(c.PausedAt, c.Zone)}
	if scope.Actor.May(model.ClientsManage, c.ID) {
		client.Pause = pauseSwitch(at(scope, "/clients/"+id(c.ID)+"/pause"), c.PausedAt != nil, "client", "Holds back everything that is due for "+c.Name+" until it is resumed.")
	}
	if scope.Actor.May(model.AccountsManage, c.ID) {
		client.Add, client.Ask = at(scope, "/accounts/new?client="+id(c.ID)), connectLinksPath(scope, c.ID)
	}
	for _, a := range c.Accounts {
		client.Cards = append(client.Cards, d.accountCard(scope, a))
	}
	return client
}

// since is the time of something that may not be.
func since(t *time.Time, zone string) *ui.TimeProps {
	if t == nil {
		return nil
	}
	return ref(clientTime(*t, zone))
}

func pauseSwitch(action string, paused bool, what, say string) *accounts.Switch {
	if paused {
		return &accounts.Switch{Action: action, Name: "paused", Value: "false", Label: "Resume " + what, Icon: "play"}
	}
	return &accounts.Switch{Action: action, Name: "paused", Value: "true", Label: "Pause " + what, Icon: "pause", Say: say}
}

func accountPath(scope *db.Scope, a db.AccountCard, rest string) string {
	return at(scope, "/accounts/"+id(a.ID)+rest)
}

// accountCard is an account in words, with what the person may do about it.
func (d *Desk) accountCard(scope *db.Scope, a db.AccountCard) accounts.Card {
	c := accounts.Card{
		ID: "account-" + id(a.ID), Href: accountPath(scope, a, ""), Network: string(a.Network), Label: network.Label(a.Network), Handle: a.Handle,
		State: accountState(a, d.Now()), Address: a.Address, Facts: d.accountFacts(a), ErrorAt: since(a.LastErrorAt, a.Zone), Stuck: a.Stuck,
	}
	if a.LastError != nil {
		c.Error = *a.LastError
	}
	if a.Disconnected != nil && c.State == string(db.AccountReconnect) {
		c.State = "disconnected"
	}
	if a.State == db.AccountActive && c.State != string(db.AccountReconnect) && endsSoon(a, d.Now()) {
		c.Ends, c.EndsSay = since(a.Ends, a.Zone), endsWords(a)
	}
	if c.Error == "" && c.State == string(db.AccountReconnect) {
		c.Error = label(a) + " no longer accepts its token, or it never had one."
	}
	seen := id(int64(a.Revision))
	if a.Stuck > 0 && c.State == string(db.AccountActive) && scope.Actor.May(model.PostsSchedule, a.ClientID) {
		c.Retry = &accounts.Switch{Action: accountPath(scope, a, "/retries"), Label: retryWords(a.Stuck), Icon: "rotate-cw", Say: "Sends the approved versions now."}
	}
	if !scope.Actor.May(model.AccountsManage, a.ClientID) {
		return c
	}
	if c.State == string(db.AccountReconnect) || c.State == "disconnected" || c.Ends != nil {
		c.Fix = accountPath(scope, a, "#connection")
	}
	if a.State != db.AccountDisabled {
		c.Pause = pauseSwitch(accountPath(scope, a, "/pause"), a.PausedAt != nil, "account", "Holds back what is due here until it is resumed.")
		c.Pause.Seen = seen
	}
	return c
}

func label(a db.AccountCard) string { return network.Label(a.Network) }

func retryWords(n int) string {
	if n == 1 {
		return "Retry the affected post"
	}
	return "Retry the " + id(int64(n)) + " affected posts"
}

// accountState is the state that a person should see first: what was switched
// off, then what is broken, then what is held back. A token that has run out and
// cannot be renewed is broken, before a post finds out.
func accountState(a db.AccountCard, now time.Time) string {
	switch {
	case a.State != db.AccountActive:
		return string(a.State)
	case a.Expires != nil && !a.HasRefresh && !a.Expires.After(now):
		return string(db.AccountReconnect)
	case a.PausedAt != nil:
		return "paused"
	case endsSoon(a, now):
		return "ending"
	}
	return string(a.State)
}

// endsSoon says that nothing has prolonged the connection, which ends within two weeks.
func endsSoon(a db.AccountCard, now time.Time) bool {
	return a.Ends != nil && a.Ends.After(now) && a.Ends.Sub(now) <= db.EndsSoon
}

func endsWords(a db.AccountCard) string {
	if a.HasRefresh && !fixedEnd(a) {
		return "The connection ends soon. Herald renews it by itself and has not managed to; it goes on trying. Reconnecting helps at once."
	}
	return "The connection ends soon: " + label(a) + " then asks for a person to sign in again. Reconnect before, and nothing is held up."
}

// waitingWords say what a post of the account waits for, where a person holds it
// back.
func waitingWords(a db.AccountCard) string {
	if a.PausedAt != nil {
		return ", until the account is resumed"
	}
	return ""
}

// fixedEnd says that no renewal prolongs the connection.
func fixedEnd(a db.AccountCard) bool {
	n, ok := network.Get(a.Network)
	return ok && n.Renews != nil && n.Renews.From == network.FromConsent
}

func (d *Desk) accountFacts(a db.AccountCard) []ui.Fact {
	var facts []ui.Fact
	when := func(name string, t time.Time) {
		facts = append(facts, ui.Fact{Name: name, Value: ui.Time(clientTime(t, a.Zone))})
	}
	words := func(name, value string) {
		if value != "" {
			facts = append(facts, ui.Fact{Name: name, Value: ui.Text(value)})
		}
	}
	if a.Publisher != network.Direct {
		words("Reached by", network.PublisherLabel(a.Publisher))
	}
	if a.Waiting > 0 {
		words("Waiting", postsWords(a.Waiting)+waitingWords(a))
		when("Due since", *a.WaitingFrom)
	}
	switch {
	case a.Planned > 0:
		words("Planned", postsWords(a.Planned))
		when("Next", *a.NextAt)
	case a.Waiting > 0:
		words("Planned", "nothing further")
	default:
		words("Planned", "nothing")
	}
	switch {
	case a.Expires == nil || a.State == db.AccountActive && endsSoon(a, d.Now()):
	case a.HasRefresh && a.Ends != nil && fixedEnd(a):
		words("Token", "renews itself")
		when("Connection ends", *a.Ends)
	case a.HasRefresh:
		words("Token", "renews itself")
	case a.Expires.After(d.Now()):
		when("Token runs out", *a.Expires)
	default:
		when("Token ran out", *a.Expires)
	}
	if a.ClosedUntil != nil && a.ClosedUntil.After(d.Now()) {
		when("Asked to wait until", *a.ClosedUntil)
	}
	if a.Disconnected != nil {
		when("Disconnected", *a.Disconnected)
	}
	if a.PausedAt != nil {
		when("Paused since", *a.PausedAt)
	}
	return facts
}
