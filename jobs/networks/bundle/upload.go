package bundle

import (
	"context"
	"net/http"

	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// uploaded is what Bundle.social answers about a file.
type uploaded struct {
	ID   string `json:"id"`
	Team string `json:"teamId"`
}

// upload returns the id of the i-th file in the team. Uploads publish nothing, so
// one that failed half-way is made again.
func (a *Adapter) upload(ctx context.Context, job networks.Job, h networks.Handles, i int) (string, error) {
	team := job.Account.RemoteID
	return networks.Staged(ctx, job, h, i, team, func(ctx context.Context) (string, error) {
		c := rest.From(job, httpx.Prepare, http.MethodPost, "upload/")
		c.Form, c.Files = map[string][]string{"teamId": {team}}, []httpx.File{job.Post.Media[i].Part("file")}
		if job.Post.Media[i].Bytes > a.large {
			path, err := a.send(ctx, job, job.Post.Media[i])
			if err != nil {
				return "", err
			}
			c = rest.From(job, httpx.Prepare, http.MethodPost, "upload/finalize")
			c.JSON = map[string]string{"teamId": team, "path": path}
		}
		var u uploaded
		answer, err := a.door.Do(ctx, c, &u)
		if err == nil && (u.ID == "" || u.Team != "" && u.Team != team) {
			err = httpx.Unparsable(httpx.Prepare, answer)
		}
		return u.ID, err
	})
}

// send puts a large file where Bundle.social says, and returns its path there.
func (a *Adapter) send(ctx context.Context, job networks.Job, m networks.Media) (path string, err error) {
	c := rest.From(job, httpx.Prepare, http.MethodPost, "upload/init")
	c.JSON = map[string]any{"teamId": job.Account.RemoteID, "fileName": m.Part("file").Name, "mimeType": m.Type, "fileSize": m.Bytes}
	var where struct {
		URL  string `json:"url"`
		Path string `json:"path"`
	}
	answer, err := a.door.Do(ctx, c, &where)
	if err == nil && (networks.WebOnly(where.URL) == "" || where.Path == "") {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	if err != nil {
		return "", err
	}
	file, err := m.Open(ctx)
	if err != nil {
		return "", err
	}
	put := rest.Call{Step: httpx.Prepare, Trail: job.Trail, Attempt: job.Attempt, Method: http.MethodPut, Address: where.URL,
		Body: &rest.Body{ReadCloser: file, Length: m.Bytes, Type: m.Type}}
	_, err = a.door.Do(ctx, put, nil)
	return where.Path, err
}
