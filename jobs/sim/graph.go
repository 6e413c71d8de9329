package sim

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// graphTime is how the Graph API writes times.
const graphTime = "2006-01-02T15:04:05-0700"

// graphError is an error as the Graph API says it.
func graphError(status, code, sub int, message string) *reply {
	kind := "OAuthException"
	if code == 100 && sub == 33 {
		kind = "GraphMethodException"
	}
	e := map[string]any{
		"message": message, "type": kind, "code": code, "is_transient": code == 2,
		"error_user_title": "This could not be done", "error_user_msg": message,
		"fbtrace_id": "A" + strconv.FormatInt(time.Now().UnixNano(), 36),
	}
	if sub != 0 {
		e["error_subcode"] = sub
	}
	return answer(status, map[string]any{"error": e})
}

// graphBad is a parameter error.
func graphBad(format string, args ...any) *reply {
	return graphError(http.StatusBadRequest, 100, 0, "(#100) "+fmt.Sprintf(format, args...))
}

// graphMissing is the answer for an object that is not there for this caller.
func graphMissing(id string) *reply {
	return graphError(http.StatusBadRequest, 100, 33, fmt.Sprintf(
		"Unsupported request. Object with ID '%s' does not exist, cannot be loaded due to missing permissions, or does not support this operation.", id))
}

// graphVerdict says what is wrong with a token.
func graphVerdict(v verdict, id string) *reply {
	switch v {
	case noToken:
		return graphError(http.StatusBadRequest, 104, 0, "An access token is required to request this resource.")
	case expired:
		return graphError(http.StatusBadRequest, 190, 463, "Error validating access token: Session has expired.")
	case revoked:
		return graphError(http.StatusBadRequest, 190, 460, "Error validating access token: The session was invalidated because the user changed the password.")
	case noScope:
		return graphError(http.StatusForbidden, 200, 0, "(#200) The permission to do this was not granted.")
	case elsewhere:
		return graphMissing(id)
	}
	return graphError(http.StatusBadRequest, 190, 467, "Invalid OAuth access token.")
}

// graphStatus is what the Graph API says with an HTTP status.
func graphStatus(status int) *reply {
	switch {
	case status == http.StatusInternalServerError:
		return graphError(status, 2, 0, "An unexpected error has occurred. Please retry your request later.")
	case status > http.StatusInternalServerError:
		return graphError(status, 2, 0, "Service temporarily unavailable.")
	case status == http.StatusUnauthorized:
		return graphError(status, 190, 463, "Error validating access token: Session has expired.")
	case status == http.StatusForbidden:
		return graphError(status, 200, 0, "(#200) The permission to do this was not granted.")
	case status == http.StatusTooManyRequests:
		return graphError(status, 4, 0, "(#4) Application request limit reached.")
	}
	return graphError(status, 100, 0, "(#100) Invalid parameter.")
}

// usage is the Business Use Case header for one account.
func usage(id, kind string, percent, minutes int) string {
	out, _ := json.Marshal(map[string]any{id: []map[string]any{{
		"type": kind, "call_count": percent, "total_cputime": percent / 4, "total_time": percent / 3,
		"estimated_time_to_regain_access": minutes,
	}}})
	return string(out)
}

// graphHeaders puts the usage headers on an answer.
func graphHeaders(c *call, rep *reply, kind string) {
	rep.with("x-fb-trace-id", c.id).with("facebook-api-version", c.r.PathValue("version"))
	id, n, limit := "0", 1, c.sim.Knobs().CallLimit
	if c.account != nil {
		id = c.account.id
		n, _ = c.account.count(c.now, time.Hour)
	}
	percent := 1 + n/50
	if limit > 0 {
		percent = n * 100 / limit
	}
	percent = min(percent, 99)
	rep.with("x-app-usage", fmt.Sprintf(`{"call_count":%d,"total_cputime":%d,"total_time":%d}`, percent, percent/4, percent/3))
	if rep.header.Get("x-business-use-case-usage") == "" {
		rep.with("x-business-use-case-usage", usage(id, kind, percent, 0))
	}
}

// graphLimited is the answer at a rate limit.
func graphLimited(c *call, code int, kind string, wait time.Duration) *reply {
	id := "0"
	if c.account != nil {
		id = c.account.id
	}
	minutes := max(1, int(math.Ceil(wait.Minutes())))
	return graphError(http.StatusBadRequest, code, 0, fmt.Sprintf("(#%d) There have been too many calls to this account. Wait a bit and try again.", code)).
		with("x-business-use-case-usage", usage(id, kind, 100, minutes))
}

// graphNest writes JSON as the Graph API takes it in forms: arrays and objects
// stay JSON text.
func graphNest(into url.Values, name string, v any) {
	if s, ok := scalar(v); ok {
		into.Set(name, s)
		return
	}
	raw, _ := json.Marshal(v)
	into.Set(name, string(raw))
}

var versionShape = regexp.MustCompile(`^v(2[1-7])\.0$`)

// graphOpen reads a Graph call: version, parameters, and the token that came
// with it as a parameter or a header.
func (c *call) graphOpen(kinds ...string) (token string, no *reply) {
	if v := c.r.PathValue("version"); v != "" && !versionShape.MatchString(v) {
		return "", graphBad("There is no API version %s.", v)
	}
	if err := c.read(graphNest, kinds...); err != nil {
		return "", graphBad("%s", err)
	}
	for name, values := range c.params.values {
		if len(values) > 1 {
			return "", graphBad("%s was sent twice.", name)
		}
	}
	token = c.params.get("access_token")
	if bearer, ok := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer "); ok && token == "" {
		token = bearer
	}
	return token, nil
}

// graphOnly refuses parameters that the call does not have.
func (c *call) graphOnly(allowed ...string) *reply {
	if name := c.params.stray(append(allowed, "access_token", "fields")...); name != "" {
		return graphBad("Unknown parameter %s.", name)
	}
	return nil
}

// fieldTree is a parsed fields parameter: a,b{c,d}.
type fieldTree map[string]fieldTree

func parseFields(s string) (fieldTree, error) {
	tree, rest, err := parseFieldList(s)
	if err == nil && rest != "" {
		err = fmt.Errorf("Syntax error in fields near %q", rest)
	}
	return tree, err
}

func parseFieldList(s string) (fieldTree, string, error) {
	tree := fieldTree{}
	for s != "" && s[0] != '}' {
		end := strings.IndexAny(s, ",{}")
		if end < 0 {
			end = len(s)
		}
		name := strings.TrimSpace(s[:end])
		if name == "" {
			return nil, s, fmt.Errorf("Syntax error in fields near %q", s)
		}
		s, tree[name] = s[end:], nil
		if strings.HasPrefix(s, "{") {
			sub, rest, err := parseFieldList(s[1:])
			if err != nil || !strings.HasPrefix(rest, "}") {
				return nil, rest, fmt.Errorf("Syntax error in fields near %q", rest)
			}
			tree[name], s = sub, rest[1:]
		}
		s = strings.TrimPrefix(s, ",")
	}
	return tree, s, nil
}

// pick keeps the fields asked for; id always stays.
func (t fieldTree) pick(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if list, edge := v["data"]; edge { // fields of an edge are those of its items
			return map[string]any{"data": t.pick(list)}
		}
		out := map[string]any{}
		for name, sub := range t {
			if inner, ok := v[name]; ok {
				out[name] = inner
				if sub != nil {
					out[name] = sub.pick(inner)
				}
			}
		}
		if id, ok := v["id"]; ok {
			out["id"] = id
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = t.pick(v[i])
		}
		return out
	case []map[string]any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = t.pick(v[i])
		}
		return out
	}
	return v
}

// graphFields reads the fields parameter and refuses names not in known.
func (c *call) graphFields(known []string, def string) (fieldTree, *reply) {
	asked := c.params.get("fields")
	if asked == "" {
		asked = def
	}
	tree, err := parseFields(asked)
	if err != nil {
		return nil, graphError(http.StatusBadRequest, 2500, 0, err.Error())
	}
	for name := range tree {
		if !slices.Contains(known, name) {
			return nil, graphBad("Tried accessing nonexisting field (%s)", name)
		}
	}
	return tree, nil
}

func cursor(id string) string { return base64.RawURLEncoding.EncodeToString([]byte("c:" + id)) }

func uncursor(s string) (string, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	id, ok := strings.CutPrefix(string(raw), "c:")
	return id, err == nil && ok
}
