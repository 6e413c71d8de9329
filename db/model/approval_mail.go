package model

import "time"

// The kinds of mail that approvals owe, and what is approved and not scheduled. Their
// content is ApprovalMail.
const (
	MailReviewRequest   = "review_request"   // to an approver: a sealed token makes the address /review/{token}
	MailApprovalWaiting = "approval_waiting" // to a user who decides in the inbox
	MailDecision        = "decision"         // to the writer of what was decided
	MailGivenBack       = "given_back"       // to who submitted what nobody is asked about any more
	MailInvitation      = "invitation"       // to somebody who is asked to join: a sealed token makes the address /invitations/{token}
	MailPasswordLink    = "password_link"    // to who forgot the password: a sealed token makes the address /passwords/{token}
	MailComment         = "comment"          // to who works on a post that an approver wrote about
	MailMention         = "mention"          // to a member whom an internal comment names
	MailUnscheduled     = "unscheduled"      // to the writer and the planner of an approved post that nobody scheduled: its time is near
	MailPlanPassed      = "plan_passed"      // to the same: its time has passed
	MailSuggestion      = "suggestion"       // to who works on a post for which an approver suggests another text
	MailReminder        = "reminder"         // to a user who decides: all that waits
	MailReviewReminder  = "review_reminder"  // the same to an approver, with a link
	MailEscalation      = "escalation"       // to members: what waits for others for long
	MailHeld            = "held"             // to the writer of what somebody holds
	MailLetGo           = "let_go"           // to the same: it goes out again
	MailNotScheduled    = "not_scheduled"    // to the writer of what was approved and could not be scheduled by itself
)

// ApprovalMail is the content of a mail about approvals: what it shows, and
// never what it links to when that is secret.
type ApprovalMail struct {
	Agency string             `json:"agency"`
	Client string             `json:"client"`          // empty if the posts are of several
	Sender string             `json:"sender"`          // who asked, who decided, or who wrote
	Fresh  bool               `json:"fresh,omitempty"` // the reader asked for a new link
	Path   string             `json:"path,omitempty"`  // where it leads, below the base address; empty if a token does
	Until  *time.Time         `json:"until,omitempty"` // when the link runs out
	Posts  []ApprovalMailPost `json:"posts"`

	User     UserID     `json:"user,omitempty"` // of a reminder: whose it is
	Approver ApproverID `json:"approver,omitempty"`
}

// ApprovalMailPost is one post of such a mail.
type ApprovalMailPost struct {
	Post     PostID     `json:"post"`
	Excerpt  string     `json:"excerpt"`
	Client   string     `json:"client"`
	Networks []string   `json:"networks,omitempty"` // canonical names
	DueAt    *time.Time `json:"due_at,omitempty"`
	Zone     string     `json:"zone,omitempty"` // the client's
	Stage    string     `json:"stage,omitempty"`

	Request RequestID  `json:"request,omitempty"` // of what asks for a decision
	Since   *time.Time `json:"since,omitempty"`   // since when it waits
	Owing   []string   `json:"owing,omitempty"`   // for whom, of an escalation

	Verdict Verdict `json:"verdict,omitempty"`  // of a decision
	Words   string  `json:"words,omitempty"`    // what the decider, or the writer of a comment, wrote
	Done    bool    `json:"approved,omitempty"` // nothing more is waited for: the post is approved

	Scheduled bool `json:"scheduled,omitempty"` // the approval scheduled it, by the client's workflow
}

// InvitationMail is what a mail of kind MailInvitation says.
type InvitationMail struct {
	Agency string    `json:"agency"`
	Sender string    `json:"sender"`
	Until  time.Time `json:"until"`
	Zone   string    `json:"zone"`
}

// PasswordMail is what a mail of kind MailPasswordLink says.
type PasswordMail struct {
	Until time.Time `json:"until"`
	Zone  string    `json:"zone"`
}
