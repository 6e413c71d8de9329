package model

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Verdict is what one person says about a version.
type Verdict string

// The verdicts.
const (
	Approve        Verdict = "approve"
	RequestChanges Verdict = "request_changes"
	Reject         Verdict = "reject"
)

// Known says whether v is one of the verdicts.
func (v Verdict) Known() bool { return v == Approve || v == RequestChanges || v == Reject }

// RequestState is where an approval request stands.
type RequestState string

// The states of an approval request.
const (
	RequestOpen       RequestState = "open"
	RequestApproved   RequestState = "approved"
	RequestChangesDue RequestState = "changes_requested"
	RequestRejected   RequestState = "rejected"
	RequestSuperseded RequestState = "superseded"
)

// Rule says how many of a stage's people it takes.
type Rule string

// The rules.
const (
	AnyOne   Rule = "any"
	Everyone Rule = "all"
)

// AskedStage is one stage of a workflow as it was when approval was asked for.
// Positions run from 1 without gaps.
type AskedStage struct {
	Position int           `json:"position"`
	Name     string        `json:"name"`
	Rule     Rule          `json:"rule"`
	People   []AskedPerson `json:"people"`
}

// AskedPerson is one of a stage's people: a user, or a client's approver.
type AskedPerson struct {
	User     UserID     `json:"user,omitempty"`
	Approver ApproverID `json:"approver,omitempty"`
	Name     string     `json:"name"`
}

// Is says whether two are the same person, whatever they are called by now.
func (p AskedPerson) Is(q AskedPerson) bool { return p.User == q.User && p.Approver == q.Approver }

// Has says whether the person is among the stage's people.
func (s AskedStage) Has(p AskedPerson) bool { return slices.ContainsFunc(s.People, p.Is) }

// ApprovalDecision is one person's recorded decision.
type ApprovalDecision struct {
	Stage    int
	Person   AskedPerson
	Verdict  Verdict
	Words    string
	Override bool // by an owner or admin who is not among the stage's people
	At       time.Time
}

// ApprovalRequest asks one client's people about one version, as screens show it.
type ApprovalRequest struct {
	ID         RequestID
	PostID     PostID
	VersionID  VersionID
	Number     int    // of the version, counted per post
	Hash       string // hex; a decision sends it back
	ClientID   ClientID
	Client     string
	ClientZone string
	State      RequestState
	Stage      int // position of the stage that decides now
	Stages     []AskedStage
	DueAt      *time.Time // earliest planned time of the client's targets
	AskedBy    string
	AskedAt    time.Time
	ClosedAt   *time.Time
	Archived   bool // the post was put away

	Previews  []Preview // what each of the client's accounts would get
	Before    []Preview // the same of the version that BeforeIs names; empty if there is none
	BeforeIs  string    // "approved" or "asked": what happened to that version
	Decisions []ApprovalDecision
	Comments  []Comment

	Suggestions []Suggestion
	Texts       []SuggestedPart // those of the version, once each: what another can be suggested for

	Hold  Hold // that stands; without an id if there is none
	Waits bool // something of it is still to go out, and can be held
}

// Current is the stage that decides now.
func (r ApprovalRequest) Current() AskedStage {
	if r.Stage < 1 || r.Stage > len(r.Stages) {
		return AskedStage{}
	}
	return r.Stages[r.Stage-1]
}

// DecisionOf returns what the person decided at a stage.
func (r ApprovalRequest) DecisionOf(p AskedPerson, stage int) (ApprovalDecision, bool) {
	for _, d := range r.Decisions {
		if d.Stage == stage && d.Person.Is(p) {
			return d, true
		}
	}
	return ApprovalDecision{}, false
}

// WaitsFor says whether the request waits for this person now.
func (r ApprovalRequest) WaitsFor(p AskedPerson) bool {
	_, decided := r.DecisionOf(p, r.Stage)
	return r.State == RequestOpen && r.Current().Has(p) && !decided
}

// Owing returns those of the current stage's people who have not decided.
func (r ApprovalRequest) Owing() []AskedPerson {
	var owing []AskedPerson
	for _, p := range r.Current().People {
		if r.WaitsFor(p) {
			owing = append(owing, p)
		}
	}
	return owing
}

// Last is the newest decision; zero if there is none.
func (r ApprovalRequest) Last() ApprovalDecision {
	if len(r.Decisions) == 0 {
		return ApprovalDecision{}
	}
	return r.Decisions[len(r.Decisions)-1]
}

// Preview is what one account would get, as its network will show it.
type Preview struct {
	AccountID    AccountID
	Network      string   // canonical name
	Account      string   // its handle
	Format       string   // of network.Format; empty on a network that is not known
	Text         string   // as it is sent: the variant, with what the network puts into the text
	Parts        []string // the posts that Text becomes; a thread has several
	Link         string   // empty where the network has it in the text
	FirstComment string
	Media        []PreviewMedia
	Options      []PreviewOption
	Chosen       map[string]string // the same by key, as network.Post.Options has them
	DueAt        *time.Time
	Zone         string // of DueAt's intent
}

// PreviewMedia is one attachment as it is sent.
type PreviewMedia struct {
	ID        MediaID
	Rendition RenditionID // what is sent in its stead; 0: the asset itself
	Waits     bool        // what is sent is still being made
	Plays     RenditionID // what browsers play, where they do not play the asset; 0: they do, or there is none yet
	Kind      string      // image, video, document
	Alt       string
	SHA256    string
	Width     int // of what is sent
	Height    int
	Pages     int  // of a document
	Drawn     bool // there is a thumbnail of it
}

// File names in a media link what is sent, or, while that waits, what it is made of,
// as browsers play it.
func (m PreviewMedia) File() string {
	switch {
	case m.Rendition != 0:
		return RenditionFile(m.Rendition)
	case m.Plays != 0:
		return RenditionFile(m.Plays)
	}
	return "original"
}

const renditionFile = "rendition-"

// RenditionFile names a rendition in a media link.
func RenditionFile(id RenditionID) string { return renditionFile + strconv.FormatInt(int64(id), 10) }

// ParseRenditionFile reads what RenditionFile writes.
func ParseRenditionFile(file string) (RenditionID, bool) {
	digits, ok := strings.CutPrefix(file, renditionFile)
	n, err := strconv.ParseInt(digits, 10, 64)
	return RenditionID(n), ok && err == nil && RenditionFile(RenditionID(n)) == file
}

// PreviewOption is one per-target choice, in the network's words.
type PreviewOption struct{ Key, Label, Value string }

// Visibility says who may read a comment.
type Visibility string

// The visibilities.
const (
	Internal      Visibility = "internal"
	ClientVisible Visibility = "client"
)

// Comment is one remark on a post.
type Comment struct {
	ID         int64
	PostID     PostID
	Visibility Visibility
	ClientID   ClientID // whose approvers see it; zero on internal ones
	Client     string
	Name       string
	ByApprover bool
	Body       string
	At         time.Time
	Mentions   []string // the words after an @ that name a member; of internal ones
	Files      []CommentFile
	Untold     []string `db:"-"` // members it names who may not see the post; of one just made
}

// CommentFile is a file that was put to a comment.
type CommentFile struct {
	ID    MediaID `json:"id"`
	Name  string  `json:"name"`
	State string  `json:"state"` // as of an asset: shown only once it is ready
	Thumb bool    `json:"thumb"`
}

// SuggestedPart is one text of a version with what somebody would rather have.
type SuggestedPart struct {
	Networks []string `json:"networks"` // canonical names; those that get the text
	From     string   `json:"from"`
	To       string   `json:"to"`
}

// Suggestion is a text that an approver would rather have.
type Suggestion struct {
	ID         SuggestionID
	RequestID  RequestID
	VersionID  VersionID
	ApproverID ApproverID
	Name       string
	Parts      []SuggestedPart
	State      string // open, taken, declined
	At         time.Time
}
