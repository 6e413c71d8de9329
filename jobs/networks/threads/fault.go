package threads

import (
	"slices"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

// notFound is what Threads says of a container that has not spread to all its
// servers yet, and of one that is gone or was published.
const notFound = "24/4279009"

// rows are the refusals of Threads, beside what all of Graph shares.
var rows = []graph.Row{
	{Code: 24, Kind: fault.Transient, Duplicate: true, Say: "Threads does not find what was prepared; Herald tries again."},
	{Code: 24, Subcode: 4279009, Kind: fault.Transient, Duplicate: true, Say: "Threads was not ready to publish yet, and nothing was published; Herald tries again."},
	{Code: graph.Any, Subcode: 4279013, Kind: fault.Permission, Say: "Threads has restricted this account. Open the Threads app and look for a notice."},
	{Code: graph.Any, Subcode: 2207051, Kind: fault.RateLimited, Commit: fault.Unknown, Wait: 3 * time.Hour, Say: "Threads blocked the post for now because the activity looked like spam to it."},
}

// told is the fault of a container that says what is wrong with its file, the
// n-th that failed.
func told(n int, message string) *fault.Fault {
	known := map[string]string{
		"FAILED_PROCESSING_AUDIO":      "Threads could not use the video's sound. Export it with AAC.",
		"FAILED_PROCESSING_VIDEO":      "Threads could not use the video. Export it as MP4 with H.264 and AAC.",
		"INVALID_ASPEC_RATIO":          "The video's shape is not one that Threads takes. Crop it.",
		"INVALID_BIT_RATE":             "The video has more bits a second than Threads takes. Export it smaller.",
		"INVALID_DURATION":             "The video is longer than the five minutes that Threads takes. Cut it shorter.",
		"INVALID_FRAME_RATE":           "The video has too many or too few frames a second for Threads. Export it with 23 to 60.",
		"INVALID_AUDIO_CHANNELS":       "Threads could not use the video's sound. Export it with one or two channels.",
		"INVALID_AUDIO_CHANNEL_LAYOUT": "Threads could not use the video's sound. Export it with one or two channels.",
	}
	if say, ok := known[message]; ok {
		return fault.New(fault.Validation, message, say)
	}
	f := fault.New(fault.Transient, "status_error", "Threads could not use the files.")
	if message == "FAILED_DOWNLOADING_VIDEO" {
		f.Code, f.Say = message, "Threads could not fetch the video from Herald."
	} else if theirs := httpx.SafeText(message); theirs != "" && !slices.Contains([]string{"UNKNOWN"}, message) {
		f.Say += " Threads says: " + theirs + "."
	}
	if n > 2 {
		f.Kind = fault.Validation
	}
	return f
}
