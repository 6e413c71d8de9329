package ghl

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// Blog publishes to the blogs of GoHighLevel's sub-accounts. It is safe for concurrent
// use. An account's RemoteID is the number of the blog, its setting location_id the
// sub-account's.
//
// Prepare brings the picture into the media of the sub-account, for a blog shows it
// from where it is for good, and makes a draft under a slug made of the job's key: if
// the answer is lost, the draft is looked for by it before another is made. Commit
// call: the update that publishes the draft by its number. It may be done twice, and
// the status of that number in the blog's list is proof.
//
// Handles: image (its address); draft, with the mark that
// it was begun.
type Blog struct {
	door rest.Door
	now  func() time.Time
}

// NewBlog makes the adapter. Without an address it speaks to GoHighLevel itself.
func NewBlog(env networks.Env) *Blog {
	b := &Blog{door: New(env).door, now: env.Now}
	b.door.Table.Rows = slices.Concat(blogRows, b.door.Table.Rows)
	if b.now == nil {
		b.now = time.Now
	}
	return b
}

var (
	_ networks.Adapter = (*Blog)(nil)
	_ networks.Checker = (*Blog)(nil)
)

// The handles.
const (
	image = "image"
	draft = "draft"
)

func value(job networks.Job, key string) string {
	n, _ := network.Get(network.GHLBlog)
	return n.Value(network.Draft{Options: job.Post.Options}, key)
}

// Prepare uploads the picture and makes the draft.
func (b *Blog) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	if err := b.missing(job); err != nil {
		return networks.Ready{}, err
	}
	if err := b.upload(ctx, job, h); err != nil {
		return networks.Ready{}, err
	}
	if err := b.free(ctx, job, h.Get(draft)); err != nil {
		return networks.Ready{}, err
	}
	id, err := networks.Once{
		Handles: h, Name: draft, Now: b.now, Attempt: job.Attempt,
		Write: func(ctx context.Context) (string, error) { return b.draft(ctx, job, h.Get(image)) },
		Look:  func(ctx context.Context, _ time.Time) (string, error) { return b.drafted(ctx, job) },
	}.Do(ctx)
	if err != nil {
		return networks.Ready{}, err
	}
	return networks.Ready{Job: job, Handles: map[string]string{draft: id, image: h.Get(image)}}, nil
}

// missing says what a post lacks that GoHighLevel asks for.
func (b *Blog) missing(job networks.Job) error {
	switch err := networks.Fits(job); {
	case err != nil:
		return err
	case job.Account.Settings[location] == "":
		return fault.New(fault.Validation, "location_missing", "Herald has to know the sub-account: enter its id as the account's setting location_id.")
	case value(job, network.OptTitle) == "" || value(job, network.OptExcerpt) == "" || value(job, network.OptAuthor) == "":
		return fault.New(fault.Validation, "options_missing", "A blog post of "+label+" needs a title, a short description and an author. Choose them.")
	}
	return nil
}

func (b *Blog) upload(ctx context.Context, job networks.Job, h networks.Handles) error {
	if h.Get(image) != "" {
		return nil
	}
	c := rest.From(job, httpx.Prepare, http.MethodPost, "medias/upload-file")
	c.Files = []httpx.File{job.Post.Media[0].Part("file")}
	c.Form = url.Values{"hosted": {"false"}, "name": {cmp.Or(job.Post.Media[0].Name, "picture")}}
	var made struct {
		URL string `json:"url"`
	}
	answer, err := b.door.Do(ctx, c, &made)
	if err == nil && networks.WebOnly(made.URL) == "" {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	if err != nil {
		return err
	}
	h.Note(image, made.URL)
	return nil
}

// free refuses a slug of the writer's that another post has: GoHighLevel asks that this
// is looked up before anything is published.
func (b *Blog) free(ctx context.Context, job networks.Job, own string) error {
	slug := value(job, network.OptSlug)
	if slug == "" {
		return nil
	}
	c := rest.From(job, httpx.Prepare, http.MethodGet, "blogs/posts/url-slug-exists")
	c.Query = url.Values{"locationId": {job.Account.Settings[location]}, "urlSlug": {slug}}
	if own != "" {
		c.Query.Set("postId", own)
	}
	var said struct {
		Exists *bool `json:"exists"`
	}
	answer, err := b.door.Do(ctx, c, &said)
	switch {
	case err == nil && said.Exists == nil:
		return httpx.Unparsable(httpx.Prepare, answer)
	case err == nil && *said.Exists:
		return fault.New(fault.Validation, "slug_taken", "Another post of the blog has the slug "+slug+". Choose another.")
	}
	return err
}

// article is a post of a blog as it is sent. All of it goes with each call.
type article struct {
	Title      string   `json:"title"`
	Location   string   `json:"locationId"`
	Blog       string   `json:"blogId"`
	Image      string   `json:"imageUrl"`
	Words      string   `json:"description"`
	HTML       string   `json:"rawHTML"`
	Status     string   `json:"status"`
	Alt        string   `json:"imageAltText"`
	Categories []string `json:"categories"`
	Tags       []string `json:"tags,omitempty"`
	Author     string   `json:"author"`
	Slug       string   `json:"urlSlug"`
	At         string   `json:"publishedAt"`
}

// The states of a post of a blog.
const (
	blogDraft     = "DRAFT"
	blogPublished = "PUBLISHED"
)

func (b *Blog) articleOf(job networks.Job, picture, status, slug string, categories []string) article {
	n, _ := network.Get(network.GHLBlog)
	title := value(job, network.OptTitle)
	return article{
		Title: title, Location: job.Account.Settings[location], Blog: job.Account.RemoteID, Image: picture, Words: value(job, network.OptExcerpt),
		HTML:   networks.Paragraphs(n.Body(network.Draft{Text: job.Post.Text, Link: job.Post.Link})),
		Status: status, Alt: cmp.Or(job.Post.Media[0].Alt, title), Categories: categories, Tags: network.Tags(value(job, network.OptTags)),
		Author: value(job, network.OptAuthor), Slug: slug, At: stamp(b.now()),
	}
}

// told is a post of a blog as GoHighLevel tells of it.
type told struct {
	ID       string `json:"_id"`
	Status   string `json:"status"`
	Slug     string `json:"urlSlug"`
	Archived bool   `json:"archived"`
	Link     string `json:"canonicalLink"`
}

// draft makes what is to be published, for nobody to see yet.
func (b *Blog) draft(ctx context.Context, job networks.Job, picture string) (string, error) {
	categories, err := b.categories(ctx, job)
	if err != nil {
		return "", err
	}
	c := rest.From(job, httpx.Prepare, http.MethodPost, "blogs/posts")
	c.JSON = b.articleOf(job, picture, blogDraft, keySlug(job), categories)
	var made struct {
		Data told `json:"data"`
	}
	answer, err := b.door.Do(ctx, c, &made)
	if err == nil && made.Data.ID == "" {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	if f := fault.Of(err); f != nil && f.Status == http.StatusUnprocessableEntity {
		return b.madeAnyway(ctx, job, f)
	}
	return made.Data.ID, err
}

// madeAnyway looks for a draft that was refused with no: GoHighLevel is known to refuse
// what it made (networks-b 11.4). While that cannot be told it is not refused for good.
func (b *Blog) madeAnyway(ctx context.Context, job networks.Job, no *fault.Fault) (string, error) {
	switch id, err := b.drafted(ctx, job); {
	case err != nil:
		return "", &fault.Fault{Kind: fault.Transient, Code: "not_listed", Say: label + " may have taken the draft or not; Herald looks again before it repeats it.", Cause: err}
	case id != "":
		return id, nil
	}
	return "", no
}

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// keySlug is the client key: the title, and what only this publish has.
func keySlug(job networks.Job) string {
	sum := sha256.Sum256([]byte(job.Key))
	words := strings.Trim(unfit.ReplaceAllString(strings.ToLower(value(job, network.OptTitle)), "-"), "-")
	return strings.TrimPrefix(words[:min(len(words), 60)]+"-"+hex.EncodeToString(sum[:6]), "-")
}

// categories are the numbers of those that were chosen by name.
func (b *Blog) categories(ctx context.Context, job networks.Job) ([]string, error) {
	ids := []string{}
	chosen := network.Tags(value(job, network.OptCategories))
	if len(chosen) == 0 {
		return ids, nil
	}
	there, err := b.terms(ctx, job, httpx.Prepare, "categories")
	if err != nil {
		return nil, err
	}
	for _, name := range chosen {
		id := ""
		for _, c := range there {
			if strings.EqualFold(network.Named(c.Label), name) {
				id = c.Value
			}
		}
		if id == "" {
			return nil, fault.New(fault.Validation, "no_category", "The blog has no category "+httpx.SafeText(name)+". Make it there, or choose another.")
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Commit publishes the draft, under the slug that the writer chose.
func (b *Blog) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	job, id := ready.Job, ready.Handles[draft]
	categories, err := b.categories(ctx, job)
	if err != nil {
		return networks.Receipt{}, err
	}
	c := rest.From(job, httpx.Commit, http.MethodPut, "blogs/posts/"+url.PathEscape(id))
	c.JSON = b.articleOf(job, ready.Handles[image], blogPublished, cmp.Or(value(job, network.OptSlug), keySlug(job)), categories)
	var made struct {
		Post told `json:"updatedBlogPost"`
	}
	answer, err := b.door.Do(ctx, c, &made)
	if err == nil && (made.Post.ID != id || made.Post.Status != blogPublished) {
		err = httpx.Unparsable(httpx.Commit, answer)
	}
	if err != nil {
		return networks.Receipt{}, err
	}
	return networks.Receipt{ExternalID: id, Permalink: networks.WebOnly(made.Post.Link), RequestID: answer.RequestID}, nil
}
