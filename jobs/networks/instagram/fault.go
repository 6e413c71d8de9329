package instagram

import (
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
)

const (
	again  = "Instagram had trouble with the upload; Herald sends the files again."
	broken = "Instagram had a problem of its own."
	tags   = "A tag of a person or product in the post is not valid."
	vanish = "Instagram no longer has the upload; Herald sends the files again."
)

// rows are the refusals of Instagram, beside what all of Graph shares. On
// media_publish "the upload is not there" may also mean that an earlier attempt
// published it, and a block for spam was seen on posts that were live.
var rows = []graph.Row{
	{Code: -2, Kind: fault.Transient, Commit: fault.Unknown, Say: broken},
	{Code: -2, Subcode: 2207003, Kind: fault.Transient, Say: "Instagram took too long to fetch the files; Herald tries again."},
	{Code: -2, Subcode: 2207020, Kind: fault.Transient, Say: vanish},
	{Code: -1, Kind: fault.Transient, Commit: fault.Unknown, Say: broken},
	{Code: -1, Subcode: 2207001, Kind: fault.Transient, Commit: fault.Unknown, Say: broken},
	{Code: -1, Subcode: 2207032, Kind: fault.Transient, Say: again},
	{Code: -1, Subcode: 2207053, Kind: fault.Transient, Say: again},
	{Code: 1, Subcode: 2207057, Kind: fault.Validation, Say: "The moment chosen for the cover is not within the video. Choose an earlier one."},
	{Code: 4, Subcode: 2207051, Kind: fault.RateLimited, Commit: fault.Unknown, Wait: 3 * time.Hour, Say: "Instagram blocked the post for now because the activity looked like spam to it."},
	{Code: 9, Subcode: 2207042, Kind: fault.RateLimited, Wait: time.Hour, Say: "Instagram's daily limit of posts for this account is used up; the post goes out as soon as there is room."},
	{Code: 24, Subcode: 2207006, Kind: fault.Transient, Tries: 3, Duplicate: true, Say: vanish},
	{Code: 24, Subcode: 2207008, Kind: fault.Transient, Duplicate: true, Say: vanish},
	{Code: 25, Subcode: 2207050, Kind: fault.Auth, Say: "Instagram has restricted this account. Open the Instagram app, do what it asks, then reconnect the account."},
	{Code: 100, Subcode: 2207023, Kind: fault.Validation, Say: "Instagram does not know this kind of post."},
	{Code: 100, Subcode: 2207028, Kind: fault.Validation, Say: "A carousel takes two to ten pictures and videos."},
	{Code: 100, Subcode: 2207035, Kind: fault.Validation, Quote: true, Say: tags},
	{Code: 100, Subcode: 2207036, Kind: fault.Validation, Quote: true, Say: tags},
	{Code: 100, Subcode: 2207037, Kind: fault.Validation, Quote: true, Say: tags},
	{Code: 100, Subcode: 2207040, Kind: fault.Validation, Quote: true, Say: tags},
	{Code: 352, Subcode: 2207026, Kind: fault.Validation, Say: "Instagram does not take this video's format. Export it as MP4 with H.264 and AAC."},
	{Code: 9004, Subcode: 2207052, Kind: fault.Transient, Tries: 3, Say: "Instagram could not fetch a file from Herald."},
	{Code: 9007, Subcode: 2207027, Kind: fault.Transient, Say: "Instagram was not ready to publish yet, and nothing was published; Herald tries again."},
	{Code: 36000, Subcode: 2207004, Kind: fault.Validation, Say: "A picture is larger than 8 MB. Use a smaller one."},
	{Code: 36001, Subcode: 2207005, Kind: fault.Validation, Say: "Instagram takes pictures as JPEG only. Save it as JPEG."},
	{Code: 36003, Subcode: 2207009, Kind: fault.Validation, Say: "A picture's shape has to be between 4:5 and 1.91:1. Crop it."},
	{Code: 36004, Subcode: 2207010, Kind: fault.Validation, Say: "The caption is longer than 2,200 characters, or has more than 30 hashtags or 20 mentions. Shorten it."},
	{Code: graph.Any, Subcode: 2207077, Kind: fault.Transient, Say: again},
	{Code: graph.Any, Subcode: 2207081, Kind: fault.Validation, Say: "This account cannot publish trial reels."},
	{Code: graph.Any, Subcode: 2207082, Kind: fault.Transient, Say: again},
	{Code: graph.Any, Subcode: 2207085, Kind: fault.Validation, Commit: fault.Unknown, Quote: true, Say: "Instagram refused this without saying why."},
}
