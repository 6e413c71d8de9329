package discord

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

const (
	refused = "{network} did not take the post."
	shut    = "{network} does not let Herald post in this channel. Give the bot the right to, or make a new webhook."
	gone    = "The webhook or the channel is gone from {network}. Make a new one and reconnect the account."
	slow    = "{network} asked us to slow down; the post goes out later."
	forum   = "This is a webhook of a forum: say a title for the forum post. A webhook of a plain channel takes none."
)

// table is what Discord's refusals mean.
var table = rest.Table{Network: "Discord", Edge: true, Read: read, Rows: []rest.Row{
	{Status: 401, Kind: fault.Auth, Name: "unauthorized", Say: "{network} no longer accepts the bot's token. Reconnect the account."},
	{Code: "50027", Kind: fault.Permission, Say: gone},
	{Code: "10015", Kind: fault.Permission, Say: gone},
	{Code: "10003", Kind: fault.Permission, Say: gone},
	{Status: 404, Kind: fault.Permission, Name: "not_found", Say: gone},
	{Status: 403, Kind: fault.Permission, Name: "forbidden", Say: shut},
	{Code: "50001", Kind: fault.Permission, Say: shut},
	{Code: "50013", Kind: fault.Permission, Say: shut},
	{Code: "40333", Kind: fault.Permission, Say: "{network} took Herald for something else and shut it out. Tell the operator."},
	{Code: "160005", Kind: fault.Permission, Say: "The thread is locked at {network}."},
	{Code: "50006", Kind: fault.Validation, Say: "There is nothing to post yet: write a text, or add a picture or a video."},
	{Code: "50035", Kind: fault.Validation, Quote: true, Say: refused},
	{Code: "50109", Kind: fault.Validation, Quote: true, Say: refused},
	{Code: "50045", Kind: fault.Validation, Say: "A file is larger than {network} takes. Make it smaller."},
	{Code: "30015", Kind: fault.Validation, Say: "{network} takes ten files in a message. Take some out."},
	{Code: "40005", Kind: fault.Validation, Say: "The files together are larger than {network} takes, 25 MB. Make them smaller."},
	{Status: 413, Kind: fault.Validation, Name: "40005", Say: "The files together are larger than {network} takes, 25 MB. Make them smaller."},
	{Code: "220001", Kind: fault.Validation, Say: forum},
	{Code: "220002", Kind: fault.Validation, Say: forum},
	{Code: "220003", Kind: fault.Validation, Say: forum},
	{Code: "220004", Kind: fault.Validation, Say: forum},
	{Code: "200000", Kind: fault.Validation, Say: "The server's own rules of moderation refused the text. Change it."},
	{Code: "240000", Kind: fault.Validation, Say: "{network} holds a link in the text for harmful. Take it out."},
	{Code: "130000", Kind: fault.Transient, Commit: fault.Unknown, Say: "{network} is overloaded."},
	{Status: 429, Kind: fault.RateLimited, Wait: time.Minute, Name: "too_many_requests", Say: slow},
	{Code: "20028", Kind: fault.RateLimited, Wait: time.Minute, Say: slow},
	{Code: "20029", Kind: fault.RateLimited, Wait: time.Minute, Say: slow},
	{Code: "20016", Kind: fault.RateLimited, Wait: time.Minute, Say: slow},
	{Code: "40062", Kind: fault.RateLimited, Wait: time.Minute, Say: slow},
}}

// read reads the refusal of an answer. A limit without the headers of one comes
// from the edge, which shuts out the whole of Herald.
func read(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		Code    *int    `json:"code"`
		Message string  `json:"message"`
		Wait    float64 `json:"retry_after"`
		Global  bool    `json:"global"`
	}
	if a.OK() || json.Unmarshal(a.Body, &body) != nil || body.Code == nil && body.Message == "" {
		return rest.Problem{}, false
	}
	p := rest.Problem{Message: body.Message, Wait: seconds(body.Wait)}
	if body.Code != nil && *body.Code != 0 {
		p.Code = strconv.Itoa(*body.Code)
	}
	if after, err := strconv.ParseFloat(a.Header.Get("X-RateLimit-Reset-After"), 64); err == nil && p.Wait == 0 {
		p.Wait = seconds(after)
	}
	blocked := a.Status == http.StatusTooManyRequests && strings.Contains(body.Message, "You are being blocked")
	p.Everyone = body.Global || blocked
	return p, true
}

func seconds(s float64) time.Duration {
	if !(s > 0) {
		return 0
	}
	return httpx.CapWait(time.Duration(min(s, 86400) * float64(time.Second)))
}
