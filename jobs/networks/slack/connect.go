package slack

import (
	"context"
	"net/http"
	"net/url"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// asks are what the bot is given: to list channels, to write with files in any public
// one, and to read what it wrote, which the look-up needs.
var asks = []string{"chat:write", "chat:write.public", "channels:read", "channels:history", "files:write"}

// Authorize is the page of Slack that asks the person.
func (a *Adapter) Authorize(c networks.Consent) string { return a.signIn.Authorize(c) }

// Connect lists the channels of the team. All share the bot's token.
func (a *Adapter) Connect(ctx context.Context, c networks.Consent, code string) ([]networks.Choice, error) {
	var more struct {
		Team struct {
			Name string `json:"name"`
		} `json:"team"`
	}
	tokens, err := a.signIn.Redeem(ctx, c, code, &more)
	if err != nil {
		return nil, err
	}
	var all []networks.Choice
	err = a.channels(ctx, networks.Account{Token: tokens.Access}, func(p channel) {
		all = append(all, networks.Choice{Kind: "Channel", Tokens: tokens, Profile: networks.Profile{
			RemoteID: p.ID, Handle: "#" + p.Name, Name: "#" + p.Name, Settings: map[string]string{"team": httpx.SafeText(more.Team.Name)}}})
	})
	if err == nil && len(all) == 0 {
		err = fault.New(fault.Permission, "no_channel", "Slack shows Herald no channel of this workspace. Make a public one, or invite the bot into one.")
	}
	return all, err
}

// channel is a channel as the list has it.
type channel struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (a *Adapter) channels(ctx context.Context, account networks.Account, see func(channel)) error {
	c := rest.From(networks.Job{Account: account}, httpx.Check, http.MethodGet, "conversations.list")
	c.Query = url.Values{"exclude_archived": {"true"}, "limit": {"200"}, "types": {"public_channel"}}
	for range 20 {
		var page struct {
			Channels []channel `json:"channels"`
			Meta     struct {
				Next string `json:"next_cursor"`
			} `json:"response_metadata"`
		}
		if _, err := a.door.Do(ctx, c, &page); err != nil {
			return err
		}
		for _, p := range page.Channels {
			see(p)
		}
		if page.Meta.Next == "" {
			break
		}
		c.Query.Set("cursor", page.Meta.Next)
	}
	return nil
}

// Revoke ends the bot's token.
func (a *Adapter) Revoke(ctx context.Context, _ networks.App, account networks.Account) error {
	if isHook(account) {
		return nil
	}
	_, err := a.door.Do(ctx, rest.From(networks.Job{Account: account}, httpx.Token, http.MethodPost, "auth.revoke"), nil)
	return err
}
