package graph

import (
	"context"
	"net/http"

	"herald/jobs/networks/httpx"
)

// Scopes lists what the token may do. Not every token may ask.
func Scopes(ctx context.Context, d *Door, token Token) ([]string, error) {
	var list struct {
		Data []struct {
			Permission string `json:"permission"`
			Status     string `json:"status"`
		} `json:"data"`
	}
	c := Call{Step: httpx.Check, Token: token, Method: http.MethodGet, Path: "me/permissions"}
	if _, err := d.Do(ctx, c, &list); err != nil {
		return nil, err
	}
	var granted []string
	for _, p := range list.Data {
		if p.Status == "granted" {
			granted = append(granted, p.Permission)
		}
	}
	return granted, nil
}
