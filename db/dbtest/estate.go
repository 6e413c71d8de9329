package dbtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
)

// Estate is an agency that owns one of everything, for two clients, and a
// manager who works for the second alone.
type Estate struct {
	*Agency
	Main  Holding
	Other Holding
	Half  *db.Scope
}

// Holding is one of everything that a client of an agency can own.
type Holding struct {
	*Agency
	Mark     string // stands in every name and text, and nowhere else
	Client   model.ClientID
	Account  model.AccountID
	Media    model.MediaID
	Folder   model.FolderID // where the file lies
	Upload   model.UploadID // of the owner's, whole and not yet a file of the library
	Arriving model.UploadID // another, of which the first byte is here
	Dropped  model.UploadID // and another, to be given up
	Approver model.ApproverID
	Comment  int64
	Blackout model.BlackoutID
	Feed     model.FeedID // of the client alone, the owner's
	Card     string       // hash of a link's card that has a picture
	Slot     model.SlotID // of the account
	Calendar string       // token of somebody else's feed of it
	Viewer   model.UserID // that somebody: sees the client, and no other

	Invitation model.InvitationID  // of somebody who is to see the client alone
	Invited    string              // token of its link
	Consent    model.ConsentID     // the owner is back from it, and has not chosen
	Door       model.ConnectLinkID // by which the client connects accounts
	DoorToken  string              // of that link

	Import      model.ImportID // a table of the client's, with a row that was refused
	SpareImport model.ImportID // another

	Label    model.LabelID // of the client, on the draft
	Campaign model.LabelID // of the client, on what is planned
	Spare    model.LabelID // of the client, on nothing

	Wording      model.WordingID // a template of the client, with its label
	SpareWording model.WordingID // a snippet of the client
	Note         model.NoteID    // on a day, of the client

	Draft   model.PostID // with the file, not submitted
	Asked   model.PostID // waits for the approver
	Request model.RequestID
	Link    model.LinkID
	Token   string       // of the link
	Planned model.PostID // scheduled for tomorrow
	Failed  model.PostID // refused by its network
	Unsure  model.PostID // failed, to be checked by hand
	Stuck   model.PostID // its account lost the connection, and has it again

	// The target of each of those posts.
	DraftTarget, AskedTarget, PlannedTarget, FailedTarget, UnsureTarget, StuckTarget model.TargetID

	Suggestion model.SuggestionID // of the approver, about Request
	HeldTarget model.TargetID     // of Stuck, which the approver holds
}

// Estate makes an agency of everything on a shard. Its ids are its own: no other
// estate of the world has a row with one of them, whatever the kind.
func (w *World) Estate(t testing.TB, slug, shard string) *Estate {
	t.Helper()
	e := &Estate{Agency: w.Agency(t, slug, shard)}
	w.Super(t, shard, `SELECT setval(oid::regclass, $1) FROM pg_class WHERE relkind = 'S' AND relnamespace = 'tenant'::regnamespace`, 10_000*int64(e.ID))
	e.Main, e.Other = e.Holding(t, "main"), e.Holding(t, "other")
	e.Half = e.Member(t, model.Manager, map[model.ClientID][]model.Permission{e.Other.Client: model.Manager.Grants()})
	return e
}

// Holding makes a client with one of everything.
func (a *Agency) Holding(t testing.TB, slug string) Holding {
	t.Helper()
	h := Holding{Agency: a, Mark: "mark" + strings.ReplaceAll(a.Slug+slug, "-", "") + "x"}
	h.Client = a.Client(t, h.Mark)
	h.Account = a.Account(t, h.Client, network.Webhook)
	a.w.Super(t, a.Shard, `UPDATE tenant.accounts SET handle = '@' || $3 WHERE tenant_id = $1 AND id = $2`, a.ID, h.Account, h.Mark)
	h.Media = a.media(t, h.Client, h.Mark)
	h.Folder = h.library(t)
	h.Upload, h.Arriving, h.Dropped = h.upload(t, 2), h.upload(t, 1), h.upload(t, 1)
	h.Approver = a.approver(t, h.Client, h.Mark)
	h.write(t)
	h.ask(t)
	h.subscribe(t)
	h.labels(t)
	h.wordings(t)
	h.keepCard(t)
	h.act(t)
	h.bring(t)
	h.dress(t)
	h.w.Super(t, h.Shard, `INSERT INTO tenant.comment_files (tenant_id, comment_id, media_id, place) SELECT $1, id, $2, 1 FROM tenant.comments WHERE tenant_id = $1 AND post_id = $3`, h.ID, h.Media, h.Draft)
	h.invite(t)
	h.signIn(t)
	h.fill(t)
	return h
}

func (a *Agency) media(t testing.TB, client model.ClientID, mark string) model.MediaID {
	t.Helper()
	return Look[model.MediaID](t, a.w, a.Shard, `
		INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, sha256, bytes, width, height, alt, created_at)
		VALUES ($1, $2, 'ready', 'image', 'image/jpeg', $3 || '.jpg', 'tenants/' || $1::bigint || '/media/2026/03/' || gen_random_uuid() || '.jpg', sha256($3::text::bytea), 1000, 100, 100, $3, $4) RETURNING id`,
		a.ID, client, mark, a.w.Clock.Now())
}

// library puts the holding's file into a folder, with all that a file can have.
func (h *Holding) library(t testing.TB) model.FolderID {
	t.Helper()
	top := Look[model.FolderID](t, h.w, h.Shard, `INSERT INTO tenant.media_folders (tenant_id, client_id, name, created_at) VALUES ($1, $2, 'Top of ' || $3, '2026-03-01') RETURNING id`, h.ID, h.Client, h.Mark)
	folder := Look[model.FolderID](t, h.w, h.Shard, `INSERT INTO tenant.media_folders (tenant_id, client_id, parent_id, name, created_at) VALUES ($1, $2, $3, $4, '2026-03-01') RETURNING id`, h.ID, h.Client, top, h.Mark)
	h.w.Super(t, h.Shard, `UPDATE tenant.media SET folder_id = $3, tags = ARRAY[$4], original_path = replace(path, '.jpg', '.png'), uploaded_bytes = bytes WHERE tenant_id = $1 AND id = $2`, h.ID, h.Media, folder, h.Mark)
	h.w.Super(t, h.Shard, `INSERT INTO tenant.media_words (tenant_id, word, media_id) SELECT $1, w, $2 FROM unnest(ARRAY[$3, '#' || $3]) w`, h.ID, h.Media, h.Mark)
	h.w.Super(t, h.Shard, `INSERT INTO tenant.media_crops (tenant_id, media_id, preset, x, y, width, height) VALUES ($1, $2, 'webhook/post', 0, 0, 50, 50)`, h.ID, h.Media)
	h.w.Super(t, h.Shard, `
		WITH r AS (INSERT INTO tenant.media_renditions (tenant_id, media_id, recipe, state, reason, wanted_at) VALUES ($1, $2, 'webp ' || $3, 'failed', $3, '2026-03-01') RETURNING *)
		INSERT INTO tenant.media_tasks (tenant_id, media_id, rendition_id, next_at, made_at) SELECT tenant_id, media_id, id, '2027-01-01', '2026-03-01' FROM r`, h.ID, h.Media, h.Mark)
	return folder
}

// upload makes an upload of two bytes, of which some are here. Another one, which
// is done, points at the holding's file.
func (h *Holding) upload(t testing.TB, received int) model.UploadID {
	t.Helper()
	user, now := h.Owner.Actor.User, h.w.Clock.Now()
	h.w.Super(t, h.Shard, `INSERT INTO tenant.uploads (tenant_id, client_id, state, name, size, received, media_id, kept, created_by, created_at, due_at)
		VALUES ($1, $2, 'done', $3, 1, 1, $4, true, $5, $6::timestamptz, $6::timestamptz + interval '1 day')`, h.ID, h.Client, h.Mark, h.Media, user, now)
	return Look[model.UploadID](t, h.w, h.Shard, `
		INSERT INTO tenant.uploads (tenant_id, client_id, name, size, received, draft, holder, held_until, created_by, created_at, due_at)
		VALUES ($1, $2, $3, 2, $4::bigint, jsonb_build_object('key', 'tenants/' || $1::bigint || '/media/2026/03/' || gen_random_uuid() || '.jpg', 'size', $4::bigint), 'x', $6::timestamptz, $5, $6::timestamptz, $6::timestamptz + interval '1 day') RETURNING id`,
		h.ID, h.Client, h.Mark+".jpg", received, user, now)
}

// approver makes a person who decides for the client by link, alone.
func (a *Agency) approver(t testing.TB, client model.ClientID, mark string) model.ApproverID {
	t.Helper()
	id := Look[model.ApproverID](t, a.w, a.Shard, `INSERT INTO tenant.approvers (tenant_id, client_id, name, email) VALUES ($1, $2, $3, $3 || '@client.example') RETURNING id`, a.ID, client, mark)
	a.w.Super(t, a.Shard, `
		WITH s AS (INSERT INTO tenant.stages (tenant_id, client_id, position, name, rule) VALUES ($1, $2, 1, $4, 'any') RETURNING id)
		INSERT INTO tenant.stage_people (tenant_id, stage_id, approver_id) SELECT $1, id, $3 FROM s`, a.ID, client, id, "Stage "+mark)
	return id
}

// write makes the holding's posts, each in its state.
func (h *Holding) write(t testing.TB) {
	t.Helper()
	save := func(text string, media ...model.ContentMedia) db.PostPage {
		page, err := h.Owner.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: h.Mark + " " + text, Accounts: []model.AccountID{h.Account}, Media: media}, Notes: h.Mark})
		if err != nil {
			t.Fatalf("save post: %v", err)
		}
		return page
	}
	of := func(p db.PostPage) (model.PostID, model.TargetID) { return p.Post.ID, p.Targets[0].ID }
	h.Draft, h.DraftTarget = of(save("draft", model.ContentMedia{ID: h.Media, Alt: h.Mark}))
	h.Asked, h.AskedTarget = of(save("asked"))
	due := func(text string) (model.PostID, model.TargetID) {
		return of(h.Due(t, h.Mark+" "+text, 24*time.Hour, h.Account))
	}
	h.Planned, h.PlannedTarget = due("planned")
	h.Failed, h.FailedTarget = due("failed")
	h.Unsure, h.UnsureTarget = due("unsure")
	h.Stuck, h.StuckTarget = due("stuck")
	h.Push(t, h.FailedTarget, "validation", model.Queued, model.Failed)
	h.Push(t, h.UnsureTarget, "manual_check_required", model.Queued, model.Publishing, model.UnknownOutcome, model.Failed)
	h.Push(t, h.StuckTarget, "needs_reconnect", model.Queued, model.NeedsReconnect)
	c, err := h.Owner.Comment(t.Context(), db.CommentForm{Post: h.Draft, Visibility: model.Internal, Body: h.Mark + " remark"})
	if err != nil {
		t.Fatalf("comment: %v", err)
	}
	h.Comment = int64(c.ID)
}

// ask submits the post that is to be decided, and reads the link that was mailed.
func (h *Holding) ask(t testing.TB) {
	t.Helper()
	page, err := h.Owner.Post(t.Context(), h.Asked)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Owner.SubmitPost(t.Context(), db.Submission{Post: h.Asked, Seen: page.Post.Revision}); err != nil {
		t.Fatalf("submit: %v", err)
	}
	list, err := h.Owner.PostApprovals(t.Context(), h.Asked)
	if err != nil || len(list) != 1 || len(list[0].Links) != 1 {
		t.Fatalf("one request with one link is expected: %+v, %v", list, err)
	}
	h.Request, h.Link = list[0].ID, list[0].Links[0].ID
	h.Token = h.Mailed(t, h.Mark+"@client.example")
}

// subscribe makes an address for calendar programs.
func (h *Holding) subscribe(t testing.TB) {
	t.Helper()
	other := h.Member(t, model.Viewer, map[model.ClientID][]model.Permission{h.Client: model.Viewer.Grants()})
	h.Viewer = other.Actor.User
	var err error
	if h.Calendar, err = other.MakeFeed(t.Context(), h.Client, ""); err == nil {
		_, err = h.Owner.MakeFeed(t.Context(), h.Client, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	h.Feed = Look[model.FeedID](t, h.w, h.Shard, `SELECT max(id) FROM tenant.feeds WHERE tenant_id = $1 AND client_id = $2`, h.ID, h.Client) // the later one
}

// act looks at the client's lists, and sends a form for several posts.
func (h *Holding) act(t testing.TB) {
	t.Helper()
	for _, client := range []model.ClientID{h.Client, 0} {
		if err := h.Owner.UseClient(t.Context(), client); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.Owner.CancelPosts(t.Context(), h.Mark+"-a-form-of-bulk", []db.PostAct{{Post: h.Draft}}); err != nil {
		t.Fatal(err)
	}
}

// bring brings two tables along.
func (h *Holding) bring(t testing.TB) {
	t.Helper()
	for i, to := range []*model.ImportID{&h.Import, &h.SpareImport} {
		var err error
		if *to, _, err = h.Owner.AddImport(t.Context(), h.Client, h.Mark+".csv", fmt.Appendf(nil, "Text,Accounts\n%[1]s imported %[2]d,@%[1]s\n%[1]s again,@%[1]s\n", h.Mark, i)); err != nil {
			t.Fatal(err)
		}
	}
	h.w.Super(t, h.Shard, `INSERT INTO tenant.import_rows (tenant_id, import_id, row, post_id, say) VALUES ($1, $2, 0, NULL, $3), ($1, $2, 1, $4, $3)`, h.ID, h.Import, h.Mark, h.Draft)
	h.w.Super(t, h.Shard, `INSERT INTO tenant.import_columns (tenant_id, head, columns, day_first) VALUES ($1, convert_to($2, 'UTF8'), '{text}', true)`, h.ID, h.Mark)
}

// dress has the client's review pages look in a way of their own.
func (h *Holding) dress(t testing.TB) {
	t.Helper()
	err := h.Owner.KeepLook(t.Context(), h.Client, db.LookForm{Name: h.Mark + " look", Accent: "#1a4f9c", Logo: &h.Media})
	if err == nil {
		err = h.Owner.KeepReviewHost(t.Context(), h.Client, fmt.Sprintf("review-%d.%s.example", h.Client, h.Slug), "")
	}
	if err == nil {
		err = h.Owner.KeepReviewHost(t.Context(), 0, "review."+h.Slug+".example", "")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// keepCard keeps what was read at an address a while ago.
func (h *Holding) keepCard(t testing.TB) {
	t.Helper()
	address := "https://" + h.Mark + ".example/menu"
	h.w.Super(t, h.Shard, `INSERT INTO tenant.link_cards (tenant_id, hash, title, picture, asked_at, read_at, expires_at)
		VALUES ($1, sha256(convert_to($2, 'UTF8')), $2, 'a picture', $3, $3, $3) ON CONFLICT DO NOTHING`, h.ID, address, Noon.Add(-time.Hour))
	cards, err := h.Owner.LinkCards(t.Context(), []string{address})
	if err != nil || cards[address].Hash == "" {
		t.Fatalf("the card is not kept: %v, %v", cards, err)
	}
	h.Card = cards[address].Hash
}

// invite asks somebody to join, and reads the link that was mailed.
func (h *Holding) invite(t testing.TB) {
	t.Helper()
	email := h.Mark + "@invited.example"
	if err := h.Owner.Invite(t.Context(), email, db.MemberForm{Role: model.Viewer, Access: map[model.ClientID][]model.Permission{h.Client: model.Viewer.Grants()}}); err != nil {
		t.Fatal(err)
	}
	h.Invitation = Look[model.InvitationID](t, h.w, h.Shard, `SELECT id FROM tenant.invitations WHERE tenant_id = $1 AND email = $2`, h.ID, email)
	h.Invited = h.Mailed(t, email)
}

// Mailed is the token of the newest link that was mailed to an address.
func (a *Agency) Mailed(t testing.TB, email string) string {
	t.Helper()
	key := Look[string](t, a.w, a.Shard, `SELECT key FROM tenant.mails WHERE tenant_id = $1 AND to_email = $2 AND sealed IS NOT NULL ORDER BY id DESC LIMIT 1`, a.ID, email)
	token, err := a.w.Ring.Open(Look[[]byte](t, a.w, a.Shard, `SELECT sealed FROM tenant.mails WHERE tenant_id = $1 AND key = $2`, a.ID, key), db.MailAAD(a.ID, key))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// labels makes a label for the draft, a campaign for what is planned, and a note on
// a day.
func (h *Holding) labels(t testing.TB) {
	t.Helper()
	var err error
	if h.Label, err = h.Owner.AddLabel(t.Context(), db.Label{ClientID: h.Client, Kind: db.PlainLabel, Name: h.Mark + " label"}); err == nil {
		h.Campaign, err = h.Owner.AddLabel(t.Context(), db.Label{ClientID: h.Client, Kind: db.Campaign, Name: h.Mark + " campaign", Tint: 1})
	}
	if err == nil {
		h.Spare, err = h.Owner.AddLabel(t.Context(), db.Label{ClientID: h.Client, Kind: db.PlainLabel, Name: h.Mark + " spare"})
	}
	if err == nil {
		_, err = h.Owner.LabelPosts(t.Context(), db.Labelling{Posts: []model.PostID{h.Draft}, Add: []model.LabelID{h.Label}})
	}
	if err == nil {
		_, err = h.Owner.LabelPosts(t.Context(), db.Labelling{Posts: []model.PostID{h.Planned}, Add: []model.LabelID{h.Campaign}})
	}
	if err == nil {
		h.Note, err = h.Owner.AddDayNote(t.Context(), db.DayNote{ClientID: h.Client, Date: model.Date{Year: 2026, Month: time.Month(1 + h.Client%12), Day: int(1 + h.Client%28)}, Words: h.Mark + " note"})
	}
	if err == nil {
		err = h.Owner.KeepCalendarLook(t.Context(), "")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// wordings keeps a template and a snippet for the client, and tags its links.
func (h *Holding) wordings(t testing.TB) {
	t.Helper()
	var err error
	h.Wording, err = h.Owner.AddWording(t.Context(), db.Wording{ClientID: h.Client, Kind: db.Template, Name: h.Mark + " template", Content: db.WordingContent{Text: h.Mark, Labels: []model.LabelID{h.Label}}})
	if err == nil {
		h.SpareWording, err = h.Owner.AddWording(t.Context(), db.Wording{ClientID: h.Client, Kind: db.Snippet, Name: h.Mark + " snippet", Content: db.WordingContent{Text: h.Mark}})
	}
	if err == nil {
		err = h.Owner.SetLinkTags(t.Context(), db.LinkTags{ClientID: h.Client, Source: h.Mark, Hosts: []string{strings.ToLower(h.Mark) + ".example"}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// fill puts rows into those tables that the rest leaves empty, or with nothing in
// a column that points at another table.
func (h *Holding) fill(t testing.TB) {
	t.Helper()
	now := h.w.Clock.Now()
	h.Blackout = Look[model.BlackoutID](t, h.w, h.Shard, `INSERT INTO tenant.blackouts (tenant_id, client_id, from_at, to_at, reason) VALUES ($1, $2, '2027-01-01', '2027-01-02', $3) RETURNING id`, h.ID, h.Client, h.Mark)
	h.w.Super(t, h.Shard, `INSERT INTO tenant.mails (tenant_id, key, kind, to_email, content, next_at, made_at, about, carried_by)
		SELECT tenant_id, 'carried', kind, to_email, '{}', 'infinity', made_at, 'post:1', id FROM tenant.mails WHERE tenant_id = $1 ORDER BY id LIMIT 1 ON CONFLICT DO NOTHING`, h.ID)
	h.w.Super(t, h.Shard, `INSERT INTO tenant.usage_months (tenant_id, month, published) VALUES ($1, '2026-02-01', 1) ON CONFLICT DO NOTHING`, h.ID)
	if err := h.Owner.KeepCopy(t.Context(), db.WorkingCopy{Key: "a-form-of-" + h.Mark + "-0123456789", Post: h.Draft, Words: h.Mark, Fields: "text=" + h.Mark}); err != nil {
		t.Fatal(err)
	}
	h.Slot = Look[model.SlotID](t, h.w, h.Shard, `INSERT INTO tenant.slots (tenant_id, account_id, weekday, minute) VALUES ($1, $2, 1, 540) RETURNING id`, h.ID, h.Account)
	h.w.Super(t, h.Shard, `INSERT INTO tenant.account_rates (tenant_id, account_id, spent_to) VALUES ($1, $2, '2026-03-01')`, h.ID, h.Account)
	h.w.Super(t, h.Shard, `INSERT INTO tenant.reminders (tenant_id, request_id, kind, user_id, approver_id, next_at) VALUES ($1, $2, 'escalate', $3, NULL, '2027-01-01'), ($1, $2, 'remind', NULL, $4, '2027-01-01')`,
		h.ID, h.Request, h.Owner.Actor.User, h.Approver)
	h.Suggestion = Look[model.SuggestionID](t, h.w, h.Shard, `
		INSERT INTO tenant.suggestions (tenant_id, request_id, post_id, version_id, client_id, approver_id, name, parts, form_key, at)
		SELECT tenant_id, id, post_id, version_id, client_id, $3, $4, jsonb_build_array(jsonb_build_object('networks', jsonb_build_array('webhook'), 'from', 'x', 'to', $4::text)), 'a-form-of-the-estate', '2026-03-01'
		  FROM tenant.approval_requests WHERE tenant_id = $1 AND id = $2 RETURNING id`, h.ID, h.Request, h.Approver, h.Mark)
	h.HeldTarget = h.StuckTarget
	h.w.Super(t, h.Shard, `INSERT INTO tenant.comment_mentions (tenant_id, comment_id, user_id, words, told) SELECT tenant_id, id, $3, $4, true FROM tenant.comments WHERE tenant_id = $1 AND post_id = $2 ORDER BY id LIMIT 1`,
		h.ID, h.Draft, h.Owner.Actor.User, h.Mark)
	spare := Look[model.ApproverID](t, h.w, h.Shard, `INSERT INTO tenant.approvers (tenant_id, client_id, name, email) VALUES ($1, $2, $3, $4) RETURNING id`, h.ID, h.Client, h.Mark, h.Mark+".spare@example.com")
	h.w.Super(t, h.Shard, `INSERT INTO tenant.mail_stops (tenant_id, approver_id, at) VALUES ($1, $2, '2026-03-01')`, h.ID, spare)
	h.w.Super(t, h.Shard, `INSERT INTO tenant.post_holds (tenant_id, post_id, client_id, approver_id, name, why, at, ended_at, ended_approver)
		VALUES ($1, $2, $4, $5, $6, $6, '2026-03-01', NULL, NULL), ($1, $3, $4, $5, $6, $6, '2026-03-01', '2026-03-01', $5)`, h.ID, h.Stuck, h.Draft, h.Client, h.Approver, h.Mark)
	h.w.Super(t, h.Shard, `INSERT INTO tenant.escalation_people (tenant_id, client_id, user_id) VALUES ($1, $2, $3)`, h.ID, h.Client, h.Owner.Actor.User)
	for _, sql := range []string{
		`INSERT INTO tenant.publish_guards (tenant_id, post_id, account_id, owner, taken_at) SELECT tenant_id, post_id, account_id, gen_random_uuid(), '2026-03-01' FROM tenant.targets WHERE tenant_id = $1 AND id = $2`,
		`INSERT INTO tenant.attempts (tenant_id, target_id, version_id, attempt_no, state, began_at, ended_at) SELECT tenant_id, id, version_id, 1, 'unknown', '2026-03-01', '2026-03-01' FROM tenant.targets WHERE tenant_id = $1 AND id = $2`,
		`INSERT INTO tenant.findings (tenant_id, target_id, attempt_no, verdict, say, at) VALUES ($1, $2, 1, 'cant_tell', 'nobody can tell', '2026-03-01')`,
	} {
		h.w.Super(t, h.Shard, sql, h.ID, h.UnsureTarget)
	}
	h.w.Super(t, h.Shard, `INSERT INTO tenant.staged_media (tenant_id, version_id, publisher, path, handle, owner, leased_until)
		SELECT tenant_id, id, 'pretended', $3, $3, gen_random_uuid(), '2027-01-01' FROM tenant.post_versions WHERE tenant_id = $1 AND post_id = $2`, h.ID, h.Draft, h.Mark)
	h.w.Super(t, h.Shard, `
		WITH r AS (
			INSERT INTO tenant.approval_requests (tenant_id, post_id, version_id, content_hash, client_id, stages, state, asked_by, asked_at, closed_at)
			SELECT p.tenant_id, p.id, p.current_version_id, '', $3, '[]', 'superseded', p.created_by, $4, $4 FROM tenant.posts p WHERE p.tenant_id = $1 AND p.id = $2 RETURNING *)
		INSERT INTO tenant.decisions (tenant_id, request_id, stage, approver_id, name, verdict, content_hash, at) SELECT tenant_id, id, 1, $5, $6, 'approve', '', $4 FROM r`,
		h.ID, h.Failed, h.Client, now, h.Approver, h.Mark)
	h.w.Super(t, h.Shard, `INSERT INTO tenant.comments (tenant_id, post_id, client_id, visibility, approver_id, name, body, at) VALUES ($1, $2, $3, 'client', $4, $5, $5, $6)`,
		h.ID, h.Draft, h.Client, h.Approver, h.Mark, now)
	h.w.Super(t, h.Shard, `INSERT INTO tenant.review_links (tenant_id, token_hash, approver_id, expires_at, revoked_at, created_at, asked_from)
		VALUES ($1, sha256($2::text::bytea), $3, '2026-02-01', '2026-02-01', '2026-01-15', $4)`, h.ID, h.Mark, h.Approver, h.Link)
}

// Push moves a target along legal edges, past the pipeline.
func (a *Agency) Push(t testing.TB, id model.TargetID, reason string, states ...model.State) {
	t.Helper()
	for _, s := range states {
		a.w.Super(t, a.Shard, `
			UPDATE tenant.targets SET state = $3, reason = $4, owner = CASE WHEN $3 = 'publishing' THEN gen_random_uuid() END,
			       claimed_at = CASE WHEN $3 = 'publishing' THEN $5::timestamptz END,
			       published_at = CASE WHEN $3 = 'published' THEN $5::timestamptz END, updated_at = $5::timestamptz
			 WHERE tenant_id = $1 AND id = $2`, a.ID, id, s, reason, a.w.Clock.Now())
	}
	a.w.Super(t, a.Shard, `SELECT tenant.recompute_posts(ARRAY[$1::bigint], ARRAY[(SELECT post_id FROM tenant.targets WHERE tenant_id = $1 AND id = $2)])`, a.ID, id)
}

// Imprint is everything that a workspace owns, on every shard and in the control
// plane: table by table a count and a hash of its rows. Two imprints are equal if
// nothing was written in between.
func (a *Agency) Imprint(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for shard, pool := range a.w.super {
		rows, err := pool.Query(context.WithoutCancel(t.Context()), a.w.imprinting(t, shard), a.ID)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var table, hash string
			if err := rows.Scan(&table, &hash); err != nil {
				t.Fatal(err)
			}
			out[fmt.Sprintf("%s on %s", table, shard)] = hash
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// imprinting makes the statement that takes an imprint of a shard, once.
func (w *World) imprinting(t testing.TB, shard string) string {
	t.Helper()
	if sql, ok := w.imprints.Load(shard); ok {
		return sql.(string)
	}
	sql := Look[string](t, w, shard, `
		SELECT string_agg(format('SELECT %L, count(*) || '' '' || coalesce(sum(hashtextextended(t::text, 0)), 0) FROM %s t WHERE %I = $1',
		                         c.oid::regclass, c.oid::regclass, CASE c.relname WHEN 'workspaces' THEN 'id' WHEN 'memberships' THEN 'workspace_id' ELSE 'tenant_id' END), ' UNION ALL ')
		  FROM pg_class c
		 WHERE c.relkind = 'r' AND (c.relnamespace = 'tenant'::regnamespace AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant_id')
		       OR c.oid = ANY (ARRAY[to_regclass('control.workspaces'), to_regclass('control.memberships'), to_regclass('control.publish_dispatch_index')]))`)
	w.imprints.Store(shard, sql)
	return sql
}

// Changed names the tables in which two imprints differ.
func Changed(before, after map[string]string) (tables []string) {
	for table, hash := range after {
		if before[table] != hash {
			tables = append(tables, fmt.Sprintf("%s: %s, now %s", table, before[table], hash))
		}
	}
	return tables
}

// Watch notices whether anything of a workspace is written.
type Watch struct {
	agency *Agency
	last   map[string]string
}

// Watch begins now.
func (a *Agency) Watch(t testing.TB) *Watch {
	t.Helper()
	return &Watch{a, a.Imprint(t)}
}

// Changed names the tables that were written since it was last asked.
func (w *Watch) Changed(t testing.TB) []string {
	t.Helper()
	before := w.last
	w.last = w.agency.Imprint(t)
	return Changed(before, w.last)
}
