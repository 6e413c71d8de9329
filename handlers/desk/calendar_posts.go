package desk

import (
	"fmt"
	"net/http"
	"net/url"
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
	if cards := strings.Fields(r.URL.Query().Get("card")); len(cards) > 0 {
		return d.showCards(w, r, scope, cards)
	}
	l := postsLookup(scope, r.URL.Query())
	return d.drawPosts(w, r, scope, l, http.StatusOK, func(*calendar.PostsProps, *page) {})
}

// showCards leads to the posts of cards that were chosen on the calendar.
func (d *Desk) showCards(w http.ResponseWriter, r *http.Request, scope *db.Scope, cards []string) error {
	posts := url.Values{}
	for _, key := range cards[:min(len(cards), maxChosen)] {
		m, err := readKey(key)
		if err != nil {
			return err
		}
		posts.Add("post", id(m.Post))
	}
	return web.See(w, r, at(scope, "/posts?"+posts.Encode()))
}

// postsLookup reads the address of the list. An address without a field would be that
// of the client who was looked at last, so one of all says so.
func postsLookup(scope *db.Scope, values url.Values) lookup {
	l := readLookup(at(scope, "/posts"), values)
	l.bare = allClients
	return l
}

// drawPosts shows the list as it now is, with what with adds to it.
func (d *Desk) drawPosts(w http.ResponseWriter, r *http.Request, scope *db.Scope, l lookup, status int, with func(*calendar.PostsProps, *page)) error {
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
		p.Imports, p.Create, p.Submits = at(scope, "/imports"), at(scope, "/posts/new"), bulkAddress(scope, l, "/posts/submissions")
		if len(list.Labels) > 0 {
			p.Labelled, p.LabelChoices = bulkAddress(scope, l, "/posts/labels"), labelGroupsToChoose(list.Labels)
		}
	}
	if scope.Actor.MayAnywhere(model.PostsSchedule) {
		p.Retries, p.Schedules, p.Cancels = bulkAddress(scope, l, "/posts/retries"), bulkAddress(scope, l, "/posts/schedules"), bulkAddress(scope, l, "/posts/cancellations")
	}
	p.Key = web.FormKey()
	if p.Create != "" || p.Retries != "" {
		p.Move.Action = bulkAddress(scope, l, "/posts/moves")
	}
	byID := map[model.ClientID]db.CalendarClient{}
	for _, c := range list.Clients {
		byID[c.ID] = c
	}
	labels := labelDrawer(list.Labels)
	for _, row := range list.Posts {
		one := d.postRow(scope, row, list.Zone, byID)
		one.Labels, one.Chosen = labels(row.Labels), len(l.filter.Posts) > 0
		p.Posts = append(p.Posts, one)
	}
	screen := page{title: "Posts", nav: "posts", wide: true, clients: true, live: true, here: l.address(l.values)}
	with(&p, &screen)
	return d.show(w, r, scope, status, screen, calendar.Posts(p))
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

// maxChosen is how many posts one bulk action takes: more than a page holds.
const maxChosen = 100

// chosenPosts are the ticked rows: posts and the revisions that the person saw.
func chosenPosts(r *http.Request) ([]db.PostAct, error) {
	if err := r.ParseForm(); err != nil {
		return nil, model.RefuseField("post", "This form did not arrive whole. Try again.")
	}
	var list []db.PostAct
	for _, v := range r.PostForm["post"] {
		post, seen, _ := strings.Cut(v, ":")
		n, err := web.Count(seen)
		if err != nil {
			return nil, model.Refuse(model.NotFound, "There is no such post.")
		}
		one := db.PostAct{Post: model.PostID(web.ID(post)), Seen: n}
		if !slices.ContainsFunc(list, func(c db.PostAct) bool { return c.Post == one.Post }) {
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

// createSubmissions answers POST /posts/submissions: approval is asked for every
// chosen post that can be submitted, with one mail per person for all of them.
func (d *Desk) createSubmissions(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.bulk(w, r, scope, "submitted for approval", func(list []db.PostAct) (done []db.Done, err error) {
		var asks []db.Submission
		for _, c := range list {
			asks = append(asks, db.Submission(c))
		}
		out, err := scope.SubmitPosts(r.Context(), web.SentKey(r), asks)
		return out.Done, err
	})
}

// createRetries answers POST /posts/retries: what failed in the chosen posts and
// is safe to send again goes on its way.
func (d *Desk) createRetries(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.bulk(w, r, scope, "on the way again", func(list []db.PostAct) ([]db.Done, error) {
		out, err := scope.RetryPosts(r.Context(), web.SentKey(r), list)
		return out.Done, err
	})
}

// createSchedules answers POST /posts/schedules: what is approved in the chosen posts
// is scheduled for the time that it has in mind.
func (d *Desk) createSchedules(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.bulk(w, r, scope, "scheduled", func(list []db.PostAct) ([]db.Done, error) {
		out, err := scope.SchedulePosts(r.Context(), web.SentKey(r), list)
		return out.Done, err
	})
}

// createCancellations answers POST /posts/cancellations: what is on its way of the
// chosen posts does not go out.
func (d *Desk) createCancellations(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.bulk(w, r, scope, "cancelled", func(list []db.PostAct) ([]db.Done, error) {
		out, err := scope.CancelPosts(r.Context(), web.SentKey(r), list)
		return out.Done, err
	})
}

// bulk runs do on the chosen posts and says what became of them: the next page
// says it in a sentence if all went well, else the list comes back with each
// refusal and the refused posts still chosen.
func (d *Desk) bulk(w http.ResponseWriter, r *http.Request, scope *db.Scope, words string, do func([]db.PostAct) ([]db.Done, error)) error {
	list, err := chosenPosts(r)
	if err != nil {
		return err
	}
	done, err := do(list)
	if err != nil {
		return err
	}
	if said := refusedOf(done); len(said) > 0 {
		return d.drawOutcome(w, r, scope, len(done)-len(said), words, said, func(*page) {})
	}
	l := postsLookup(scope, r.URL.Query())
	return d.say(w, r, l.address(l.values), countPosts(len(done))+" "+words+".")
}

// refusedOf are the posts of a batch that stayed as they were.
func refusedOf(done []db.Done) []db.Done {
	return slices.DeleteFunc(slices.Clone(done), func(one db.Done) bool { return one.No == nil })
}

// drawOutcome shows the list after a bulk action of which not all went well.
func (d *Desk) drawOutcome(w http.ResponseWriter, r *http.Request, scope *db.Scope, done int, words string, said []db.Done, with func(*page)) error {
	status := http.StatusOK
	if done == 0 {
		status = web.Status(said[0].No)
	}
	if status == http.StatusNotFound {
		return said[0].No
	}
	return d.drawPosts(w, r, scope, postsLookup(scope, r.URL.Query()), status, func(p *calendar.PostsProps, screen *page) {
		p.Outcome = &calendar.Outcome{Title: countPosts(done) + " " + words + ", " + strconv.Itoa(len(said)) + " not"}
		for i := range p.Posts {
			p.Posts[i].Chosen = false
		}
		for _, s := range said {
			p.Outcome.Said = append(p.Outcome.Said, nameRefused(scope, p.Posts, s))
		}
		with(screen)
	})
}

// nameRefused says a refusal by the first words of its post, where the page has
// it, and leaves the post chosen.
func nameRefused(scope *db.Scope, rows []calendar.Post, s db.Done) calendar.Said {
	one := calendar.Said{Post: "Post " + id(s.Post), Href: at(scope, "/posts/"+id(s.Post)), Why: s.No.Error()}
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
