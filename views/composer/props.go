package composer

import (
	"slices"
	"strconv"

	"herald/db/model"
	"herald/db/network"
	"herald/views/preview"
	"herald/views/ui"
)

// Paths are where the page's forms and links go.
type Paths struct {
	Save      string // the form itself: the post, or the list of posts for a new one
	Form      string // changes the form, saves nothing
	Check     string // counters and problems
	Cards     string // reads the page of a link
	Upload    string
	Uploads   string // where files go piece by piece
	Duplicate string
	Archive   string
	Retry     string
	Back      string // the post as it is stored; empty for a new one
	Accounts  string
	Approvals string
	Presence  string // says who else has the post open; empty for a new one
}

// Props are one page of the composer.
type Props struct {
	Title  string
	Say    string // one line under the title
	State  string // of the post; empty for a new one
	Paths  Paths
	Editor *Editor         // nil if the reader may not write
	Left   []Left          // what the reader typed and did not save, in other forms
	WhyNot string          // why there is no editor
	Parts  []preview.Props // what the accounts get, where there is no editor

	Delivery Delivery
	Asked    []Asked
	Versions []VersionRow
	Seen     int
	MayWrite bool
	Away     bool   // the post can be put away
	AwayNot  string // why it cannot be just now, where that will pass
	Sheet    bool   // it stands as a dialog over another page
}

// Editor is the form.
type Editor struct {
	Key      string // of a form that makes a post
	Seen     int    // the revision the writer saw
	Began    Began
	Problem  *Problem
	Conflict *Conflict
	Naming   *Naming
	Moved    string // where a file or a post of a thread went
	Warning  string // what a change costs, for a post that is approved or on its way

	Clients []Client
	Text    string
	Link    string
	Comment string
	Fields  map[string]string // problems of single fields, by the field's name

	Networks Networks
	Media    Media
	When     When
	Check    Check
	Foot     Foot
	Keep     Keep
	Labels   Labels
	Wordings Wordings
	Template KeepTemplate
	Notes    string
	Confirm  []model.ClientID // clients confirmed by name before, sent back as they are
}

// Problem is why what was asked did not happen.
type Problem struct {
	Tone  ui.NoticeTone
	Title string
	Says  []string
	Href  string // the place to mend it; empty if there is none
}

// Conflict is a form that was overtaken.
type Conflict struct {
	Say  string
	Rows []ConflictRow
}

// ConflictRow is one thing that differs.
type ConflictRow struct {
	Key    string // names it in the form
	What   string
	Stored string
	Mine   []model.Piece // as against what is stored
	Both   bool          // the two can stand together
}

// Began is what the form began from.
type Began struct {
	Version                 int
	Standing, Notes, Labels string
}

// Naming is the step that names each client of a post that spans several.
type Naming struct {
	Do      string // the intent that goes on once all are confirmed
	Label   string // of its button
	Clients []NamedClient
}

// NamedClient is one client to be confirmed.
type NamedClient struct {
	ID       model.ClientID
	Name     string
	Accounts string
	Named    bool
}

// Client is a client's group in the account picker.
type Client struct {
	ID       model.ClientID
	Name     string
	Open     bool
	Chosen   int
	Paths    Paths
	Accounts []Account
}

func (c Client) id() string { return "client-" + strconv.FormatInt(int64(c.ID), 10) }

func (c Client) all() bool { return c.Chosen == len(c.Accounts) }

// Account is one account in the picker.
type Account struct {
	ID        model.AccountID
	Network   network.Name
	Label     string
	Handle    string
	Chosen    bool
	Reconnect bool
	Disabled  bool
	Paused    bool
}

func (a Account) id() string { return "account-" + strconv.FormatInt(int64(a.ID), 10) }

func (a Account) note() string {
	switch {
	case a.Disabled:
		return "Switched off"
	case a.Reconnect:
		return "Needs reconnecting"
	case a.Paused:
		return "Paused"
	}
	return ""
}

// Networks is what differs by network and by account.
type Networks struct {
	Paths    Paths
	Variants []Variant // of the chosen networks
	Kept     []Variant // of networks that are not chosen now: nothing typed is lost
	Accounts []AccountOptions
	Update   bool // accounts may have changed since the page was drawn: without script, ask
}

// Open opens the tab of a network, else the first one that has words of its own,
// else the first.
func (n Networks) Open(name network.Name) {
	i := slices.IndexFunc(n.Variants, func(v Variant) bool { return v.Network == name })
	if i < 0 {
		i = slices.IndexFunc(n.Variants, func(v Variant) bool { return v.Own })
	}
	if len(n.Variants) > 0 {
		n.Variants[max(0, i)].Chosen = true
	}
}

// Variant is the words for one network.
type Variant struct {
	Network     network.Name
	Label       string
	Chosen      bool     // its tab is open
	Own         bool     // it has words of its own
	Explicit    []string // the parts that are its own though they may equal the shared ones
	Text        string
	Link        string
	Comment     string
	TakesLink   bool
	TakesWords  bool // takes a first comment
	Files       []VariantFile
	FileOrder   bool    // the files stand in an order of this network's own
	Thread      *Thread // nil if the network takes none
	FileProblem string
	TextProblem string
}

func (v Variant) name(field string) string { return field + "." + string(v.Network) }

func (v Variant) id(field string) string { return field + "-" + string(v.Network) }

// VariantFile is one of the post's files, and whether this network gets it.
type VariantFile struct {
	ID    model.MediaID
	Name  string
	Taken bool
	Extra bool   // no other network has it
	Alt   string // of an extra one
}

// AccountOptions are the choices of one account.
type AccountOptions struct {
	ID      model.AccountID
	Network network.Name
	Label   string
	Handle  string
	Fields  []OptionField
}

// OptionField is one choice, as the catalogue asks for it.
type OptionField struct {
	Name    string // of the control
	ID      string
	Option  network.Option
	Value   string
	Problem string
	Steers  bool // other fields come and go with it
}

// Media is the post's files.
type Media struct {
	Paths   Paths
	Files   []File
	Owners  []ui.Option // clients an upload can belong to, when there are several
	Owner   model.ClientID
	Nobody  string // why nothing can be uploaded now; empty if it can
	Say     string // "JPEG, PNG, WebP or MP4, up to 4 GB each"
	Plain   string // what else is said where script does not run
	Said    []string
	Refused []string
	Address string // of a file to fetch, that was not taken yet
	Problem string
	Accept  string // what file dialogs offer
	Watch   string // address that tells how files on their way stand; empty if none is
	Picker  Picker
}

// File is one attachment.
type File struct {
	ID         model.MediaID
	Name       string
	Facts      string // "1,200 × 800, JPEG, 340 KB"
	Video      bool
	Document   bool
	Pages      int    // of a document
	Thumb      string // address; empty where there is none
	Source     string // address of the file itself
	Alt        string // in this post
	Library    string // the file's own
	State      string // empty if it is ready
	StateWords string
	Say        string // why it is not ready, in a sentence
	Problem    string
}

// Kind is what the file is to networks.
func (f File) Kind() network.MediaKind {
	switch {
	case f.Video:
		return network.Video
	case f.Document:
		return network.Document
	}
	return network.Image
}

func (f File) id() string { return "media-" + strconv.FormatInt(int64(f.ID), 10) }

func (f File) do(verb string) string { return verb + ":" + strconv.FormatInt(int64(f.ID), 10) }

func (f File) alt() string { return "alt." + strconv.FormatInt(int64(f.ID), 10) }

// When is the planned time.
type When struct {
	Paths     Paths
	Date      string
	Clock     string
	Zone      string
	Default   string // the zone that was filled in by itself
	Planned   string // as it was when the page was drawn
	Zones     []ui.Option
	More      []ui.OptionGroup
	Said      WhenSaid
	Slack     string // the first day that can be chosen
	Scheduled bool
}

// WhenSaid is what the chosen time means.
type WhenSaid struct {
	Paths    Paths
	Problem  string
	Suggest  []Suggestion
	Repeated bool
	Choice   model.Occurrence
	Earlier  string
	Later    string
	Time     *ui.TimeProps
	Differs  bool // the accounts have times of their own
}

// Suggestion is a time that exists, near one that does not.
type Suggestion struct {
	Value string // 2006-01-02T15:04
	Label string
}

// Check is what the networks say.
type Check struct {
	Say    string   // why nothing can be said
	Unread []string // addresses whose pages were not read yet
	Groups []CheckGroup
	Plain  bool // links are not tagged in this post
}

// tags says whether there is a choice: links are tagged, or would be.
func (c Check) tags() bool {
	return c.Plain || slices.ContainsFunc(c.Groups, func(g CheckGroup) bool { return len(g.Links) > 0 })
}

// CheckGroup is accounts of one network that get the same.
type CheckGroup struct {
	Key      string // of its tab
	Chosen   bool   // its tab is open
	Network  network.Name
	Label    string
	Format   string
	Length   int
	Limit    int
	Look     preview.Props
	Problems []CheckProblem
	MayFit   bool
	MaySplit bool
	Links    []TaggedLink
}

// TaggedLink is a link as it was written, and with its tags as it goes out.
type TaggedLink struct{ From, To string }

func (g CheckGroup) near() bool { return g.Length*10 >= g.Limit*9 }

func (g CheckGroup) left() string { return strconv.Itoa(g.Limit - g.Length) }

func (g CheckGroup) warns() (list []CheckProblem) {
	for _, p := range g.Problems {
		if p.Warn {
			list = append(list, p)
		}
	}
	return list
}

// Key names the tab of another group: by its network, or by an account where the
// network has one already.
func (c Check) Key(name network.Name, id model.AccountID) string {
	if slices.ContainsFunc(c.Groups, func(g CheckGroup) bool { return g.Network == name }) {
		return "account-" + strconv.FormatInt(int64(id), 10)
	}
	return string(name)
}

// Open opens the tab of a key, else the first one.
func (c Check) Open(key string) {
	i := max(0, slices.IndexFunc(c.Groups, func(g CheckGroup) bool { return g.Key == key }))
	if len(c.Groups) > 0 {
		c.Groups[i].Chosen = true
	}
}

// block is a problem that keeps a post from going out, and whose it is.
type block struct {
	Network network.Name
	Label   string
	CheckProblem
}

// blocks are all of them, once each.
func (c Check) blocks() (list []block) {
	for _, g := range c.Groups {
		for _, p := range g.Problems {
			if b := (block{g.Network, g.Label, p}); !p.Warn && !slices.Contains(list, b) {
				list = append(list, b)
			}
		}
	}
	return list
}

// CheckProblem is one thing to mend, with its place.
type CheckProblem struct {
	Say  string
	Href string
	Warn bool
}

// Delivery is where each target stands.
type Delivery struct {
	Rows   []TargetRow
	Hidden int // targets of clients the reader does not see
	Failed int // that the reader can send again
	First  bool
}

// TargetRow is one target.
type TargetRow struct {
	ID        model.TargetID
	Href      string
	Network   network.Name
	Label     string
	Handle    string
	Client    string
	State     string
	Say       string
	When      *ui.TimeProps
	WhenWords string // "planned", "published"
	Words     string // first words of its version, where that is not the current one
	Permalink string
}

// Asked is one approval request.
type Asked struct {
	Client string
	State  string
	Words  string
	Said   []Remark
}

// Remark is what somebody said about the post.
type Remark struct {
	Name string
	Say  string
	When ui.TimeProps
}

// VersionRow is one version.
type VersionRow struct {
	Number   int
	Href     string
	By       string
	When     ui.TimeProps
	Excerpt  string
	Current  bool
	Approved bool
}
