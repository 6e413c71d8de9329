package discord

import (
	"cmp"
	"context"
	"net/http"

	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// Authorize is the page of Discord that asks the person, and for which channel.
func (a *Adapter) Authorize(c networks.Consent) string { return a.signIn.Authorize(c) }

// Connect takes the webhook that Discord made for the channel. The person's own
// tokens, which come with it, are not needed and not kept.
func (a *Adapter) Connect(ctx context.Context, c networks.Consent, code string) ([]networks.Choice, error) {
	var more struct {
		Hook struct {
			ID      string `json:"id"`
			Token   string `json:"token"`
			Name    string `json:"name"`
			Channel string `json:"channel_id"`
			Server  string `json:"guild_id"`
		} `json:"webhook"`
	}
	_, err := a.signIn.Redeem(ctx, c, code, &more)
	if err != nil {
		return nil, err
	}
	token := more.Hook.ID + "/" + more.Hook.Token
	if !hook.MatchString(token) {
		return nil, fault.New(fault.Permission, "no_webhook", "Discord made no webhook. Sign in again, and choose a server and a channel there.")
	}
	name := cmp.Or(httpx.SafeText(more.Hook.Name), "Webhook")
	one := networks.Choice{Kind: "Channel", Tokens: networks.Tokens{Access: secret.NewToken(token)},
		Profile: networks.Profile{RemoteID: cmp.Or(more.Hook.Channel, more.Hook.ID), Handle: name, Name: name}}
	if isID(more.Hook.Server) {
		one.Settings = map[string]string{"guild_id": more.Hook.Server}
	}
	return []networks.Choice{one}, nil
}

// Revoke deletes the webhook. A bot's token is the operator's own, and stays.
func (a *Adapter) Revoke(ctx context.Context, _ networks.App, account networks.Account) error {
	if !isHook(account) {
		return nil
	}
	_, err := a.door.Do(ctx, a.call(networks.Job{Account: account}, httpx.Token, http.MethodDelete, ""), nil)
	return err
}
