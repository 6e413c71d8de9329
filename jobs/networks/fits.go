package networks

import (
	"herald/db/network"
	"herald/jobs/networks/fault"
)

// Fits refuses a job that cannot be what was approved: without an account, of a
// shape that the network does not have, with files missing, or, where the network
// pulls, without the addresses of files.
func Fits(job Job) error {
	n, _ := network.Get(job.Account.Network)
	return FitsOn(n, job)
}

// FitsOn is Fits for a network as a publisher reaches it.
func FitsOn(n *network.Network, job Job) error {
	rule, ok := n.Rule(job.Post.Format)
	files, most := len(job.Post.Media), rule.Max
	if len(rule.Cover.Types) > 0 {
		most++ // its cover
	}
	switch {
	case job.Account.RemoteID == "" || job.Account.Token.Empty():
		return fault.New(fault.Auth, "account_unknown", "Herald does not know which "+n.Label+" account this is. Reconnect the account.")
	case !ok:
		return fault.New(fault.Validation, "format", n.Label+" has no posts of this shape.")
	case files < rule.Min || files > most:
		return fault.New(fault.Validation, "media_missing", "The post does not have the pictures or the video that it needs. Attach them again.")
	}
	for _, m := range job.Post.Media {
		if n.Pulls && m.URL == "" {
			return fault.New(fault.Validation, "media_address", n.Label+" has no address to fetch the files from. The operator has to set HERALD_BASE_URL.")
		}
	}
	return nil
}
