package tiktok

import (
	"strconv"
	"strings"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/rest"
)

const (
	reconnect = "{network} no longer accepts this connection. Reconnect the account."
	noRight   = "{network} says that this connection lacks a permission. Reconnect the account and grant everything that is asked."
	tooMany   = "This account has posted as much as {network} allows in a day; the post goes out later."
	blocked   = "{network} does not let this account post for now. Look for a notice in the TikTok app."
	refused   = "{network} did not take a part of the post."
)

// rows are the refusals of the API, by their code.
var rows = []rest.Row{
	{Code: "invalid_param", Kind: fault.Validation, Quote: true, Say: refused},
	{Code: "invalid_params", Kind: fault.Validation, Quote: true, Say: refused},
	{Code: "invalid_file_upload", Kind: fault.Validation, Quote: true, Say: "{network} does not take this file."},
	{Code: "app_version_check_failed", Kind: fault.Validation, Say: "The creator's TikTok app is too old for this kind of post. Update it on the phone."},
	{Code: "invalid_publish_id", Kind: fault.Validation, Say: "{network} does not know the upload."},
	{Code: "privacy_level_option_mismatch", Kind: fault.Validation, Say: "This account does not let posts be seen by those that were chosen. Choose others."},
	{Code: "access_token_invalid", Kind: fault.Auth, Say: reconnect},
	{Code: "access_token_expired", Kind: fault.Auth, Say: reconnect},
	{Code: "10001", Kind: fault.Auth, Say: reconnect},
	{Code: "10002", Kind: fault.Auth, Say: reconnect},
	{Code: "scope_not_authorized", Kind: fault.Permission, Say: noRight},
	{Code: "scope_permission_missed", Kind: fault.Permission, Say: noRight},
	{Code: "token_not_authorized_for_specified_publish_id", Kind: fault.Permission, Say: "This connection may not ask about the upload: it belongs to another one."},
	{Code: "spam_risk_too_many_posts", Kind: fault.RateLimited, Wait: time.Hour, Say: tooMany},
	{Code: "spam_risk_too_many_pending_share", Kind: fault.RateLimited, Wait: time.Hour, Say: tooMany},
	{Code: "reached_active_user_cap", Kind: fault.RateLimited, Wait: time.Hour, Everyone: true, Say: "Herald's app has as many accounts posting today as {network} allows; the post goes out later."},
	{Code: "spam_risk_user_banned_from_posting", Kind: fault.Permission, Say: blocked},
	{Code: "spam_risk", Kind: fault.Permission, Say: blocked},
	{Code: "unaudited_client_can_only_post_to_private_accounts", Kind: fault.Permission, Say: "{network} has not audited Herald's app yet, so it may post to private accounts only, and only for the creator to see."},
	{Code: "url_ownership_unverified", Kind: fault.Permission, Say: "{network} fetches files from addresses only that the operator has verified for Herald's app in TikTok's developer portal."},
	{Code: "rate_limit_exceeded", Kind: fault.RateLimited, Wait: time.Minute, Say: "{network} asked us to slow down."},
	{Code: "internal_error", Kind: fault.Transient, Commit: fault.Unknown, Say: "{network} had a problem of its own."},
}

// reasons are why a publish failed, for good or not.
var reasons = map[string]*fault.Fault{
	"file_format_check_failed":           fault.New(fault.Validation, "", "TikTok does not take this file's format. Export videos as MP4 with H.264, pictures as JPEG."),
	"duration_check_failed":              fault.New(fault.Validation, "", "The video is too short or too long for TikTok."),
	"frame_rate_check_failed":            fault.New(fault.Validation, "", "The video has too few or too many frames a second for TikTok: it takes 23 to 60."),
	"picture_size_check_failed":          fault.New(fault.Validation, "", "The picture is too large or too small for TikTok."),
	"publish_cancelled":                  fault.New(fault.Validation, "", "The creator has cancelled the post in the TikTok app."),
	"auth_removed":                       fault.New(fault.Auth, "", "The creator has taken the permission away while TikTok worked on the post. Reconnect the account."),
	"spam_risk":                          fault.New(fault.Permission, "", "TikTok finds that the post looks like spam."),
	"spam_risk_text":                     fault.New(fault.Permission, "", "TikTok finds that the text looks like spam."),
	"spam_risk_user_banned_from_posting": fault.New(fault.Permission, "", "TikTok does not let this account post for now. Look for a notice in the TikTok app."),
	"spam_risk_too_many_posts":           {Kind: fault.RateLimited, Wait: time.Hour, Say: "This account has posted as much as TikTok allows in a day; the post goes out later."},
	"video_pull_failed":                  fault.New(fault.Transient, "", "TikTok could not fetch the files from Herald."),
	"photo_pull_failed":                  fault.New(fault.Transient, "", "TikTok could not fetch the files from Herald."),
	"internal":                           fault.New(fault.Transient, "", "TikTok had a problem of its own."),
	"internal_error":                     fault.New(fault.Transient, "", "TikTok had a problem of its own."),
}

// reason is the fault of a publish that failed: it is certain that nothing is live,
// so a new one may be made. What cannot be fetched again and again cannot be
// published.
func reason(word string, attempt int) *fault.Fault {
	known, ok := reasons[word]
	if !ok {
		return fault.New(fault.Validation, "failed", "TikTok could not publish the post, and gives no reason that Herald knows.")
	}
	f := *known
	f.Code = word
	if strings.HasSuffix(word, "_pull_failed") && attempt > pullable {
		f.Kind = fault.Validation
	}
	return &f
}

// settings are what the catalogue reads.
func (c creator) settings() map[string]string {
	set := map[string]string{"username": c.Username, "privacy_options": strings.Join(c.Privacy, ","),
		"may_comment": strconv.FormatBool(!c.Silent), "may_duet": strconv.FormatBool(!c.NoDuet), "may_stitch": strconv.FormatBool(!c.NoStitch)}
	if c.Longest > 0 {
		set["video_seconds"] = strconv.FormatInt(c.Longest, 10)
	}
	return set
}
