package db

import (
	"fmt"

	"herald/db/model"
	"herald/db/network"
)

// TokenAAD binds a sealed token to its row, so that a value copied to another
// account or workspace does not open. Which is token or refresh.
func TokenAAD(tenant model.TenantID, account model.AccountID, which string) string {
	return fmt.Sprintf("accounts/%d/%d/%s", tenant, account, which)
}

// AddressedBy says what the address of an account on a network is, for networks
// that a person says the address of; empty for all others.
func AddressedBy(name network.Name) string {
	switch name {
	case network.Mastodon:
		return "the server, as https://mastodon.social"
	case network.Webhook:
		return "where posts are delivered, as https://hooks.example.com/herald"
	}
	return ""
}
