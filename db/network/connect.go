package network

import "slices"

// WayPages is a way to sign in that also asks for pages and organisations, where the
// network wants another kind of app for that.
const WayPages = "pages"

// SignIn is one way in which a person connects accounts by signing in at the network.
type SignIn struct {
	Way   string // empty where there is one
	Label string // of the button: "Sign in at LinkedIn"
	Help  string // what can be chosen then
}

// Entry is one way in which a person connects an account by what they type.
type Entry struct {
	Key    string // in addresses; the first entry is the usual one
	Label  string // "App password"
	Help   string
	Fields []Field
}

// Field is one thing to type. Name is token, refresh, remote_id, address, handle or
// setting.KEY.
type Field struct {
	Name     string
	Label    string
	Help     string
	Hint     string // an example, in the field itself
	Secret   bool
	Optional bool
	Spaces   bool // those that people leave in it do not count
}

// EntryOf returns an entry by its key; the first one for a key that there is not.
func (n *Network) EntryOf(key string) (Entry, bool) {
	if len(n.Entries) == 0 {
		return Entry{}, false
	}
	i := max(0, slices.IndexFunc(n.Entries, func(e Entry) bool { return e.Key == key }))
	return n.Entries[i], true
}

// Takes says whether an entry asks for a field.
func (e Entry) Takes(name string) bool {
	return slices.ContainsFunc(e.Fields, func(f Field) bool { return f.Name == name })
}

// SignInOf returns a way to sign in, and whether the network has it.
func (n *Network) SignInOf(way string) (SignIn, bool) {
	i := slices.IndexFunc(n.SignIns, func(s SignIn) bool { return s.Way == way })
	if i < 0 {
		return SignIn{}, false
	}
	return n.SignIns[i], true
}

// Missing lists the scopes that publishing to the network needs and that granted
// does not have.
func (n *Network) Missing(granted []string) (list []Scope) {
	for _, s := range n.Scopes {
		if !slices.ContainsFunc(append([]string{s.Name}, s.Or...), func(name string) bool { return slices.Contains(granted, name) }) {
			list = append(list, s)
		}
	}
	return list
}

// EntryVia is how an account is connected that a publisher reaches: its key, and what
// the account is called there.
func EntryVia(p Publisher) Entry {
	return Entry{Key: string(p), Label: PublisherLabel(p), Fields: []Field{
		{Name: "handle", Label: "What people call it", Hint: "@bakery"},
		{Name: "remote_id", Label: "Its id at " + PublisherLabel(p), Help: IDHelp(p)},
		{Name: "token", Label: "Key", Help: KeyHelp(p), Secret: true},
	}}
}
