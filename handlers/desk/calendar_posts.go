package desk

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/calendar"
)

// showPosts answers GET /posts with the list of posts.
func (d *Desk) showPosts(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	l := readLookup(at(scope, "/posts"), r.URL.Query())
	return d.drawPosts(w, r, scope, l, http.StatusOK, func(*calendar.PostsProps) {})
}

// drawPosts shows the list as it now is, with what with adds to it.
func (d *Desk) drawPosts(w http.ResponseWriter, r *http.Request, scope *db.Scope, l lookup, status int, with func(*calendar.PostsProps)) error {
	turn, err := readPage(l)
	if err != nil {
		return err
	}
	list, err := scope.Posts(r.Context(), turn, l.filter)
	if err != nil {
		return err
	}
	p := calendar.PostsProps{Labels: at(scope, "/labels"), Filter: l.filterProps(list.Choices, nil), Pages: pages(l, list.Newer, list.Older, postsWords(len(list.Posts)))}
	p.Empty = "There are no posts yet"
	if p.Filter.Clear != "" {
		p.Empty = "No post matches these filters"
	}
	if scope.Actor.MayAnywhere(model.PostsWrite) {
		p.Create, p.Submits = at(scope, "/posts/new"), bulkAddress(scope, l, "/posts/submissions")
		if len(list.Labels) > 0 {
			p.Labelled, p.LabelChoices = bulkAddress(scope, l, "/posts/labels"), labelGroupsToChoose(list.Labels)
		}
	}
	if scope.Actor.MayAnywhere(model.PostsSchedule) {
		p.Retries = bulkAddress(scope, l, "/posts/retries")
	}
	byID := map[model.ClientID]db.CalendarClient{}
	for _, c := range list.Clients {
		byID[c.ID] = c
	}
	labels := labelDrawer(list.Labels)
	for _, row := range list.Posts {
		one := d.postRow(scope, row, list.Zone, byID)
		one.Labels = labels(row.Labels)
		p.Posts = append(p.Posts, one)
	}
	with(&p)
	return d.show(w, r, scope, status, page{title: "Posts", nav: "posts", wide: true, live: true}, calendar.Posts(p))
}

// bulkAddress carries the list's own filters, so that the answer is the same list.
func bulkAddress(scope *db.Scope, l lookup, path string) string {
	return lookup{path: at(scope, path)}.address(l.values)
}

func (d *Desk) postRow(scope *db.Scope, row db.PostRow, zone string, byID map[model.ClientID]db.CalendarClient) calendar.Post {
	p := calendar.Post{
		Value: fmt.Sprintf("%d:%d", row.ID, row.Revision), Href: at(scope, "/posts/"+id(row.ID)), Words: row.Excerpt,
		Marks: marks(row.Networks), Clients: clientNames(row.Clients, byID), Changed: clientTime(row.UpdatedAt, zone), Failed: row.Again > 0,
	}
	p.State, p.Status = row.Review, ""
	if len(row.Shown) > 0 {
		p.State, p.Status = db.ShownTogether(row.Shown), shownWords(row.Shown)
	}
	if p.Status == "" {
		p.Status = shownWords([]string{p.State})
	}
	if row.DueAt != nil {
		due := zone
		if len(row.Clients) == 1 {
			due = byID[row.Clients[0]].Zone
		}
		p.Due = clientTime(*row.DueAt, due)
	}
	p.Changed.Zone, p.Changed.IANA = "", ""
	return p
}

// chosenPost is one ticked row: a post and the revision that the person saw.
type chosenPost struct {
	id   model.PostID
	seen int
}

// maxChosen is how many posts one bulk action takes: more than a page holds.
const maxChosen = 100

func chosenPosts(r *http.Request) ([]chosenPost, error) {
	if err := r.ParseForm(); err != nil {
		return nil, model.RefuseField("post", "This form did not arrive whole. Try again.")
	}
	var list []chosenPost
	for _, v := range r.PostForm["post"] {
		post, seen, _ := strings.Cut(v, ":")
		n, err := web.Count(seen)
		if err != nil {
			return nil, model.Refuse(model.NotFound, "There is no such post.")
		}
		one := chosenPost{model.PostID(web.ID(post)), n}
		if !slices.ContainsFunc(list, func(c chosenPost) bool { return c.id == one.id }) {
			list = append(list, one)
		}
	}
	switch {
	case len(list) == 0:
		return nil, model.RefuseField("post", "Tick at least one post first.")
	case len(list) > maxChosen:
		return nil, model.RefuseField("post", fmt.Sprintf("Choose at most %d posts at a time.", maxChosen))
	}
	return list, nil
}

// refused is one chosen post that stayed as it was, and why.
type refused struct {
	post model.PostID
	no   error
}

// createSubmissions answers POST /posts/submissions: approval is asked for every
// chosen post that can be submitted, with one mail per person for all of them.
func (d *Desk) createSubmissions(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.bulk(w, r, scope, "submitted for approval", func(list []chosenPost) (said []refused, err error) {
		var asks []db.Submission
		for _, c := range list {
			asks = append(asks, db.Submission{Post: c.id, Seen: c.seen})
		}
		out, err := scope.Submit(r.Context(), asks)
		for _, one := range out {
			if one.No != nil {
				said = append(said, refused{one.Post, one.No})
			}
		}
		return said, err
	})
}

// createRetries answers POST /posts/retries: what failed in the chosen posts and
// is safe to send again goes on its way.
func (d *Desk) createRetries(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.bulk(w, r, scope, "on the way again", func(list []chosenPost) (said []refused, err error) {
		for _, c := range list {
			_, err := scope.RetryFailed(r.Context(), c.id, c.seen)
			if _, no := model.Refused(err); no {
				said = append(said, refused{c.id, err})
			} else if err != nil {
				return said, err
			}
		}
		return said, nil
	})
}

// bulk runs do on the chosen posts and says what became of them: the next page
// says it in a sentence if all went well, else the list comes back with each
// refusal and the refused posts still chosen.
func (d *Desk) bulk(w http.ResponseWriter, r *http.Request, scope *db.Scope, words string, do func([]chosenPost) ([]refused, error)) error {
	list, err := chosenPosts(r)
	if err != nil {
		return err
	}
	said, err := do(list)
	if err != nil {
		return err
	}
	l := readLookup(at(scope, "/posts"), r.URL.Query())
	done := len(list) - len(said)
	if len(said) == 0 {
		return d.say(w, r, l.address(l.values), countPosts(done)+" "+words+".")
	}
	status := http.StatusOK
	if done == 0 {
		status = web.Status(said[0].no)
	}
	if status == http.StatusNotFound {
		return said[0].no
	}
	return d.drawPosts(w, r, scope, l, status, func(p *calendar.PostsProps) {
		p.Outcome = &calendar.Outcome{Title: countPosts(done) + " " + words + ", " + strconv.Itoa(len(said)) + " not"}
		for _, s := range said {
			p.Outcome.Said = append(p.Outcome.Said, nameRefused(scope, p.Posts, s))
		}
	})
}

// nameRefused says a refusal by the first words of its post, where the page has
// it, and leaves the post chosen.
func nameRefused(scope *db.Scope, rows []calendar.Post, s refused) calendar.Said {
	one := calendar.Said{Post: "Post " + id(s.post), Href: at(scope, "/posts/"+id(s.post)), Why: s.no.Error()}
	for i, row := range rows {
		if row.Href != one.Href {
			continue
		}
		rows[i].Chosen = true
		if row.Words != "" {
			one.Post = row.Words
		}
	}
	return one
}

func countPosts(n int) string {
	switch n {
	case 0:
		return "No post is"
	case 1:
		return "One post is"
	}
	return strconv.Itoa(n) + " posts are"
}
