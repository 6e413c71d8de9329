package model

// Each kind of row has an id type of its own, so that two cannot be swapped.
type (
	TenantID     int64 // a workspace; the first column of every tenant key
	UserID       int64 // a person who signs in
	ClientID     int64 // a brand the agency works for
	AccountID    int64 // one social account or destination of a client
	MediaID      int64 // a picture or video
	FolderID     int64 // a folder of a client's library
	RenditionID  int64 // a file made of one for networks that do not take it as it is
	UploadID     int64 // a file on its way in, piece by piece
	PostID       int64 // a thread of immutable versions
	VersionID    int64 // one immutable version of a post
	TargetID     int64 // one post on one account
	AttemptID    int64 // one try at one provider call
	SuggestionID int64 // a text that an approver would rather have
	RequestID    int64 // one approval request
	HoldID       int64 // one hold on what a client gets of a post
	ApproverID   int64 // a client's approver, who has no sign-in
	LinkID       int64 // one review link
	FeedID       int64 // one secret address for calendar programs
	SlotID       int64 // one time of the week at which an account usually posts
	StageID      int64 // one stage of a client's workflow
	MailID       int64 // one mail owed
	InvitationID int64 // one invitation into the workspace
	BlackoutID   int64 // one time in which nothing of a client is published
	LabelID      int64 // a label or campaign that posts are found by
	WordingID    int64 // a hashtag group, snippet or template
	ImportID     int64 // a table of posts that was brought along
	NoteID       int64 // a note on a day of the calendar
	ConsentID    int64 // one sign-in of a person at a network

	ConnectLinkID int64 // one link by which a client connects its accounts
)
