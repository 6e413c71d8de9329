package connect

import (
	"cmp"
	"slices"
	"strings"

	"herald/db"
	"herald/db/network"
	"herald/views/accounts"
	"herald/views/ui"
)

// SignInForm is the form that leads to a network's own page, nil if it has none. The
// caller adds the fields that say for whom.
func SignInForm(nets Networks, n *network.Network) *accounts.SignInForm {
	if len(n.SignIns) == 0 {
		return nil
	}
	f := &accounts.SignInForm{Action: "/oauth/" + string(n.Name) + "/start", Missing: nets.Missing(n.Name)}
	for _, s := range n.SignIns {
		f.Ways = append(f.Ways, accounts.SignInWay(s))
	}
	if nets.Servers(n.Name) {
		f.Server = &ui.FieldProps{Name: "address", ID: "sign-in-address", Label: "Server", Type: "url", Required: true, Placeholder: "https://mastodon.social"}
	}
	return f
}

// ChooseProps are what a sign-in offers, in words. chosen and problem are those of a
// form that came back.
func ChooseProps(c db.Consent, choices []db.Choice, client string, again string, chosen []string, problem string) accounts.ChooseProps {
	n, _ := network.Get(c.Network)
	p := accounts.ChooseProps{Network: string(n.Name), Label: n.Label, Client: client, Again: again, Problem: problem}
	for _, g := range gaps(n, choices) {
		p.Gaps = append(p.Gaps, accounts.Gap{Scope: g.Name, Costs: costs(g)})
	}
	for _, one := range choices {
		v := accounts.Choice{Value: one.RemoteID, Kind: one.Kind, Name: one.Handle, Lacks: one.Lacks, Chosen: slices.Contains(chosen, one.RemoteID)}
		if k := one.Known; k != nil {
			v.Say, v.Already = known(*k), true
		}
		if problem == "" && len(choices) == 1 && one.Lacks == "" {
			v.Chosen = true
		}
		p.Choices = append(p.Choices, v)
	}
	return p
}

func known(k db.KnownAccount) string {
	switch {
	case !k.Here:
		return "Already connected for " + k.Client + "."
	case k.State == db.AccountActive:
		return "Already connected. Choosing it renews the connection."
	}
	return "An account already, and not connected. Choosing it connects it again, with its settings as they are."
}

// gaps are the permissions that publishing needs and that were not granted. Where the
// network does not say what was, none are.
func gaps(n *network.Network, choices []db.Choice) []network.Scope {
	for _, one := range choices {
		if len(one.Scopes) > 0 {
			return n.Missing(one.Scopes)
		}
	}
	return nil
}

// costs is what cannot be done without a permission.
func costs(s network.Scope) string {
	if s.Comment {
		return "no first comments, and no threads"
	}
	if len(s.Formats) == 0 {
		return "nothing can be posted, or what was posted cannot be proved"
	}
	kinds := map[network.Format]string{network.FormatVideo: "videos", network.FormatReel: "reels", network.FormatStory: "stories", network.FormatText: "text alone", network.FormatLink: "links", network.FormatDocument: "documents"}
	var words []string
	for _, f := range s.Formats {
		if word := cmp.Or(kinds[f], "pictures"); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return "no posts with " + strings.Join(words, " or ")
}
