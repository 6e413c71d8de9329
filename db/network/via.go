package network

import (
	"cmp"
	"slices"
	"time"
)

// Via returns the network as a publisher reaches it, and false if it does not: an
// aggregator takes fewer formats, files and options than the network's own API, has
// a look-up of its own, and needs none of the network's permissions from us, since
// it has been given its own. What an account's row does not say is direct. This is
// the one place that knows what goes by which route.
func (n *Network) Via(p Publisher) (*Network, bool) {
	if p == "" || p == Direct {
		return n, true
	}
	r, ok := routes[p]
	via, reached := r.networks[n.Name]
	if !ok || !reached {
		return nil, false
	}
	own := *n
	own.Scopes, own.Rates, own.Address, own.Signs, own.SignIns, own.Entries = nil, r.rates, "", false, nil, nil
	own.Renews, own.Thread, own.Pulls, own.Key, own.KeyHolds, own.LookUp, own.Settle = nil, min(n.Thread, via.thread), r.pulls, r.key, 0, r.lookUp, r.settle
	own.Alt.Image, own.Alt.Video = own.Alt.Image && via.altImage, own.Alt.Video && via.altVideo
	own.Formats, own.Comment = via.formats(n, r), via.comment(n)
	own.Options = via.options(n)
	if via.change != nil {
		via.change(&own)
	}
	return &own, true
}

// Reaches says whether a publisher, or the network's own API, can be used for it.
func Reaches(name Name, p Publisher) bool {
	n, ok := Get(name)
	if ok {
		_, ok = n.Via(p)
	}
	return ok
}

// route is what a publisher takes, whichever network it is for.
type route struct {
	label    string
	keyHelp  string   // where a person gets the key
	idHelp   string   // what the account's id is there
	types    []string // of files
	bytes    int64    // of one file; zero: as much as the network
	pulls    bool     // files are fetched from an address
	key      bool     // a key of ours names a post for good
	lookUp   Strength
	settle   time.Duration
	rates    []Rate
	networks map[Name]reach
}

// reach is what a publisher takes of one network. A bound of the network holds all
// the same: the post gets there in the end.
type reach struct {
	takes              []Format
	altImage, altVideo bool
	comments           int // characters of a first comment; zero: none can be sent
	thread             int // posts that a thread may have; zero: there are none
	keeps              []string
	change             func(*Network)
}

var routes = map[Publisher]route{Blotato: blotato, Bundle: bundle, GHL: ghl}

// PublisherLabel is what a screen calls a publisher.
func PublisherLabel(p Publisher) string { return cmp.Or(routes[p].label, string(p)) }

// Aggregators lists the publishers besides direct that Herald speaks to.
func Aggregators() (list []Publisher) {
	for _, p := range []Publisher{Blotato, Bundle, GHL} {
		if _, ok := routes[p]; ok {
			list = append(list, p)
		}
	}
	return list
}

// Reached lists the networks that a publisher reaches, sorted.
func Reached(p Publisher) (list []*Network) {
	for _, n := range all {
		if _, ok := n.Via(p); ok {
			list = append(list, n)
		}
	}
	return list
}

// KeyHelp says where a person gets a publisher's key; empty for direct.
func KeyHelp(p Publisher) string { return routes[p].keyHelp }

// IDHelp says what an account's id is at a publisher; empty for direct.
func IDHelp(p Publisher) string { return routes[p].idHelp }

func (v reach) formats(n *Network, r route) (list []FormatRule) {
	for _, rule := range n.Formats {
		if !slices.Contains(v.takes, rule.Format) {
			continue
		}
		rule.Image, rule.Video, rule.Document, rule.Cover = r.file(rule.Image), r.file(rule.Video), r.file(rule.Document), FileRule{}
		rule.Comment = v.comments > 0 && (rule.Comment || n.Comment.Max == 0)
		rule.Alt = rule.Alt && (v.altImage && len(rule.Image.Types) > 0 || v.altVideo && len(rule.Video.Types) > 0)
		list = append(list, rule)
	}
	return list
}

// file is what both the network and the publisher take.
func (r route) file(f FileRule) FileRule {
	f.Types = slices.DeleteFunc(slices.Clone(f.Types), func(t string) bool { return !slices.Contains(r.types, t) })
	if r.bytes > 0 && f.Bytes > 0 {
		f.Bytes = min(f.Bytes, r.bytes)
	}
	return f
}

// comment bounds a first comment by what both take. The publisher counts UTF-16
// units, of which there are no fewer than of anything but pictures.
func (v reach) comment(n *Network) TextRule {
	if v.comments == 0 {
		return TextRule{}
	}
	rule := n.Comment
	if rule.Max == 0 || v.comments < rule.Max {
		rule.Max = v.comments
	}
	if rule.Unit != Pictures {
		rule.Unit, rule.PerURL, rule.Bytes = UTF16, 0, 0
	}
	rule.Ellipsis = cmp.Or(rule.Ellipsis, "...")
	return rule
}

func (v reach) options(n *Network) (list []Option) {
	for _, o := range n.Options {
		if slices.Contains(v.keeps, o.Key) {
			list = append(list, o)
		}
	}
	return list
}

// alter changes an option that a publisher takes otherwise. The options are the
// caller's own copy.
func alter(n *Network, key string, change func(*Option)) {
	change(&n.Options[slices.IndexFunc(n.Options, func(o Option) bool { return o.Key == key })])
}
