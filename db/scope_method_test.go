package db_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
)

// call uses one method of a Scope: sc acts, own is what it may reach, and of is
// whose ids it names. Where own and of are the same, the call has to succeed.
type call func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error)

// method is how the tests know an exported method of Scope.
type method struct {
	calls   map[string]call // by what is named: each position that takes an id
	changes bool            // it writes, so it leaves an audit line
	free    bool            // it takes no id: whoever calls it reads or changes their own
	quiet   string          // why a change leaves no audit line
	owes    bool            // the change is of another database: its line follows
	empty   bool            // it answers ids that are not there with nothing, not with a refusal
	whole   bool            // a role that may not do it at all is told that, whatever is named
	common  bool            // it is of no client: whoever is in the workspace sees it
	exempt  string          // why it cannot be called with another's ids
}

// one is a method with a single position.
func one(f call) method { return method{calls: map[string]call{"id": f}} }

// writes is one that changes something.
func writes(f call) method { return method{calls: map[string]call{"id": f}, changes: true} }

func reads(f call) method { return method{calls: map[string]call{"": f}, free: true} }

// seen is the revision of a post as its owner reads it now.
func seen(of dbtest.Holding, id model.PostID) int {
	page, _ := of.Owner.Post(context.Background(), id)
	return page.Post.Revision
}

func targetSeen(of dbtest.Holding, id model.TargetID) int {
	t, _ := of.Owner.Target(context.Background(), id)
	return t.Revision
}

// plannedAt is the instant of the holding's planned post.
func plannedAt(of dbtest.Holding) time.Time {
	t, _ := of.Owner.Target(context.Background(), of.PlannedTarget)
	if t.DueAt == nil {
		return time.Time{}
	}
	return *t.DueAt
}

func accountSeen(of dbtest.Holding) int {
	a, _ := of.Owner.Account(context.Background(), of.Account)
	return a.Revision
}

// later is a time that no holding uses.
func later() model.When {
	when, _ := model.At(dbtest.Noon.Add(72*time.Hour), "Europe/Berlin")
	return when
}

// newPost is a form for accounts, with a file.
func newPost(account model.AccountID, media ...model.MediaID) db.PostForm {
	f := db.PostForm{Content: model.Content{Text: "A new post", Accounts: []model.AccountID{account}}}
	for _, id := range media {
		f.Content.Media = append(f.Content.Media, model.ContentMedia{ID: id, Alt: "A picture"})
	}
	return f
}

// variantPost is one whose file stands in a variant only.
func variantPost(account model.AccountID, media model.MediaID) db.PostForm {
	f := newPost(account)
	f.Content.Variants = map[string]model.Variant{string(network.Webhook): {Media: &[]model.ContentMedia{{ID: media, Alt: "A picture"}}}}
	return f
}

// decision approves what of's approver is asked.
func decision(of dbtest.Holding) db.Decision {
	r, _ := of.Owner.Approval(context.Background(), of.Request)
	return db.Decision{Verdict: model.Approve, Hash: r.Hash, Stage: r.Stage}
}

// asset is an upload that nobody has made yet.
func asset(client model.ClientID) db.Asset {
	sum := sha256.Sum256([]byte("an upload"))
	return db.Asset{ClientID: client, State: "ready", Kind: network.Image, Type: "image/jpeg", Name: "new.jpg", Path: "x.jpg", Sha256: sum[:], Bytes: 10, Width: 10, Height: 10}
}

// scopeMethods is every exported method of Scope. TestEveryScopeMethodHasItsCalls
// fails for one that is not here.
func scopeMethods() map[string]method {
	all := map[string]method{}
	for _, list := range []map[string]method{postMethods(), targetMethods(), approvalMethods(), accountMethods(), listMethods(), mediaMethods(), uploadMethods(), connectMethods(), copyMethods(), settingMethods(), labelMethods(), wordingMethods(), bulkMethods()} {
		maps.Copy(all, list)
	}
	return all
}

func postMethods() map[string]method {
	return map[string]method{
		"Post": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Post(ctx, of.Draft)
		}),
		"SavePost": {changes: true, calls: map[string]call{
			"post": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				form := newPost(own.Account)
				form.Seen = seen(of, of.Draft)
				return sc.SavePost(ctx, of.Draft, form)
			},
			"account": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return sc.SavePost(ctx, 0, newPost(of.Account))
			},
			"file": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return sc.SavePost(ctx, 0, newPost(own.Account, of.Media))
			},
			"file of a variant": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return sc.SavePost(ctx, 0, variantPost(own.Account, of.Media))
			},
			"label": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				form := newPost(own.Account)
				form.Labels = []model.LabelID{of.Label}
				return sc.SavePost(ctx, 0, form)
			},
		}},
		"CreatePost": {changes: true, calls: map[string]call{
			"account": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				page, _, err := sc.CreatePost(ctx, "a-form-of-an-account", newPost(of.Account))
				return page, err
			},
			"file": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				page, _, err := sc.CreatePost(ctx, "a-form-with-a-file", newPost(own.Account, of.Media))
				return page, err
			},
		}},
		"CheckPost": {calls: map[string]call{
			"post": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return sc.CheckPost(ctx, of.Draft, newPost(own.Account), later())
			},
			"account": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return sc.CheckPost(ctx, 0, newPost(of.Account), model.When{})
			},
			"file": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return sc.CheckPost(ctx, 0, newPost(own.Account, of.Media), model.When{})
			},
		}},
		"PlanPost": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.PlanPost(ctx, of.Draft, seen(of, of.Draft), later())
		}),
		"ArchivePost": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.ArchivePost(ctx, of.Planned, seen(of, of.Planned))
		}),
		"SchedulePost": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.SchedulePost(ctx, of.Planned, seen(of, of.Planned), later())
		}),
		"PublishNow": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.PublishNow(ctx, of.Planned, seen(of, of.Planned))
		}),
		"QueuePost": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.QueuePost(ctx, of.Draft, seen(of, of.Draft))
		}),
		"QueuePostFirst": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.QueuePostFirst(ctx, of.Draft, seen(of, of.Draft))
		}),
		"SchedulePlanned": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.SchedulePlanned(ctx, of.Planned, seen(of, of.Planned))
		}),
		"RetryFailed": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.RetryFailed(ctx, of.Failed, seen(of, of.Failed))
		}),
		"Versions": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Versions(ctx, of.Draft)
		}),
		"PostVersion": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.PostVersion(ctx, of.Draft, 1)
		}),
		"Editable":   {exempt: "it judges a page that the same Scope has read, and takes no id"},
		"Archivable": {exempt: "as Editable"},
	}
}

func targetMethods() map[string]method {
	return map[string]method{
		"Target": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Target(ctx, of.PlannedTarget)
		}),
		"Evidence": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Evidence(ctx, of.UnsureTarget)
		}),
		"Reschedule": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Reschedule(ctx, of.PlannedTarget, targetSeen(of, of.PlannedTarget), later())
		}),
		"MoveCards": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.MoveCards(ctx, []db.CardMove{{Post: of.Planned, From: plannedAt(of), To: func(model.When) (model.When, error) { return later(), nil }}})
		}),
		"CancelTarget": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.CancelTarget(ctx, of.PlannedTarget, targetSeen(of, of.PlannedTarget))
		}),
		"RetryTarget": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.RetryTarget(ctx, of.FailedTarget, targetSeen(of, of.FailedTarget))
		}),
		"ResolveLive": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.ResolveLive(ctx, of.UnsureTarget, targetSeen(of, of.UnsureTarget), "https://net.example/1")
		}),
		"ResolveNotLive": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.ResolveNotLive(ctx, of.UnsureTarget, targetSeen(of, of.UnsureTarget))
		}),
	}
}

func approvalMethods() map[string]method {
	return map[string]method{
		"Submit": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			out, err := sc.Submit(ctx, []db.Submission{{Post: of.Draft, Seen: seen(of, of.Draft)}})
			if err != nil {
				return nil, err
			}
			return out, out[0].No
		}),
		"SubmitPost": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.SubmitPost(ctx, db.Submission{Post: of.Draft, Seen: seen(of, of.Draft)})
		}),
		"Decide": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Decide(ctx, of.Request, decision(of))
		}),
		"Mentionable": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Mentionable(ctx, of.Request)
		}),
		"Approval": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Approval(ctx, of.Request)
		}),
		"PostApprovals": {empty: true, calls: map[string]call{"post": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.PostApprovals(ctx, of.Asked)
		}}},
		"TakeSuggestion": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.TakeSuggestion(ctx, of.Suggestion)
		}),
		"HoldTarget": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.HoldTarget(ctx, of.PlannedTarget, "Wait")
		}),
		"ReleaseTarget": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.ReleaseTarget(ctx, of.HeldTarget)
		}),
		"DeclineSuggestion": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.DeclineSuggestion(ctx, of.Suggestion)
		}),
		"Workflows": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) { return sc.Workflows(ctx) }),
		"Workflow": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Workflow(ctx, of.Client)
		}),
		"SaveWorkflow": {changes: true, whole: true, calls: map[string]call{
			"client": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return sc.SaveWorkflow(ctx, of.Client, workflowForm(of, of))
			},
			"approver": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return sc.SaveWorkflow(ctx, own.Client, workflowForm(own, of))
			},
			"gone": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				f := workflowForm(own, own)
				f.Rules.Stages[0].Users, f.Gone = []model.UserID{own.Owner.Actor.User}, []model.ApproverID{of.Approver}
				return sc.SaveWorkflow(ctx, own.Client, f)
			},
		}},
		"RevokeLink": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.RevokeLink(ctx, of.Link)
		}),
		"SendFreshLink": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.SendFreshLink(ctx, of.Link, "")
		}),
		"Comment": {changes: true, calls: map[string]call{
			"post": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return sc.Comment(ctx, db.CommentForm{Post: of.Draft, Visibility: model.Internal, Body: "A remark"})
			},
			"client": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return sc.Comment(ctx, db.CommentForm{Post: own.Draft, Visibility: model.ClientVisible, Client: of.Client, Body: "A remark"})
			},
			"file": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return sc.Comment(ctx, db.CommentForm{Post: own.Draft, Visibility: model.Internal, Body: "A remark", Files: []model.MediaID{of.Media}})
			},
		}},
		"Comments": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Comments(ctx, of.Draft)
		}),
	}
}

// workflowForm asks of's approver at own's client.
func workflowForm(own, of dbtest.Holding) db.WorkflowForm {
	w, _ := own.Owner.Workflow(context.Background(), own.Client)
	return db.WorkflowForm{Seen: w.Seen, Confirmed: true, Rules: db.WorkflowRules{RemindAfter: 7 * time.Hour,
		Stages: []db.WorkflowStage{{Name: "Client", Rule: model.AnyOne, Approvers: []model.ApproverID{of.Approver}}}}}
}

func accountMethods() map[string]method {
	token := db.Credentials{Token: secret.NewToken("a-token-of-its-own")}
	form := db.AccountForm{Handle: "@changed", Address: "https://hooks.example/changed"}
	return map[string]method{
		"Account": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Account(ctx, of.Account)
		}),
		"AddAccount": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.AddAccount(ctx, of.Client, network.Webhook, form, token)
		}),
		"PauseAccount": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.PauseAccount(ctx, of.Account, accountSeen(of), true)
		}),
		"SwitchAccount": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.SwitchAccount(ctx, of.Account, accountSeen(of), false)
		}),
		"ReconnectAccount": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.ReconnectAccount(ctx, of.Account, accountSeen(of), token)
		}),
		"EditAccount": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.EditAccount(ctx, of.Account, accountSeen(of), form)
		}),
		"RetryStuck": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.RetryStuck(ctx, of.Account)
		}),
		"Slots": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Slots(ctx, of.Account)
		}),
		"AddSlots": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.AddSlots(ctx, of.Account, []model.SlotTime{{Weekday: time.Friday, Minute: 60}})
		}),
		"RemoveSlots": {changes: true, calls: map[string]call{
			"account": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return nil, sc.RemoveSlots(ctx, of.Account, []model.SlotID{of.Slot})
			},
			"slot": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return nil, sc.RemoveSlots(ctx, own.Account, []model.SlotID{of.Slot})
			},
		}},
		// An account that copies its own slots changes nothing.
		"CopySlots": {calls: map[string]call{
			"account": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return sc.CopySlots(ctx, of.Account, own.Account)
			},
			"from": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return sc.CopySlots(ctx, own.Account, of.Account)
			},
		}},
		"PauseClient": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.PauseClient(ctx, of.Client, true)
		}),
		"PauseWorkspace": {free: true, changes: true, calls: map[string]call{"": func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) {
			return nil, sc.PauseWorkspace(ctx, true)
		}}},
	}
}

func listMethods() map[string]method {
	filtered := func(list func(ctx context.Context, sc *db.Scope, f db.CalendarFilter) (any, error)) method {
		return method{calls: map[string]call{
			"client": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return list(ctx, sc, db.CalendarFilter{Clients: []model.ClientID{of.Client}})
			},
			"account": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return list(ctx, sc, db.CalendarFilter{Accounts: []model.AccountID{of.Account}})
			},
			"label": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return list(ctx, sc, db.CalendarFilter{Labels: []model.LabelID{of.Label}})
			},
			"campaign": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return list(ctx, sc, db.CalendarFilter{Labels: []model.LabelID{of.Campaign}})
			},
		}}
	}
	activity := func(filter func(of dbtest.Holding) db.AuditFilter) call {
		return func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			f := filter(of)
			f.Limit = 50
			return sc.Activity(ctx, f)
		}
	}
	return map[string]method{
		"CalendarLook": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) { return sc.CalendarLook(ctx) }),
		"KeepCalendarLook": {free: true, changes: true, quiet: "how somebody looks at the calendar is nobody else's business", calls: map[string]call{"": func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) {
			return nil, sc.KeepCalendarLook(ctx, "view=week")
		}}},
		"LinkCards": {calls: map[string]call{"": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
			return sc.LinkCards(ctx, []string{"https://" + own.Mark + ".example/menu", "https://" + of.Mark + ".example/menu"})
		}}, free: true, common: true},
		"BeginLinkCard": {calls: map[string]call{"": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.BeginLinkCard(ctx, "https://"+of.Mark+".example/other")
		}}, free: true, changes: true, quiet: "a card is what anybody can read at an address, kept for a while"},
		"KeepLinkCard": {calls: map[string]call{"": func(ctx context.Context, sc *db.Scope, own, _ dbtest.Holding) (any, error) {
			return nil, sc.KeepLinkCard(ctx, "https://"+own.Mark+".example/menu", db.LinkCard{Title: "Read again"}, nil)
		}}, free: true, changes: true, quiet: "a card is what anybody can read at an address, kept for a while"},
		"LinkCardPicture": {calls: map[string]call{"hash": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.LinkCardPicture(ctx, of.Card)
		}}, common: true},
		"Feeds": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) {
			feeds, clients, err := sc.Feeds(ctx)
			return []any{feeds, clients}, err
		}),
		"MakeFeed": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.MakeFeed(ctx, of.Client, "")
		}),
		"RevokeFeed": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.RevokeFeed(ctx, of.Feed)
		}),
		"FeedCards": {calls: map[string]call{"client": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			cards, clients, err := sc.FeedCards(ctx, of.Client)
			return []any{cards, clients}, err
		}}},
		"CalendarTray": filtered(func(ctx context.Context, sc *db.Scope, f db.CalendarFilter) (any, error) {
			cards, more, err := sc.CalendarTray(ctx, f)
			return []any{cards, more}, err
		}),
		"FreeSlots": filtered(func(ctx context.Context, sc *db.Scope, f db.CalendarFilter) (any, error) {
			return sc.FreeSlots(ctx, dbtest.Noon, dbtest.Noon.Add(7*24*time.Hour), f)
		}),
		"NextSlots": {empty: true, calls: map[string]call{"account": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.NextSlots(ctx, 0, []model.AccountID{of.Account})
		}}},
		"CalendarExport": filtered(func(ctx context.Context, sc *db.Scope, f db.CalendarFilter) (any, error) {
			rows, choices, _, err := sc.CalendarExport(ctx, db.MonthSpan, model.Date{}, f)
			return []any{rows, choices}, err
		}),
		"CalendarZone": filtered(func(ctx context.Context, sc *db.Scope, f db.CalendarFilter) (any, error) {
			return sc.CalendarZone(ctx, f)
		}),
		"Calendar": filtered(func(ctx context.Context, sc *db.Scope, f db.CalendarFilter) (any, error) {
			return sc.Calendar(ctx, db.MonthSpan, model.Date{}, f)
		}),
		"CalendarList": filtered(func(ctx context.Context, sc *db.Scope, f db.CalendarFilter) (any, error) {
			return sc.CalendarList(ctx, model.Date{}, db.Page{}, f)
		}),
		"Posts": filtered(func(ctx context.Context, sc *db.Scope, f db.CalendarFilter) (any, error) {
			return sc.Posts(ctx, db.Page{}, f)
		}),
		"Activity": {calls: map[string]call{
			"client":   activity(func(of dbtest.Holding) db.AuditFilter { return db.AuditFilter{Client: of.Client} }),
			"approver": activity(func(of dbtest.Holding) db.AuditFilter { return db.AuditFilter{Approver: of.Approver} }),
			"both": activity(func(of dbtest.Holding) db.AuditFilter {
				return db.AuditFilter{Client: of.Client, Approver: of.Approver}
			}),
		}},
		"ActivityFilters": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) {
			clients, people, err := sc.ActivityFilters(ctx)
			return []any{clients, people}, err
		}),
		"Accounts": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) { return sc.Accounts(ctx) }),
		"Approvals": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) {
			mine, err1 := sc.Approvals(ctx, db.BoxMine, 0)
			others, err2 := sc.Approvals(ctx, db.BoxOthers, 0)
			return []any{mine, others}, errors.Join(err1, err2)
		}),
		"ComposerClients": {free: true, calls: map[string]call{"": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.ComposerClients(ctx, []model.AccountID{of.Account})
		}}},
	}
}

// TestEveryScopeMethodHasItsCalls keeps the table whole: a new method of Scope
// cannot be forgotten by the tests that walk it.
func TestEveryScopeMethodHasItsCalls(t *testing.T) {
	t.Parallel()
	known := scopeMethods()
	var exist []string
	for m := range reflect.TypeFor[*db.Scope]().Methods() {
		exist = append(exist, m.Name)
		if _, ok := known[m.Name]; !ok {
			t.Errorf("Scope.%s has no case: add it to scopeMethods, with a call for each position that takes an id", m.Name)
		}
	}
	for name, m := range known {
		if !slices.Contains(exist, name) {
			t.Errorf("Scope has no method %s any more: take its case away", name)
		}
		if (len(m.calls) == 0) != (m.exempt != "") {
			t.Errorf("%s needs either calls or a reason why there are none", name)
		}
	}
}
