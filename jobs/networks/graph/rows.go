package graph

import (
	"time"

	"herald/jobs/networks/fault"
)

const (
	reconnect = "{network} no longer accepts this connection. Reconnect the account."
	slowDown  = "{network} asked us to slow down; the post goes out later."
	noRight   = "{network} says that this connection lacks a permission. Reconnect the account and grant everything that is asked."
	broken    = "{network} had a problem of its own."
)

// shared are the refusals that mean the same all over Graph.
var shared = []Row{
	{Code: 1, Kind: fault.Transient, Commit: fault.Unknown, Say: broken},
	{Code: 2, Kind: fault.Transient, Commit: fault.Unknown, Say: "{network} is down for a moment."},
	{Code: 3, Kind: fault.Permission, Say: "The app that Herald uses lacks a capability at {network}. The operator has to ask Meta for it."},
	{Code: 4, Kind: fault.RateLimited, Everyone: true, Say: slowDown},
	{Code: 10, Kind: fault.Permission, Say: noRight},
	{Code: 17, Kind: fault.RateLimited, Say: slowDown},
	{Code: 32, Kind: fault.RateLimited, Say: slowDown},
	{Code: 100, Kind: fault.Validation, Quote: true, Say: "{network} did not take a part of the post."},
	{Code: 100, Subcode: 33, Kind: fault.Permission, Say: "{network} does not find the account, or this connection may not use it. Reconnect the account."},
	{Code: 102, Kind: fault.Auth, Say: reconnect},
	{Code: 104, Kind: fault.Auth, Say: "{network} asks for a proof of the app's secret. The operator has to turn off \"Require App Secret\" in the app's settings at Meta; then reconnect the account."},
	{Code: 190, Kind: fault.Auth, Say: reconnect},
	{Code: 190, Subcode: 458, Kind: fault.Auth, Say: "The app was removed from the {network} settings. Reconnect the account."},
	{Code: 190, Subcode: 459, Kind: fault.Auth, Say: "{network} wants the person who connected this account to log in on its own site first. Then reconnect the account."},
	{Code: 190, Subcode: 460, Kind: fault.Auth, Say: "The password was changed, which ended the connection. Reconnect the account."},
	{Code: 190, Subcode: 463, Kind: fault.Auth, Say: "The connection has expired. Reconnect the account."},
	{Code: 190, Subcode: 464, Kind: fault.Auth, Say: "{network} wants the person who connected this account to confirm their own account first. Then reconnect the account."},
	{Code: 190, Subcode: 467, Kind: fault.Auth, Say: reconnect},
	{Code: 190, Subcode: 492, Kind: fault.Auth, Say: "The person who connected this account no longer has a role on the Page. Somebody with a role has to reconnect it."},
	{Code: 200, To: 299, Kind: fault.Permission, Say: noRight},
	{Code: 210, Kind: fault.Permission, Say: "{network} wants a token of the Page itself. Reconnect the account and choose the Page."},
	{Code: 283, Kind: fault.Permission, Say: noRight},
	{Code: 324, Kind: fault.Validation, Say: "{network} could not use a picture. Save it again as JPEG or PNG, or take another."},
	{Code: 341, Kind: fault.RateLimited, Everyone: true, Say: slowDown},
	{Code: 352, Kind: fault.Validation, Say: "{network} does not take this video's format. Export it as MP4 with H.264 and AAC."},
	{Code: 368, Kind: fault.RateLimited, Wait: 3 * time.Hour, Say: "{network} has blocked this account for a while because its activity looked like abuse; we try again later. If this goes on, look for a notice in the account itself."},
	{Code: 368, Subcode: 1390008, Kind: fault.RateLimited, Wait: time.Hour, Say: "{network} finds that this account posts too fast; the post goes out later."},
	{Code: 506, Kind: fault.Validation, Duplicate: true, Say: "{network} says that this is the same as the account's last post. Change the text, or leave it out."},
	{Code: 613, Kind: fault.RateLimited, Say: slowDown},
	{Code: 80000, To: 80009, Kind: fault.RateLimited, Say: slowDown},
	{Code: 80014, Kind: fault.RateLimited, Say: slowDown},
}
