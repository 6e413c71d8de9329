package model

import "time"

// The kinds of mail about links by which a client connects its accounts. Their
// content is ConnectMail.
const (
	MailConnectLink  = "connect_link"       // to somebody of the client: a sealed token makes the address /connect/{token}
	MailConnected    = "accounts_connected" // to who sent the link
	MailConnectAsked = "connect_link_asked" // to the same: a fresh link is asked for
)

// ConnectMail says what a link is for, or what came of it.
type ConnectMail struct {
	Agency   string             `json:"agency"`
	Client   string             `json:"client"`
	Person   string             `json:"person"`             // who sent the link; to the agency, who holds it
	Networks []string           `json:"networks,omitempty"` // canonical names
	Note     string             `json:"note,omitempty"`
	Until    time.Time          `json:"until,omitzero"` // when the link runs out
	Zone     string             `json:"zone,omitempty"` // the client's
	Path     string             `json:"path,omitempty"` // where it leads, below the base address; empty if a token does
	Accounts []ConnectedAccount `json:"accounts,omitempty"`
}

// ConnectedAccount is an account that was connected by a link.
type ConnectedAccount struct {
	Network string `json:"network"`
	Handle  string `json:"handle"`
	Again   bool   `json:"again,omitempty"` // it was there before
}
