package facebook

import (
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
)

const (
	videoAgain = "Facebook had trouble with the video's upload; Herald sends it again."
	videoBad   = "Facebook could not use the video."
)

// rows are the refusals of Pages, beside what all of Graph shares. Subcodes
// that other products read in contradictory ways are left to the row of their
// code, which quotes Facebook's own words.
var rows = []graph.Row{
	{Code: 382, Kind: fault.Validation, Say: "The video file is too small to be a video. Upload it again."},
	{Code: 389, Kind: fault.Transient, Tries: 2, Say: "Facebook could not fetch the video from Herald."},
	{Code: 6000, To: 6001, Kind: fault.Transient, Tries: 1, Quote: true, Say: "Facebook had trouble with the video."},
	{Code: 1609005, Kind: fault.Transient, Tries: 1, Say: "Facebook could not read the page behind the link. Check that the link opens for everyone."},

	{Code: graph.Any, Subcode: 1366051, Kind: fault.Validation, Duplicate: true, Say: "Facebook says that these pictures were posted already."},
	{Code: graph.Any, Subcode: 1366046, Kind: fault.Validation, Say: "A picture is too large or not in a format that Facebook takes. Use JPEG or PNG of at most 4 MB."},
	{Code: graph.Any, Subcode: 1404078, Kind: fault.Permission, Say: "Facebook wants the Page Publishing Authorization to be completed. Do this in the Page's settings, then try again."},
	{Code: graph.Any, Subcode: 1404112, Kind: fault.Permission, Say: "Facebook has limited this account. Look for a notice in the account itself."},
	{Code: graph.Any, Subcode: 4854002, Kind: fault.Permission, Say: "Facebook wants the person who connected this account to confirm who they are. Log in at Facebook, then try again."},

	{Code: graph.Any, Subcode: 1363019, Kind: fault.Transient, Commit: fault.Unknown, Say: videoAgain},
	{Code: graph.Any, Subcode: 1363021, Kind: fault.Transient, Commit: fault.Unknown, Say: videoAgain},
	{Code: graph.Any, Subcode: 1363030, Kind: fault.Transient, Commit: fault.Unknown, Say: videoAgain},
	{Code: graph.Any, Subcode: 1363033, Kind: fault.Transient, Commit: fault.Unknown, Say: videoAgain},
	{Code: graph.Any, Subcode: 1363037, Kind: fault.Transient, Say: videoAgain},
	{Code: graph.Any, Subcode: 1363041, Kind: fault.Transient, Say: videoAgain},
	{Code: graph.Any, Subcode: 1363020, Kind: fault.Validation, Quote: true, Say: videoBad},
	{Code: graph.Any, Subcode: 1363022, Kind: fault.Validation, Say: "The video file is too small to be a video. Upload it again."},
	{Code: graph.Any, Subcode: 1363023, Kind: fault.Validation, Say: "The video file is too large for Facebook."},
	{Code: graph.Any, Subcode: 1363024, Kind: fault.Validation, Say: "Facebook does not take this video's format. Export it as MP4 with H.264 and AAC."},
	{Code: graph.Any, Subcode: 1363025, Kind: fault.Validation, Say: "The video is shorter than one second."},
	{Code: graph.Any, Subcode: 1363026, Kind: fault.Validation, Say: "The video is too long for Facebook."},
	{Code: graph.Any, Subcode: 1363031, Kind: fault.Validation, Say: "Facebook says that this file is not a video."},
	{Code: graph.Any, Subcode: 1363032, Kind: fault.Validation, Say: "Facebook says that this file is not a video."},
	{Code: graph.Any, Subcode: 1363045, Kind: fault.Validation, Quote: true, Say: videoBad},
	{Code: graph.Any, Subcode: 1363005, Kind: fault.Permission, Say: "This connection may not upload videos to the Page. Reconnect the account and grant everything that is asked."},
	{Code: graph.Any, Subcode: 1363042, Kind: fault.Permission, Say: "This connection may not upload videos to the Page. Reconnect the account and grant everything that is asked."},

	{Type: "OffsetInvalidError", Kind: fault.Transient, Say: videoAgain},
	{Type: "PartialRequestError", Kind: fault.Transient, Say: videoAgain},
	{Type: "ProcessingFailedError", Kind: fault.Transient, Tries: 2, Say: videoBad},
}
