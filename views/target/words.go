package target

import (
	"herald/db/model"
)

// Situation is where a target stands, as far as its explanation depends on it.
type Situation struct {
	State   model.State
	Reason  string
	Review  string // of the post: draft, in_review, changes_requested, approved
	Network string // as people call it
	Account string
	Due     string // in words; empty if it has no time
	Next    string // when Herald acts next, in words; empty if it does not

	HeldBy    string // who holds it; empty if nobody does
	HeldSince string // in words
	Passed    bool   // its time has passed
}

// Explain says what happened, and what the person can do about it or that there
// is nothing to do.
func Explain(s Situation) (happened, todo string) {
	if s.HeldBy != "" {
		return s.held()
	}
	switch s.State {
	case model.Draft, model.Invalid, model.Ready:
		return s.editable()
	case model.Scheduled:
		if s.Reason == "retried_by_hand" {
			return "Another try was asked for. It goes out as soon as a worker is free.", ""
		}
		return "It is approved and goes out " + s.Due + ".", "Nothing to do. Until then it can be moved or cancelled."
	case model.Queued:
		return "Its time has come and it is in line for " + s.Network + ".", "Nothing to do."
	case model.Publishing:
		return "It is being sent to " + s.Network + " at this moment.", "Nothing to do. It can be changed again when the outcome is known."
	case model.Published:
		return s.published(), ""
	case model.RetryScheduled:
		return s.waiting()
	case model.UnknownOutcome:
		return s.unknown()
	case model.NeedsReconnect:
		return s.Network + " does not accept the sign-in of " + s.Account + " any more. Nothing was published.",
			"Reconnect the account under Accounts, then retry here."
	case model.Failed:
		return s.failed()
	}
	return s.cancelled()
}

func (s Situation) held() (happened, todo string) {
	happened = s.HeldBy + " has held this post since " + s.HeldSince + ", so it does not go out. That uses up no attempt."
	switch {
	case s.Passed:
		return happened, "Its time has passed. Let it go and it goes out at once; once it is later than the client's late cut-off, it is given up instead, and can be retried. It can also be moved or cancelled."
	case s.Due != "":
		return happened, "Let it go before its time, " + s.Due + ", and it goes out then. It can also be moved or cancelled."
	}
	return happened, "Let it go when it may go out. It can also be planned or cancelled meanwhile."
}

func (s Situation) editable() (happened, todo string) {
	switch {
	case s.State == model.Ready && s.Due != "":
		return "It is approved and planned for " + s.Due + ", but nobody has scheduled it. Nothing is published until somebody does.", "Schedule it below."
	case s.State == model.Ready:
		return "It is approved, but nobody has scheduled it. Nothing is published until somebody does.", "Choose a time below."
	case s.State == model.Invalid:
		return s.Network + " would refuse this as it is.", "Correct in the post what is listed here, then submit it."
	case s.Review == "in_review":
		return "The post waits for approval.", "Nothing to do here until everybody who was asked has decided."
	case s.Review == "changes_requested":
		return "Changes were requested.", "Edit the post and submit it again."
	case s.Reason == "edited":
		return "The post was edited, so what was approved before is not sent any more.", "Submit the new version for approval."
	}
	return "The post has not been submitted for approval yet.", "Finish the post and submit it."
}

func (s Situation) published() string {
	switch s.Reason {
	case "found_by_look_up":
		return "It is live. The answer of " + s.Network + " was lost on the way, so Herald looked and found the post there."
	case "found_by_hand":
		return "It is live. A person saw it on " + s.Network + " and gave its address."
	}
	return "It is live on " + s.Network + "."
}

// waits are the reasons for which a target waits, with what ends the wait.
var waits = map[string][2]string{
	"workspace_suspended": {"The workspace is suspended, so this waits and is not lost.", "Ask the operator of this Herald. It goes out by itself afterwards."},
	"workspace_paused":    {"The workspace is paused, so this waits.", "Resume the workspace. It goes out by itself afterwards."},
	"client_paused":       {"The client is paused, so this waits.", "Resume the client. It goes out by itself afterwards."},
	"account_paused":      {"The account is paused, so this waits.", "Resume the account. It goes out by itself afterwards."},
	"held":                {"The hold was ended, and this goes on.", "Nothing to do."},
	"blackout":            {"The client has a blackout, so this waits for its end.", "Nothing to do."},
	"token_not_renewed":   {"The network would not renew the connection just now, so this waits. The account stays connected.", "Nothing to do."},
	"key_missing":         {"Herald cannot open the account's stored token: a key is missing from its settings. The account is well and stays connected, and nothing was sent.", "Ask whoever runs this Herald to put the missing key back into HERALD_KEYS. It goes out by itself afterwards."},
	"media_not_ready":     {"A picture or video is still being checked.", "Nothing to do. It goes out when the check is done."},
	"network_rate":        {"The network asked us to send less for a while.", "Nothing to do."},
	"rate_limited":        {"The network asked us to send less for a while. That used up no attempt.", "Nothing to do."},
	"account_rate":        {"The account has sent its share for this hour.", "Nothing to do."},
	"network_working":     {"The network is still processing the pictures or the video.", "Nothing to do."},
	"transient":           {"The last attempt did not get through, and nothing was published.", "Nothing to do."},
	"proved_absent":       {"The outcome was unclear, and Herald made sure that sending the post again cannot publish it twice.", "Nothing to do."},
	"worker_lost":         {"The worker stopped before anything was sent, so nothing was published.", "Nothing to do."},
}

func (s Situation) waiting() (happened, todo string) {
	words, ok := waits[s.Reason]
	if !ok {
		words = [2]string{"It did not go out yet, and nothing was published.", "Nothing to do."}
	}
	if s.Next == "" {
		return words[0], words[1]
	}
	return words[0], words[1] + " Herald tries again " + s.Next + "."
}

func (s Situation) unknown() (happened, todo string) {
	todo = "There are two safe ways out. Wait: Herald asks " + s.Network + " itself"
	if s.Next != "" {
		todo += ", next " + s.Next
	}
	return "The post was sent to " + s.Network + ", but no clear answer came back. It may be live or not. Herald does not send it again, because that could publish it twice.",
		todo + ", and goes on from what it finds. Or look at " + s.Account + " yourself: if the post is there, give its address below."
}

// failures are the reasons for which a target ended, with the way out.
var failures = map[string][2]string{
	"missed":                {"Its time had passed by more than the client allows before it could go out, so it was not published late.", "Retry to publish it now, or cancel it."},
	"held_too_long":         {"It was held until its time had passed by more than the client allows, so it was not published late.", "Once it may go out, retry to publish it now, or cancel it."},
	"monthly_limit":         {"The workspace has published all the posts of its plan for this month.", "Ask the operator for a larger plan, then retry."},
	"suspended_too_long":    {"The workspace was suspended for so long that its waiting posts were given up.", "Retry once the workspace is active again."},
	"account_disabled":      {"The account is switched off.", "Switch it on under Accounts, then retry."},
	"missing_scope":         {"The account has not granted a right that this post needs.", "Reconnect the account with that right under Accounts, then retry."},
	"missing_permission":    {"The network says that the account may not do this.", "Give the account that right at the network or reconnect it, then retry."},
	"media_missing":         {"The post needs a picture or video here and has none.", "Add one to the post and have it approved again."},
	"media_not_made":        {"A picture or video of the post could not be made into what the network takes.", "Look at the file in the library, or replace it and have the post approved again."},
	"media_gone":            {"A picture or video of the post was refused or deleted.", "Replace it in the post and have it approved again."},
	"sibling_published":     {"This post is already published on this account, so it was not sent a second time.", "Nothing to do. You may cancel this one."},
	"refused_by_network":    {"The network refused the post. Nothing was published.", "Correct the post and have it approved again, or retry if the cause lies elsewhere."},
	"attempts_used_up":      {"Every attempt failed, and nothing was published.", "Retry when the cause is gone."},
	"rate_limited_too_long": {"The network asked us to wait for longer than a day.", "Retry later, or spread posts over more time."},
}

func (s Situation) failed() (happened, todo string) {
	if s.Reason == "manual_check_required" {
		return "The post was sent to " + s.Network + ", but no clear answer came back, and " + s.Network + " could not tell Herald whether the post is live.",
			"Look at " + s.Account + " yourself. There are two safe ways out: if the post is there, give its address; if it is not, say so and it is sent again."
	}
	if words, ok := failures[s.Reason]; ok {
		return words[0], words[1]
	}
	return "It was not published.", "Retry, or edit the post."
}

func (s Situation) cancelled() (happened, todo string) {
	switch s.Reason {
	case "archived":
		return "The post was put away, so this was cancelled. Nothing was published.", "Duplicate the post to use it again."
	case "account_removed":
		return "The account was taken out of the post, so this was cancelled. Nothing was published.", "Add the account to the post again if it should go there after all."
	}
	return "It was cancelled. Nothing was published.", "Duplicate the post to publish it after all."
}

// reasons are what a step of the timeline says beside its state.
var reasons = map[string]string{
	"approved": "The version was approved.", "edited": "The post was edited.", "problems": "The network would refuse it.",
	"cancelled": "Cancelled by hand.", "archived": "The post was put away.", "account_removed": "The account was taken out of the post.",
	"retried_by_hand": "Another try was asked for.", "found_by_hand": "Seen live by a person.", "found_by_look_up": "Found by looking.",
	"asking_the_network": "No clear answer came back.", "manual_check_required": "The network could not say; a person has to look.",
	"needs_reconnect": "The sign-in was not accepted.",
}

// ReasonWords says a reason of the timeline; nothing for one that has no words.
// A lost worker is the one reason that says two things: whether its call had begun.
func ReasonWords(to model.State, reason string) string {
	if to == model.UnknownOutcome && reason == "worker_lost" {
		return "The worker stopped during the call that publishes, so the post may be live or not."
	}
	if words, ok := reasons[reason]; ok {
		return words
	}
	if words, ok := waits[reason]; ok {
		return words[0]
	}
	return failures[reason][0]
}
