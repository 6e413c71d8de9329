package declare

import (
	"slices"

	"gopkg.in/yaml.v3"

	"herald/db"
	"herald/db/model"
	"herald/db/secret"
)

// document adds what one root table declares.
func (r *reader) document(root *yaml.Node, doc *Document) {
	file, ok := r.table(root, "file")
	if !ok {
		return
	}
	plans, _ := file.tables("plans", "plan")
	for _, t := range plans {
		if p, ok := t.plan(); ok {
			doc.Plans = append(doc.Plans, p)
		}
	}
	users, _ := file.tables("users", "user")
	for _, t := range users {
		if u, ok := t.user(); ok {
			doc.Users = append(doc.Users, u)
		}
	}
	workspaces, _ := file.tables("workspaces", "workspace")
	for _, t := range workspaces {
		if w, ok := t.workspace(); ok {
			t.join(doc, w)
		}
	}
}

func (t *table) plan() (p db.DeclaredPlan, ok bool) {
	name, ok := t.need("name", words)
	p = db.DeclaredPlan{At: t.at(t.node), Name: name, PostsAMonth: t.number("posts_a_month", "unlimited"), MediaBytes: t.number("media_bytes", "unlimited")}
	if p.PostsAMonth != nil && *p.PostsAMonth > 1<<31-1 {
		t.refuse(t.node, "posts_a_month is above %d; write unlimited", 1<<31-1)
	}
	return p, ok && t.once("plan "+name)
}

func (t *table) user() (u db.DeclaredUser, ok bool) {
	address, ok := t.need("email", email)
	u = db.DeclaredUser{At: t.at(t.node), Email: address, Name: t.text("name", words), Zone: t.text("zone", maybe(zone)), Disabled: t.flag("disabled")}
	if p := t.text("password", password); p != nil {
		u.Password = secret.NewToken(*p)
	}
	if h := t.text("password_hash", passwordHash); h != nil {
		u.PasswordHash = *h
	}
	if t.values["password"] != nil && t.values["password_hash"] != nil {
		t.refuse(t.values["password_hash"], "give password or password_hash, not both")
	}
	return u, ok && t.once("user "+address)
}

func (t *table) workspace() (w db.DeclaredWorkspace, ok bool) {
	name, ok := t.need("slug", slug)
	w = db.DeclaredWorkspace{
		At: t.at(t.node), Slug: name, Name: t.text("name", words), Zone: t.text("zone", zone), Plan: t.text("plan", words), Shard: t.text("shard", words),
		State: t.text("state", oneOf("active", "suspended")), Paused: t.flag("paused"),
	}
	members, _ := t.tables("members", "member")
	for _, m := range members {
		if one, ok := m.member(name); ok {
			w.Members = append(w.Members, one)
		}
	}
	w.Labels, w.Notes = t.labels(name), t.notes(name)
	clients, _ := t.tables("clients", "client")
	for _, c := range clients {
		if one, ok := c.client(name); ok {
			w.Clients = append(w.Clients, one)
		}
	}
	return w, ok
}

// join adds a workspace, or what another file says about one that is there: a
// file for each client is a good way to write them. A field is said once.
func (t *table) join(doc *Document, w db.DeclaredWorkspace) {
	for _, key := range []string{"name", "zone", "plan", "shard", "state", "paused"} {
		if n := t.values[key]; n != nil {
			id := key + " of the workspace " + w.Slug
			if first, twice := t.seen[id]; twice {
				t.refuse(n, "the %s is declared already, at %s", id, first)
			}
			t.seen[id] = t.at(n)
		}
	}
	i := slices.IndexFunc(doc.Workspaces, func(o db.DeclaredWorkspace) bool { return o.Slug == w.Slug })
	if i < 0 {
		doc.Workspaces = append(doc.Workspaces, w)
		return
	}
	have := &doc.Workspaces[i]
	have.Name, have.Zone, have.Plan = either(have.Name, w.Name), either(have.Zone, w.Zone), either(have.Plan, w.Plan)
	have.Shard, have.State, have.Paused = either(have.Shard, w.Shard), either(have.State, w.State), either(have.Paused, w.Paused)
	have.Labels, have.Notes = append(have.Labels, w.Labels...), append(have.Notes, w.Notes...)
	have.Members, have.Clients = append(have.Members, w.Members...), append(have.Clients, w.Clients...)
}

func either[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

func (t *table) member(workspace string) (m db.DeclaredMember, ok bool) {
	user, ok := t.need("user", email)
	m = db.DeclaredMember{At: t.at(t.node), User: user, Remove: isTrue(t.flag("remove"))}
	if r := t.text("role", oneOf("owner", "admin", "manager", "editor", "viewer")); r != nil {
		m.Role = new(model.Role(*r))
	}
	if n := t.values["clients"]; n != nil {
		m.Access = t.access(n)
	}
	if m.Remove && (m.Role != nil || m.Access != nil) {
		t.refuse(t.node, "a member that is removed has no role and no clients")
	}
	if m.Role != nil && m.Role.EveryClient() && m.Access != nil {
		t.refuse(t.values["clients"], "the role %s reaches every client; leave the clients out", *m.Role)
	}
	return m, ok && t.once("member "+user+" of "+workspace)
}

func isTrue(b *bool) bool { return b != nil && *b }

// access reads a member's clients: for each, the word all, or a list of
// permissions, which is empty to take the client away.
func (t *table) access(n *yaml.Node) []db.DeclaredAccess {
	if n.Kind != yaml.MappingNode {
		t.refuse(n, "clients of a member are written as client: all, or client: [permissions]")
		return nil
	}
	list := []db.DeclaredAccess{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], meant(n.Content[i+1])
		name, problem := slug(key.Value)
		if problem != "" {
			t.refuse(key, "client %q: %s", short(key.Value), problem)
			continue
		}
		a := db.DeclaredAccess{At: t.at(key), Client: name}
		switch {
		case slices.ContainsFunc(list, func(o db.DeclaredAccess) bool { return o.Client == name }):
			t.refuse(key, "the client %s is given twice", name)
		case value.Kind == yaml.ScalarNode && value.Value == "all":
			a.All = true
		case value.Kind == yaml.SequenceNode:
			one := &table{reader: t.reader, what: "member", node: value, values: map[string]*yaml.Node{name: value}}
			for _, p := range one.texts(name, permission) {
				a.Permissions = append(a.Permissions, model.Permission(p))
			}
		default:
			t.refuse(value, "%s: write all, or a list of permissions", name)
		}
		list = append(list, a)
	}
	return list
}
