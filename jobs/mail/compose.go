package mail

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	netmail "net/mail"
	"net/url"
	"strings"

	gomail "github.com/wneessen/go-mail"

	"herald/db"
	"herald/db/model"
	"herald/views/email"
)

// The kinds of notice, as the notifier owes them.
const (
	kindFailed      = "target_failed"
	kindManualCheck = "manual_check"
	kindReconnect   = "needs_reconnect"
	kindEnds        = "connection_ends"
)

// message draws a mail. What it cannot draw today (a kind that a newer Herald
// owed, a link under a key that is not in the ring) may be drawn later.
func (d *Deliverer) message(ctx context.Context, m db.Mail) (*gomail.Msg, *problem) {
	to, err := netmail.ParseAddress(m.To)
	if err != nil || to.Address != m.To {
		return nil, &problem{say: "The recipient's address is none.", log: "The recipient's address is none.", final: true}
	}
	look := d.look(ctx, m)
	letter, bad := d.letter(m, look)
	if bad != nil {
		return nil, bad
	}
	letter.Accent = look.Accent
	pictures := d.pictures(ctx, m)
	for _, p := range pictures {
		letter.Show(p.post, p.cid, p.alt)
	}
	logo := d.logo(ctx, m, look)
	letter.Logo = logo.cid
	letter.Stop = d.stop(m, look)
	var html strings.Builder
	if err := email.Page(letter).Render(ctx, &html); err != nil {
		return nil, saying("The mail could not be drawn.")
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(&netmail.Address{Name: sender(letter.Agency, d.from.Name), Address: d.from.Address})
	msg.ToMailAddress(&netmail.Address{Name: email.Line(m.ToName, 80), Address: m.To})
	msg.Subject(letter.Subject)
	msg.SetDateWithValue(d.now())
	msg.SetMessageIDWithValue(d.messageID(m))
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader(gomail.HeaderXAutoResponseSuppress, "All") // Exchange knows no Auto-Submitted
	msg.SetBodyString(gomail.TypeTextPlain, letter.Text())
	msg.AddAlternativeString(gomail.TypeTextHTML, html.String())
	if letter.Stop != "" {
		msg.SetGenHeader(gomail.HeaderListUnsubscribe, "<"+letter.Stop+">")
		if strings.HasPrefix(letter.Stop, "https:") { // RFC 8058 speaks of nothing else
			msg.SetGenHeader(gomail.HeaderListUnsubscribePost, "List-Unsubscribe=One-Click")
		}
	}
	if logo.cid != "" {
		pictures = append(pictures, logo)
	}
	for _, p := range pictures {
		if err := msg.EmbedReader(p.name(), bytes.NewReader(p.bytes), gomail.WithFileContentID(p.cid), gomail.WithFileContentType(gomail.ContentType(p.kind))); err != nil {
			return nil, saying("The mail's pictures could not be put in.")
		}
	}
	return msg, nil
}

// sender names the agency, whom the reader knows, and Herald, whose address it is.
func sender(agency, own string) string {
	agency = email.Line(agency, 60)
	switch {
	case agency == "":
		return own
	case own == "":
		return agency
	}
	return agency + " via " + own
}

// baseOf is what the links of a mail begin with: Herald's own address, or the same by a
// name of the agency's.
func (d *Deliverer) baseOf(look db.MailLook) string {
	u, err := url.Parse(d.base)
	if look.Host == "" || err != nil {
		return d.base
	}
	if u.Scheme == "http" && u.Port() != "" {
		return "http://" + look.Host + ":" + u.Port()
	}
	return u.Scheme + "://" + look.Host
}

// messageID is the same at every try, and differs between installations that
// share a sender.
func (d *Deliverer) messageID(m db.Mail) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d\n%s\n%s\n%s", d.base, m.Tenant, m.ID, m.Kind, m.To, m.Content))
	_, domain, _ := strings.Cut(d.from.Address, "@")
	return hex.EncodeToString(sum[:16]) + "@" + domain
}

// letter reads a mail's content by its kind.
func (d *Deliverer) letter(m db.Mail, look db.MailLook) (email.Letter, *problem) {
	switch m.Kind {
	case model.MailReviewRequest, model.MailApprovalWaiting, model.MailDecision, model.MailGivenBack, model.MailComment, model.MailUnscheduled, model.MailPlanPassed, model.MailNotScheduled, model.MailReminder, model.MailReviewReminder, model.MailEscalation, model.MailSuggestion, model.MailHeld, model.MailLetGo, model.MailMention:
		return d.approvalLetter(m, look)
	case kindFailed, kindManualCheck, kindReconnect, kindEnds:
		return d.noticeLetter(m)
	case model.MailInvitation:
		return d.invitationLetter(m)
	case model.MailPasswordLink:
		return d.passwordLetter(m)
	case model.MailConnectLink, model.MailConnected, model.MailConnectAsked:
		return d.connectLetter(m)
	}
	return email.Letter{}, saying(fmt.Sprintf("This Herald does not know mail of the kind %q.", email.Line(m.Kind, 40)))
}

func (d *Deliverer) approvalLetter(m db.Mail, look db.MailLook) (email.Letter, *problem) {
	var content model.ApprovalMail
	if err := json.Unmarshal(m.Content, &content); err != nil || len(content.Posts) == 0 {
		return email.Letter{}, unreadable()
	}
	content.Agency = cmp.Or(look.Name, content.Agency)
	switch m.Kind {
	case model.MailApprovalWaiting:
		return email.ApprovalWaiting(m.ToName, content, d.base+content.Path), nil
	case model.MailComment:
		return email.Comment(m.ToName, content, d.base+content.Path), nil
	case model.MailDecision:
		return email.Decision(m.ToName, content, d.base+content.Path), nil
	case model.MailUnscheduled:
		return email.Unscheduled(m.ToName, content, d.base+content.Path), nil
	case model.MailPlanPassed:
		return email.PlanPassed(m.ToName, content, d.base+content.Path), nil
	case model.MailGivenBack:
		return email.GivenBack(m.ToName, content, d.base+content.Path), nil
	case model.MailSuggestion:
		return email.Suggestion(m.ToName, content, d.base+content.Path), nil
	case model.MailMention:
		return email.Mention(m.ToName, content, d.base+content.Path), nil
	case model.MailHeld:
		return email.Held(m.ToName, content, d.base+content.Path), nil
	case model.MailLetGo:
		return email.LetGo(m.ToName, content, d.base+content.Path), nil
	case model.MailReminder:
		return email.Reminder(m.ToName, content, d.base+content.Path, d.now()), nil
	case model.MailEscalation:
		return email.Escalation(m.ToName, content, d.base+content.Path, d.now()), nil
	case model.MailNotScheduled:
		return email.NotScheduled(m.ToName, content, d.base+content.Path), nil
	}
	if m.Secret.Empty() {
		return email.Letter{}, saying("The review link cannot be opened with the keys in HERALD_KEYS.")
	}
	over := content.Until != nil && !d.now().Before(*content.Until)
	link := d.baseOf(look) + "/review/" + m.Secret.Reveal()
	if m.Kind == model.MailReviewReminder {
		return email.ReviewReminder(m.ToName, content, link, d.now(), over), nil
	}
	return email.ReviewRequest(m.ToName, content, link, over), nil
}

func (d *Deliverer) invitationLetter(m db.Mail) (email.Letter, *problem) {
	var content model.InvitationMail
	if err := json.Unmarshal(m.Content, &content); err != nil || content.Agency == "" {
		return email.Letter{}, unreadable()
	}
	if m.Secret.Empty() {
		return email.Letter{}, saying("The link of the invitation cannot be opened with the keys in HERALD_KEYS.")
	}
	return email.Invitation(content, d.base+"/invitations/"+m.Secret.Reveal()), nil
}

func (d *Deliverer) passwordLetter(m db.Mail) (email.Letter, *problem) {
	var content model.PasswordMail
	if err := json.Unmarshal(m.Content, &content); err != nil || content.Zone == "" {
		return email.Letter{}, unreadable()
	}
	if m.Secret.Empty() {
		return email.Letter{}, saying("The link to a new password cannot be opened with the keys in HERALD_KEYS.")
	}
	return email.Password(m.ToName, content, d.base+"/passwords/"+m.Secret.Reveal()), nil
}

func (d *Deliverer) connectLetter(m db.Mail) (email.Letter, *problem) {
	var list []model.ConnectMail
	for _, content := range append([]json.RawMessage{m.Content}, m.Carried...) {
		var one model.ConnectMail
		if err := json.Unmarshal(content, &one); err != nil || one.Client == "" {
			return email.Letter{}, unreadable()
		}
		list = append(list, one)
	}
	switch {
	case m.Kind == model.MailConnected:
		return email.Connected(m.ToName, list, d.base+list[0].Path), nil
	case m.Kind == model.MailConnectAsked:
		return email.ConnectAsked(m.ToName, list[0], d.base+list[0].Path), nil
	case m.Secret.Empty():
		return email.Letter{}, saying("The link to connect accounts cannot be opened with the keys in HERALD_KEYS.")
	}
	return email.ConnectLink(m.ToName, list[0], d.base+"/connect/"+m.Secret.Reveal(), !d.now().Before(list[0].Until)), nil
}

// noticeLetter tells of one target or account, or of all that the mail carries.
func (d *Deliverer) noticeLetter(m db.Mail) (email.Letter, *problem) {
	facts, bad := noticeFacts(m)
	if bad != nil {
		return email.Letter{}, bad
	}
	var notices []email.Notice
	for _, f := range facts {
		notices = append(notices, email.Notice{
			Agency: m.Workspace, Client: f.Client, Network: f.Network, Account: f.Account, Excerpt: f.Excerpt,
			Reason: f.Reason, Say: f.Say, DueAt: f.DueAt, Zone: f.Zone, Waiting: f.Affected,
		})
	}
	desk := d.base + "/w/" + m.Slug
	switch {
	case m.Kind == kindReconnect:
		return email.NeedsReconnect(m.ToName, notices[0], desk+"/accounts"), nil
	case m.Kind == kindEnds:
		return email.ConnectionEnds(m.ToName, notices, desk+"/accounts"), nil
	case facts[0].TargetID == nil:
		return email.Letter{}, unreadable()
	}
	page := fmt.Sprintf("%s/targets/%d", desk, *facts[0].TargetID)
	if len(facts) > 1 && facts[0].PostID != nil {
		page = fmt.Sprintf("%s/posts/%d", desk, *facts[0].PostID)
	}
	if m.Kind == kindManualCheck {
		return email.ManualCheck(m.ToName, notices, page), nil
	}
	return email.TargetFailed(m.ToName, notices, page), nil
}

// noticeFacts are what a notice tells of, and what it carries.
func noticeFacts(m db.Mail) (list []db.NoticeFacts, _ *problem) {
	for _, content := range append([]json.RawMessage{m.Content}, m.Carried...) {
		var f db.NoticeFacts
		if err := json.Unmarshal(content, &f); err != nil {
			return nil, unreadable()
		}
		list = append(list, f)
	}
	return list, nil
}

func unreadable() *problem { return saying("What the mail should say cannot be read.") }
