package settings

import "fmt"

func archiveTitle(p ClientProps) string {
	if p.Archived != nil {
		return "Archived"
	}
	return "Archive"
}

func archiveSay(p ClientProps) string {
	if p.Planned > 0 {
		return fmt.Sprintf("Not possible while something is planned or on its way: %s. Cancel it first, or wait until it is out.", count(p.Planned))
	}
	return "For clients you no longer work for: nothing new can be made for them, and what was published and said stays."
}

func archiveWhy(p ClientProps) string {
	if p.Planned > 0 {
		return "Something is still planned."
	}
	return ""
}

func count(n int) string {
	if n == 1 {
		return "one post on one account"
	}
	return fmt.Sprintf("%d posts on accounts", n)
}
