package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"herald/db/network"
)

// networkTable is what each network takes, as a table of Markdown that can be read
// on a terminal too. The README's is this one.
func networkTable() string {
	rows := [][]string{{"network", "text", "link", "picture", "pictures", "mixed", "video", "reel", "story", "document", "alt text", "first comment", "look-up"}}
	for _, n := range network.All() {
		row := []string{n.Label}
		for _, f := range network.Shapes() {
			s, _ := n.Supports(f)
			row = append(row, s.Short())
		}
		rows = append(rows, append(row, orDash(n.Alt.Files()), orDash(map[bool]string{true: "yes"}[n.TakesComment()]), string(n.LookUp)))
	}
	return markdown(rows)
}

func orDash(word string) string { return cmp.Or(word, network.Impossible.Short()) }

// markdown writes rows, the first of them the head, with columns of one width.
func markdown(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for i, row := range rows {
		for j, cell := range row {
			fmt.Fprintf(&b, "| %s%s ", cell, strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell)))
		}
		b.WriteString("|\n")
		if i == 0 {
			for _, w := range widths {
				b.WriteString("|" + strings.Repeat("-", w+2))
			}
			b.WriteString("|\n")
		}
	}
	return b.String()
}

// printNetworks prints the table, what stands before parts of it, and what an
// operator sees to before the first real post.
func printNetworks(out io.Writer) {
	fmt.Fprint(out, networkTable())
	for _, n := range network.All() {
		fmt.Fprintf(out, "\n%s\n", n.Label)
		for _, h := range n.Hurdles {
			fmt.Fprintf(out, "  %-8s %s\n", h.Support.Short(), h.Say)
		}
		for _, say := range n.GoLive {
			fmt.Fprintf(out, "  go live  %s\n", say)
		}
	}
	fmt.Fprintf(out, "\n%s.\n", network.Unreached(string(network.Rumble)))
}
