package mastodon

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
)

// credentials is the account that a token belongs to.
type credentials struct {
	ID          string `json:"id"`
	Acct        string `json:"acct"`
	DisplayName string `json:"display_name"`
}

// me asks the server whose token it is.
func (a *Adapter) me(ctx context.Context, job networks.Job, step httpx.Step) (me credentials, err error) {
	answer, err := a.do(ctx, call{job: job, step: step, method: http.MethodGet, path: "/api/v1/accounts/verify_credentials"}, &me)
	if err == nil && me.ID == "" {
		return me, httpx.Unparsable(step, answer)
	}
	return me, err
}

// instance is what a server says of itself: its own limits above all.
type instance struct {
	Domain        string        `json:"domain"` // since version 4
	URI           string        `json:"uri"`    // before
	Version       string        `json:"version"`
	MaxTootChars  int64         `json:"max_toot_chars"` // look-alikes
	Configuration configuration `json:"configuration"`
}

type configuration struct {
	Statuses struct {
		MaxCharacters            int64 `json:"max_characters"`
		MaxMediaAttachments      int64 `json:"max_media_attachments"`
		CharactersReservedPerURL int64 `json:"characters_reserved_per_url"`
	} `json:"statuses"`
	Media struct {
		DescriptionLimit int64 `json:"description_limit"`
		ImageSizeLimit   int64 `json:"image_size_limit"`
		ImageMatrixLimit int64 `json:"image_matrix_limit"`
		VideoSizeLimit   int64 `json:"video_size_limit"`
		VideoMatrixLimit int64 `json:"video_matrix_limit"`
	} `json:"media_attachments"`
}

// Check asks whose token it is and what the server's limits are. A server that
// does not tell its limits is no failure: the software's defaults stand.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	job := networks.Job{Account: account}
	me, err := a.me(ctx, job, httpx.Check)
	if err != nil {
		return networks.Profile{}, err
	}
	server, err := a.instance(ctx, job)
	if err != nil {
		return networks.Profile{}, err
	}
	handle := "@" + me.Acct
	if host := cmp.Or(server.Domain, bareHost(server.URI)); host != "" && me.Acct != "" && !strings.Contains(me.Acct, "@") {
		handle += "@" + host
	}
	return networks.Profile{RemoteID: me.ID, Handle: handle, Name: cmp.Or(me.DisplayName, me.Acct), Settings: server.settings()}, nil
}

// instance reads the newer description of the server, else the older.
func (a *Adapter) instance(ctx context.Context, job networks.Job) (in instance, err error) {
	for _, path := range []string{"/api/v2/instance", "/api/v1/instance"} {
		_, err = a.do(ctx, call{job: job, step: httpx.Check, method: http.MethodGet, path: path}, &in)
		if !missing(err) {
			return in, err
		}
	}
	return instance{}, nil
}

func bareHost(uri string) string {
	_, host, found := strings.Cut(uri, "://")
	if !found {
		host = uri
	}
	host, _, _ = strings.Cut(host, "/")
	return host
}

// settings are the limits that the server told, under the names that the
// catalogue knows.
func (in instance) settings() map[string]string {
	c, set := in.Configuration, map[string]string{}
	for name, v := range map[string]int64{
		"max_characters":              cmp.Or(c.Statuses.MaxCharacters, in.MaxTootChars),
		"max_media_attachments":       c.Statuses.MaxMediaAttachments,
		"characters_reserved_per_url": c.Statuses.CharactersReservedPerURL,
		"description_limit":           c.Media.DescriptionLimit,
		"image_size_limit":            c.Media.ImageSizeLimit,
		"image_matrix_limit":          c.Media.ImageMatrixLimit,
		"video_size_limit":            c.Media.VideoSizeLimit,
		"video_matrix_limit":          c.Media.VideoMatrixLimit,
	} {
		if v > 0 {
			set[name] = strconv.FormatInt(v, 10)
		}
	}
	if in.Version != "" {
		set["server_version"] = httpx.SafeText(in.Version)
	}
	return set
}
