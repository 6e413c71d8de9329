package youtube

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// Follow reads what YouTube makes of the video, sets its thumbnail and writes the
// first comment, each unless done. A video that is turned down, or is private
// against the writer's choice, is a fault that says so: it is no longer ours to
// mend. While YouTube still works on it, it is Transient.
func (a *Adapter) Follow(ctx context.Context, job networks.Job, r networks.Receipt, h networks.Handles) (networks.Receipt, error) {
	r.Permalink = watch(r.ExternalID)
	v, err := a.video(ctx, job, httpx.FollowUp, r.ExternalID)
	if err != nil {
		return r, err
	}
	if v == nil {
		return r, fault.New(fault.Validation, "video_gone", "YouTube does not have the video any more; somebody may have removed it.")
	}
	if v.Status.gone() {
		return r, fault.New(fault.Validation, "video_"+v.Status.Upload, "YouTube turned the video down. "+v.Status.why())
	}
	return r, errors.Join(v.Status.judge(value(job.Post, network.OptPrivacy)), a.setCover(ctx, job, r.ExternalID, h), a.writeComment(ctx, job, r.ExternalID, h))
}

// judge says what is not as the writer chose, or not yet.
func (s status) judge(privacy string) error {
	switch {
	case s.Privacy != "" && s.Privacy != privacy:
		return fault.New(fault.Permission, "privacy_locked", "YouTube shows the video to others than was chosen ("+httpx.SafeText(s.Privacy)+" instead of "+privacy+"). It does so while Google has not audited Herald's app; change it in YouTube Studio.")
	case s.Upload == "uploaded":
		return fault.New(fault.Transient, "processing", "YouTube is still working on the video.")
	}
	return nil
}

// why is the reason of a video that is gone, in words.
func (s status) why() string {
	if say := reasons[s.Failure+s.Rejected]; say != "" {
		return say
	}
	return "It gives no reason."
}

var reasons = map[string]string{
	"codec":                    "It cannot read this video's coding. Export it as MP4 with H.264 and AAC.",
	"conversion":               "It could not convert the video. Export it again as MP4 with H.264 and AAC.",
	"emptyFile":                "The file is empty.",
	"invalidFile":              "The file is not a video that it can read.",
	"tooSmall":                 "The file is too small to be a video.",
	"uploadAborted":            "The upload broke off.",
	"claim":                    "Somebody claims its content.",
	"copyright":                "It finds that the video infringes a copyright.",
	"duplicate":                "The same video was uploaded before.",
	"inappropriate":            "It finds the content inappropriate.",
	"legal":                    "There are legal reasons.",
	"length":                   "The video is longer than this channel may upload. Confirm the channel's phone number at YouTube.",
	"termsOfUse":               "It finds that the video breaks its terms of use.",
	"trademark":                "It finds that the video infringes a trademark.",
	"uploaderAccountClosed":    "The channel is closed.",
	"uploaderAccountSuspended": "The channel is suspended.",
}

// setCover gives the video its thumbnail, which may be done twice.
func (a *Adapter) setCover(ctx context.Context, job networks.Job, id string, h networks.Handles) error {
	m := cover(job.Post)
	if m == nil || h.Get(covered) != "" {
		return nil
	}
	file, err := m.Open(ctx)
	if err != nil {
		return &fault.Fault{Kind: fault.Transient, Code: "media_unreadable", Say: "Herald could not read the thumbnail; it tries again.", Cause: err}
	}
	c := a.call(job, httpx.FollowUp, http.MethodPost, "thumbnails/set")
	c.Query = url.Values{"videoId": {id}}
	c.Body = &rest.Body{ReadCloser: file, Length: m.Bytes, Type: m.Type}
	if _, err := a.upload.Do(ctx, c, &struct{}{}); err != nil {
		return aboutCover(err)
	}
	return networks.Keep(ctx, h, covered, "true")
}

// aboutCover says in the sentence that the thumbnail is meant.
func aboutCover(err error) error {
	f := *fault.Of(err)
	f.Say = "The thumbnail is not set. " + f.Say
	return &f
}

// thread is a comment with its answers.
type thread struct {
	ID      string `json:"id"`
	Snippet struct {
		Top struct {
			Snippet struct {
				Text string `json:"textOriginal"`
			} `json:"snippet"`
		} `json:"topLevelComment"`
	} `json:"snippet"`
}

// writeComment writes the first comment once: if an earlier run may have written
// it, the comments are read before.
func (a *Adapter) writeComment(ctx context.Context, job networks.Job, id string, h networks.Handles) error {
	if job.Post.FirstComment == "" || h.Get(comment) != "" {
		return nil
	}
	if h.Get(began) != "" {
		if done, err := a.findComment(ctx, job, id); err != nil || done != "" {
			return errors.Join(err, networks.Keep(ctx, h, comment, done))
		}
	}
	if err := networks.Keep(ctx, h, began, "true"); err != nil {
		return err
	}
	c := a.call(job, httpx.FollowUp, http.MethodPost, "commentThreads")
	c.Query = url.Values{"part": {"snippet"}}
	c.JSON = newThread(id, job.Post.FirstComment)
	var made thread
	answer, err := a.door.Do(ctx, c, &made)
	switch {
	case err != nil && plainRefusal(err):
		networks.Forget(h, began)
		return err
	case err != nil:
		return err
	case made.ID == "":
		return httpx.Unparsable(httpx.FollowUp, answer)
	}
	return networks.Keep(ctx, h, comment, made.ID)
}

// plainRefusal says that YouTube answered, and that it wrote nothing.
func plainRefusal(err error) bool {
	f := fault.Of(err)
	return f.Status >= 400 && f.Status < 500 && f.Status != http.StatusRequestTimeout
}

func newThread(id, text string) map[string]any {
	top := map[string]any{"snippet": map[string]string{"textOriginal": text}}
	return map[string]any{"snippet": map[string]any{"videoId": id, "topLevelComment": top}}
}

// findComment returns the id of the comment that reads like ours, or "".
func (a *Adapter) findComment(ctx context.Context, job networks.Job, id string) (string, error) {
	var page list[thread]
	answer, err := a.door.Do(ctx, a.get(job, httpx.FollowUp, "commentThreads", "part", "snippet", "videoId", id, "order", "time", "maxResults", "100"), &page)
	if err == nil && page.Items == nil {
		err = httpx.Unparsable(httpx.FollowUp, answer)
	}
	if err != nil {
		return "", err
	}
	for _, t := range *page.Items {
		if network.Fingerprint(t.Snippet.Top.Snippet.Text) == network.Fingerprint(job.Post.FirstComment) {
			return t.ID, nil
		}
	}
	if page.Next != "" {
		return "", fault.New(fault.Unknown, "comments_unread", "The first comment may be there or not: the video has more comments than could be read.")
	}
	return "", nil
}
