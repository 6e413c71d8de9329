package telegram

import (
	"encoding/json"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

const (
	shut   = "The bot may not post in this channel or group. Make it an administrator who may post messages."
	dead   = "{network} no longer accepts the bot's token. Ask BotFather for it and reconnect the account."
	gone   = "{network} does not find this channel or group. Correct the account's id, and make the bot a member."
	unfit  = "{network} could not use a file. Pictures have at most 10 MB and 10,000 pixels of width and height together, videos are MP4 of at most 50 MB."
	longer = "The text is longer than {network} takes: 4,096 characters, or 1,024 with files. Shorten it."
)

// table is what Telegram's refusals mean. They are told apart by their words only.
var table = rest.Table{Network: "Telegram", Read: read, Rows: []rest.Row{
	{Status: 400, Kind: fault.Validation, Name: "bad_request", Quote: true, Say: "{network} did not take the post."},
	{Status: 400, Words: []string{"failed to send message #"}, Kind: fault.Transient, Commit: fault.Unknown, Name: "album_in_part", Say: "{network} sent only a part of the album."},
	{Status: 400, Words: []string{"chat not found", "peer_id_invalid"}, Kind: fault.Permission, Name: "chat_not_found", Say: gone},
	{Status: 400, Words: []string{"not enough rights", "need administrator rights", "chat_write_forbidden", "have no rights"}, Kind: fault.Permission, Name: "no_rights", Say: shut},
	{Status: 400, Words: []string{"upgraded to a supergroup"}, Kind: fault.Transient, Name: "moved", Say: "The group has a new number at {network}."},
	{Status: 400, Words: []string{"too long"}, Kind: fault.Validation, Name: "too_long", Say: longer},
	{Status: 400, Words: []string{"text is empty"}, Kind: fault.Validation, Name: "empty", Say: "There is nothing to post yet: write a text, or add a picture or a video."},
	{Status: 400, Words: []string{"image_process_failed", "photo_invalid_dimensions", "file is too big", "media_grouped_invalid", "wrong type of the web page content", "failed to get http url content", "wrong file identifier"},
		Kind: fault.Validation, Name: "media", Say: unfit},
	{Status: 401, Kind: fault.Auth, Name: "unauthorized", Say: dead},
	{Status: 404, Kind: fault.Auth, Name: "not_found", Say: dead},
	{Status: 403, Kind: fault.Permission, Name: "forbidden", Say: shut},
	{Status: 409, Kind: fault.Transient, Name: "conflict", Say: "{network} is busy with another program that uses the same bot."},
	{Status: 413, Kind: fault.Validation, Name: "too_large", Say: unfit},
	{Status: 429, Kind: fault.RateLimited, Wait: time.Minute, Name: "too_many_requests", Say: "{network} asked us to slow down; the post goes out later."},
}}

// read reads the refusal of an answer: ok is false in it.
func read(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		OK          *bool  `json:"ok"`
		Description string `json:"description"`
		Parameters  struct {
			Wait float64 `json:"retry_after"`
		} `json:"parameters"`
	}
	if json.Unmarshal(a.Body, &body) != nil || body.OK == nil || *body.OK {
		return rest.Problem{}, a.OK() && body.OK == nil
	}
	wait := httpx.CapWait(time.Duration(min(max(body.Parameters.Wait, 0), 86400) * float64(time.Second)))
	return rest.Problem{Message: body.Description, Wait: wait}, true
}
