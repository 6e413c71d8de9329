package model

import "time"

// Hold is somebody's word that what a client gets of a post does not go out until it is
// let go.
type Hold struct {
	ID         HoldID
	PostID     PostID
	ClientID   ClientID
	Name       string // who holds it, as they were called then
	UserID     UserID
	ApproverID ApproverID
	Why        string // empty if they did not say
	At         time.Time
	EndedAt    *time.Time
	EndedName  string
}

// Open says whether it holds now.
func (h Hold) Open() bool { return h.ID != 0 && h.EndedAt == nil }

// Permission is what a member needs to end the hold: what the client itself holds goes
// out by somebody who may also approve.
func (h Hold) Permission() Permission {
	if h.ApproverID != 0 {
		return PostsApprove
	}
	return PostsSchedule
}
