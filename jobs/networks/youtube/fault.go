package youtube

import (
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/google"
	"herald/jobs/networks/rest"
)

const (
	reconnect = "{network} no longer accepts this connection. Reconnect the account."
	noRight   = "{network} says that this connection may not do that. Reconnect the account and grant everything that is asked."
	closed    = "{network} has closed or suspended the channel, or the account behind it. Look for a notice at YouTube."
	slowDown  = "{network} asked us to slow down."
	broken    = "{network} had a problem of its own."
)

// rows are the refusals of the Data API, by the reason that it gives.
var rows = []rest.Row{
	{Code: "invalidTitle", Kind: fault.Validation, Say: "{network} does not take the title. It may have 100 characters, and no angle brackets."},
	{Code: "invalidDescription", Kind: fault.Validation, Say: "{network} does not take the description. It may have 5,000 bytes, and no angle brackets."},
	{Code: "invalidTags", Kind: fault.Validation, Say: "{network} does not take the tags. All together they may have 500 characters."},
	{Code: "invalidCategoryId", Kind: fault.Validation, Say: "{network} does not have this category for the channel's country. Choose another."},
	{Code: "invalidPublishAt", Kind: fault.Validation, Quote: true, Say: "{network} does not take the time."},
	{Code: "invalidVideoMetadata", Kind: fault.Validation, Quote: true, Say: "{network} does not take what is said of the video."},
	{Code: "invalidRecordingDetails", Kind: fault.Validation, Quote: true, Say: "{network} does not take what is said of the video."},
	{Code: "invalidVideoGameRating", Kind: fault.Validation, Quote: true, Say: "{network} does not take what is said of the video."},
	{Code: "invalidFilename", Kind: fault.Validation, Say: "{network} does not take the name of the file. Rename it."},
	{Code: "defaultLanguageNotSet", Kind: fault.Validation, Say: "{network} wants the language of the video. Choose one."},
	{Code: "mediaBodyRequired", Kind: fault.Validation, Say: "{network} got no video. Attach it again."},
	{Code: "uploadLimitExceeded", Kind: fault.RateLimited, Wait: 24 * time.Hour, Say: "This channel has uploaded as many videos as {network} allows in a day; the next goes out later."},
	{Code: "failedPrecondition", Kind: fault.Validation, Quote: true, Say: "{network} refused the upload."},
	{Code: "badRequest", Kind: fault.Validation, Quote: true, Say: "{network} refused the upload."},
	{Code: "badRequest", Words: []string{"content-range"}, Kind: fault.Transient, Name: "content_range", Say: "{network} lost count of the upload; Herald asks how far it is."},
	{Code: "authError", Kind: fault.Auth, Say: reconnect},
	{Code: "youtubeSignupRequired", Kind: fault.Permission, Say: "This Google account has no YouTube channel. Make one at YouTube, then reconnect the account."},
	{Code: "quotaExceeded", Kind: fault.RateLimited, Until: google.UntilQuota, Everyone: true, Say: "Herald's app has used up what {network} allows it in a day; the video goes out after midnight in California."},
	{Code: "dailyLimitExceeded", Kind: fault.RateLimited, Until: google.UntilQuota, Everyone: true, Say: "Herald's app has used up what {network} allows it in a day; the video goes out after midnight in California."},
	{Code: "rateLimitExceeded", Kind: fault.RateLimited, Wait: time.Minute, Everyone: true, Say: slowDown},
	{Code: "userRateLimitExceeded", Kind: fault.RateLimited, Wait: time.Minute, Say: slowDown},
	{Code: "uploadRateLimitExceeded", Kind: fault.RateLimited, Wait: 10 * time.Minute, Say: "{network} finds that this channel sets thumbnails too fast."},
	{Code: "RESOURCE_EXHAUSTED", Kind: fault.RateLimited, Wait: time.Minute, Everyone: true, Say: slowDown},
	{Code: "forbidden", Kind: fault.Permission, Quote: true, Say: noRight},
	{Code: "insufficientPermissions", Kind: fault.Permission, Say: noRight},
	{Code: "ACCESS_TOKEN_SCOPE_INSUFFICIENT", Kind: fault.Permission, Say: noRight},
	{Code: "SERVICE_DISABLED", Kind: fault.Permission, Say: "The YouTube Data API is not switched on for Herald's app. The operator has to do that in the Google Cloud console."},
	{Code: "forbiddenLicenseSetting", Kind: fault.Permission, Say: "This channel may not choose that licence."},
	{Code: "forbiddenPrivacySetting", Kind: fault.Permission, Say: "This channel may not choose who sees the video. Look at its settings at YouTube."},
	{Code: "accountDelegationForbidden", Kind: fault.Permission, Say: "{network} does not let this account act for the channel. Reconnect with the account that owns it."},
	{Code: "authenticatedUserAccountClosed", Kind: fault.Permission, Say: closed},
	{Code: "authenticatedUserAccountSuspended", Kind: fault.Permission, Say: closed},
	{Code: "authenticatedUserNotChannel", Kind: fault.Permission, Say: "This Google account has no YouTube channel. Make one at YouTube, then reconnect the account."},
	{Code: "channelClosed", Kind: fault.Permission, Say: closed},
	{Code: "channelSuspended", Kind: fault.Permission, Say: closed},
	{Code: "commentsDisabled", Kind: fault.Permission, Say: "Comments are switched off for this video, so the first comment cannot be written."},
	{Code: "invalidImage", Kind: fault.Validation, Say: "{network} could not read the thumbnail. Save it again as JPEG or PNG."},
	{Code: "imageFormatUnsupported", Kind: fault.Validation, Say: "{network} takes thumbnails as JPEG or PNG."},
	{Code: "imageTooTall", Kind: fault.Validation, Say: "The thumbnail is too tall for {network}."},
	{Code: "imageTooWide", Kind: fault.Validation, Say: "The thumbnail is too wide for {network}."},
	{Code: "videoNotFound", Kind: fault.Validation, Say: "{network} does not find the video."},
	{Code: "backendError", Kind: fault.Transient, Say: broken},
	{Code: "internalError", Kind: fault.Transient, Say: broken},
}
