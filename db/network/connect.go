package network

import "slices"

// WayPages is a way to sign in that also asks for pages and organisations, where the
// network wants another kind of app for that.
const WayPages = "pages"

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
