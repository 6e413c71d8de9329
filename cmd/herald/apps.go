package main

import (
	"strings"

	"herald/db/network"
	"herald/handlers/connect"
)

// appTable is what an operator registers at each network so that people can sign in
// there, as a table of Markdown. The README's is this one.
func appTable(nets connect.Networks) string {
	rows := [][]string{{"network", "settings", "redirect", "permissions", "reviewed"}}
	for _, n := range network.All() {
		if len(n.SignIns) == 0 {
			continue
		}
		row := []string{n.Label, "none: Herald registers itself at each server", "`" + redirectPath(n) + "`", "–", "–"}
		if !nets.Servers(n.Name) {
			row[1] = "`HERALD_" + strings.ToUpper(string(n.Name)) + "_CLIENT_ID`, `_CLIENT_SECRET`"
			row[3], row[4] = askWords(nets.Asks(n.Name)), orDash(map[bool]string{true: "yes"}[reviewed(n)])
		}
		rows = append(rows, row)
	}
	return markdown(rows)
}

func redirectPath(n *network.Network) string { return "/oauth/" + string(n.Name) + "/callback" }

func askWords(list []string) string {
	if len(list) == 0 {
		return "–"
	}
	return "`" + strings.Join(list, "` `") + "`"
}

func reviewed(n *network.Network) bool {
	for _, h := range n.Hurdles {
		if h.Support == network.NeedsReview {
			return true
		}
	}
	return false
}
