package db_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

// byRole is a method that some roles may not call at all.
func byRole(m method) method {
	m.whole = true
	return m
}

func owing(m method) method {
	m.owes = true
	return m
}

func memberSeen(of dbtest.Holding) string {
	m, _, _ := of.Owner.Member(context.Background(), of.Viewer)
	return m.Seen()
}

func clientSeen(of dbtest.Holding) string {
	c, _, _ := of.Owner.ClientSetting(context.Background(), of.Client)
	return c.Seen()
}

func lookSeen(of dbtest.Holding) int {
	l, _ := of.Owner.Look(context.Background(), of.Client)
	return l.Revision
}

func freeChange(f call) method {
	return method{calls: map[string]call{"": f}, free: true, changes: true}
}

// fresh is a name that nothing has yet.
func fresh() string { return fmt.Sprintf("Name %d", time.Now().UnixNano()) }

func settingMethods() map[string]method {
	sees := func(id model.ClientID, role model.Role) db.MemberForm {
		return db.MemberForm{Role: role, Access: map[model.ClientID][]model.Permission{id: role.Grants()}}
	}
	all := map[string]method{
		"Members": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) { return sc.Members(ctx) }),
		"ClientSettings": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) {
			return sc.ClientSettings(ctx)
		}),
		"WorkspaceSetting": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) {
			return sc.WorkspaceSetting(ctx)
		}),
		"Delivery": {calls: map[string]call{"client": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Delivery(ctx, db.DeliveryFilter{Client: of.Client, Zone: "UTC", To: dbtest.Noon})
		}}},
		"DeliveryPosts": {calls: map[string]call{"client": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.DeliveryPosts(ctx, db.DeliveryFilter{Client: of.Client, Zone: "UTC", To: dbtest.Noon})
		}}},
		"Profile": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) { return sc.Profile(ctx) }),
		"Member": byRole(one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			m, _, err := sc.Member(ctx, of.Viewer)
			return m, err
		})),
		"EditMember": byRole(method{changes: true, calls: map[string]call{
			"member": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				f := sees(own.Client, model.Editor)
				f.Seen = memberSeen(of)
				return sc.EditMember(ctx, of.Viewer, f)
			},
			"client": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				f := sees(of.Client, model.Editor)
				f.Seen = memberSeen(own)
				m, err := sc.EditMember(ctx, own.Viewer, f)
				return m.ID, err
			},
		}}),
		"RemoveMember": byRole(writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.RemoveMember(ctx, of.Viewer, memberSeen(of))
		})),
		"Invite": byRole(writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.Invite(ctx, "new@invited.example", sees(of.Client, model.Editor))
		})),
		"InviteAgain": byRole(writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.InviteAgain(ctx, of.Invitation)
		})),
		"RevokeInvitation": byRole(writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.RevokeInvitation(ctx, of.Invitation)
		})),
		"EditWorkspace": freeChange(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) {
			w, _ := sc.WorkspaceSetting(ctx)
			return nil, sc.EditWorkspace(ctx, db.WorkspaceForm{Name: fresh(), Zone: "Europe/Paris", Seen: w.Seen()})
		}),
		"EditProfile": freeChange(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) {
			p, _ := sc.Profile(ctx)
			return nil, sc.EditProfile(ctx, p.Name, "Europe/Paris", p.Seen())
		}),
		"ChangePassword": {free: true, changes: true, calls: map[string]call{"": func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) {
			return nil, sc.ChangePassword(ctx, dbtest.PasswordHash, dbtest.PasswordHash)
		}}},
	}
	maps.Copy(all, clientSettingMethods())
	return all
}

func clientSettingMethods() map[string]method {
	day := model.Date{Year: 2027, Month: time.May, Day: 1}
	return map[string]method{
		"ClientSetting": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			c, blackouts, err := sc.ClientSetting(ctx, of.Client)
			return []any{c, blackouts}, err
		}),
		"Look": byRole(one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Look(ctx, of.Client)
		})),
		"KeepLook": byRole(method{changes: true, calls: map[string]call{
			"client": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return nil, sc.KeepLook(ctx, of.Client, db.LookForm{Name: fresh(), Accent: "#1f6feb", Seen: lookSeen(of)})
			},
			"logo": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return nil, sc.KeepLook(ctx, own.Client, db.LookForm{Name: fresh(), Logo: &of.Media, Seen: lookSeen(own)})
			},
		}}),
		"ReviewHost": byRole(one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.ReviewHost(ctx, of.Client)
		})),
		"KeepReviewHost": owing(byRole(writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.KeepReviewHost(ctx, of.Client, strings.ReplaceAll(strings.ToLower(fresh()), " ", "-")+".example", "herald.example")
		}))),
		"CheckedReviewHost": owing(byRole(writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			held, err := of.Owner.ReviewHost(ctx, of.Client)
			if err != nil {
				return nil, err
			}
			return nil, sc.CheckedReviewHost(ctx, of.Client, db.HostFinding{Host: held.Host, Owned: true, Live: true})
		}))),
		"RemoveReviewHost": owing(byRole(writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.RemoveReviewHost(ctx, of.Client)
		}))),
		"AddClient": freeChange(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) {
			return sc.AddClient(ctx, db.ClientForm{Name: fresh(), Zone: "Europe/Paris"})
		}),
		"EditClient": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.EditClient(ctx, of.Client, db.ClientForm{Name: fresh(), Zone: "Europe/Paris", LateCutoff: time.Hour, Seen: clientSeen(of)})
		}),
		"ArchiveClient": writes(func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
			if own.Client != of.Client {
				return sc.ArchiveClient(ctx, of.Client, true)
			}
			c, err := sc.AddClient(ctx, db.ClientForm{Name: fresh(), Zone: "Europe/Paris"}) // nothing is planned for it
			if err != nil {
				return nil, err
			}
			return sc.ArchiveClient(ctx, c.ID, true)
		}),
		"AddBlackout": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.AddBlackout(ctx, of.Client, model.LocalTime{Date: day}, model.LocalTime{Date: day, Hour: 12}, "Works outing")
		}),
		"RemoveBlackout": {changes: true, whole: true, calls: map[string]call{
			"client": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return nil, sc.RemoveBlackout(ctx, of.Client, of.Blackout)
			},
			"blackout": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return nil, sc.RemoveBlackout(ctx, own.Client, of.Blackout)
			},
		}},
	}
}
