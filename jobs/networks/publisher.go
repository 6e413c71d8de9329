package networks

import (
	"context"

	"herald/db/network"
	"herald/jobs/networks/fault"
)

// FitsBy is Fits for a publisher that is called label: the catalogue's entry of the
// job's network as the publisher reaches it, or what keeps the job from going there.
func FitsBy(p network.Publisher, label string, job Job) (*network.Network, error) {
	n, ok := EntryBy(p, job)
	if !ok {
		return nil, fault.New(fault.Permission, "network_unavailable", label+" does not reach this network.")
	}
	return n, FitsOn(n, job)
}

// EntryBy is the catalogue's entry of the job's network as a publisher reaches it,
// and false if it does not.
func EntryBy(p network.Publisher, job Job) (*network.Network, bool) {
	n, ok := network.Get(job.Account.Network)
	if !ok {
		return nil, false
	}
	return n.Via(p)
}

// TextBy is the post's text as a publisher takes it, with the link below it where
// the network has no other place for one; of a thread the first post's.
func TextBy(p network.Publisher, job Job) string { return PartsBy(p, job)[0] }

// PartsBy are the texts of the posts of a thread; of anything else its text alone.
func PartsBy(p network.Publisher, job Job) []string {
	n, _ := EntryBy(p, job)
	return n.Parts(draft(job))
}

// CardBy is the link that a publisher is to show a card of; empty where there is
// none, or it stands in the text.
func CardBy(p network.Publisher, job Job) string {
	if n, _ := EntryBy(p, job); n.LinkOf(draft(job)) != network.LinkBeside {
		return ""
	}
	return job.Post.Link
}

func draft(job Job) network.Draft {
	d := network.Draft{Text: job.Post.Text, Link: job.Post.Link, Options: job.Post.Options}
	for _, m := range job.Post.Media {
		d.Media = append(d.Media, m.Media)
	}
	return d
}

// Accepted is the good end of a commit at a publisher: the post is on its way.
func Accepted(label string) error {
	return fault.New(fault.Unknown, "accepted", label+" has the post and hands it on; Herald asks what becomes of it.")
}

// KnownBy is the publisher's id of the post: the one that the handle keeps, else the
// only one that listed finds, which is kept then. It is empty if there are none, or
// several.
func KnownBy(ctx context.Context, h Handles, handle string, listed func(context.Context) ([]string, error)) (string, error) {
	if id := h.Get(handle); id != "" {
		return id, nil
	}
	ours, err := listed(ctx)
	if err != nil || len(ours) != 1 {
		return "", err
	}
	return ours[0], Keep(ctx, h, handle, ours[0])
}

// Details are what a publisher is told of a post for its network.
type Details struct {
	Net *network.Network // as the publisher reaches it, for the account
	Job Job
	Out map[string]any
}

// DetailsBy begins with what any network is told.
func DetailsBy(p network.Publisher, job Job, out map[string]any) Details {
	n, _ := EntryBy(p, job)
	return Details{Net: n.With(job.Account.Settings), Job: job, Out: out}
}

// Value is what was chosen for an option, or its default.
func (d Details) Value(option string) string {
	return d.Net.Value(network.Draft{Options: d.Job.Post.Options}, option)
}

// On says whether a switch is on.
func (d Details) On(option string) bool { return d.Value(option) == "true" }

// Set tells what was chosen, and leaves out what was not.
func (d Details) Set(name, value string) {
	if value != "" {
		d.Out[name] = value
	}
}

// Collaborators are the names that the post is made with; nil if it is nobody's else.
func (d Details) Collaborators() []string {
	return network.Names(d.Value(network.OptCollaborators))
}

// Disclosed says whether the post advertises the writer's own brand, and whether
// somebody paid for it.
func (d Details) Disclosed() (own, paid bool) {
	what := d.Value(network.OptDisclose)
	return what == "own" || what == "both", what == "paid" || what == "both"
}
