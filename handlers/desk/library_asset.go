package desk

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/library"
	"herald/views/ui"
)

func pathMedia(r *http.Request) model.MediaID { return model.MediaID(web.ID(r.PathValue("media"))) }

// showAsset answers GET /media/{media}: a file with all that is known of it, over
// the library where htmx asks.
func (d *Desk) showAsset(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	p, err := scope.Asset(r.Context(), pathMedia(r))
	if err != nil {
		return err
	}
	a := d.assetProps(scope, p)
	if a.Opens = web.FromHTMX(r); a.Opens {
		return web.Render(w, r, http.StatusOK, library.AssetDialog(a))
	}
	return d.show(w, r, scope, http.StatusOK, assetScreen(a), library.AssetPage(a))
}

func assetScreen(a library.Asset) page {
	p := libraryScreen(a.Card.Name)
	p.wide = false
	return p
}

// showAssetStanding answers GET /media/{media}/standing for a page that shows a
// file on its way.
func (d *Desk) showAssetStanding(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	p, err := scope.Asset(r.Context(), pathMedia(r))
	if err != nil {
		return err
	}
	return web.Render(w, r, http.StatusOK, library.AssetStanding(d.assetProps(scope, p)))
}

// describeAsset answers POST /media/{media} with the file as it is now.
func (d *Desk) describeAsset(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	seen, err := web.Count(r.PostFormValue("seen"))
	if err != nil {
		return errForm
	}
	form := library.Form{Name: typed(r.PostFormValue("name")), Alt: typed(r.PostFormValue("alt")), Tags: typed(r.PostFormValue("tags"))}
	words := db.MediaWords{Name: form.Name, Alt: form.Alt, Tags: strings.Split(form.Tags, ",")}
	refused := scope.DescribeMedia(r.Context(), pathMedia(r), seen, words)
	no, ok := model.Refused(refused)
	if refused != nil && (!ok || no.Kind == model.NotFound) {
		return refused
	}
	if refused == nil && !web.FromHTMX(r) {
		return d.say(w, r, at(scope, "/media/"+id(pathMedia(r))), "Saved.")
	}
	return d.drawAsset(w, r, scope, form, no)
}

// drawAsset shows a file after its form was sent: with everything typed where no
// says why it was not saved.
func (d *Desk) drawAsset(w http.ResponseWriter, r *http.Request, scope *db.Scope, form library.Form, no *model.Refusal) error {
	p, err := scope.Asset(r.Context(), pathMedia(r))
	if err != nil {
		return err
	}
	a, status := d.assetProps(scope, p), http.StatusOK
	if no == nil {
		a.Said = "Saved."
	} else {
		status = web.Status(no)
		form.Problems = map[string]string{no.Field: no.Say}
		if !slices.Contains([]string{"name", "alt", "tags"}, no.Field) {
			form.Problem = no.Say
		}
		a.Form = form
	}
	if web.FromHTMX(r) {
		return web.Render(w, r, status, library.AssetSaved(a))
	}
	return d.show(w, r, scope, status, assetScreen(a), library.AssetPage(a))
}

// retryAsset answers POST /media/{media}/retries: what stopped is tried again.
func (d *Desk) retryAsset(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := scope.RetryMedia(r.Context(), pathMedia(r)); err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/media/"+id(pathMedia(r))), "It is being looked at again.")
}

// assetProps are an asset with what can be done with it.
func (d *Desk) assetProps(scope *db.Scope, p db.AssetPage) library.Asset {
	path := at(scope, "/media/"+id(p.ID))
	a := library.Asset{Card: d.card(scope, p.LibraryAsset), Type: p.Type, Seen: p.Revision, Writes: p.MayWrite, Facts: assetFacts(scope, p),
		Form:  library.Form{Name: p.Name, Alt: p.Alt, Tags: strings.Join(p.Tags, ", ")},
		Paths: library.AssetPaths{Save: path, Standing: path + "/standing", Delete: at(scope, "/media/deletions"), Back: at(scope, "/media")}}
	if p.State == db.MediaReady {
		a.Source = d.mediaURL(scope, p.ID, "original")
		a.Plays = d.plays(scope, p)
	}
	if p.MayWrite && stuck(p) {
		a.Paths.Retry = path + "/retries"
	}
	seen := map[model.PostID]bool{}
	for _, u := range p.Uses {
		if !seen[u.Post] {
			a.Uses = append(a.Uses, useProps(scope, u))
		}
		seen[u.Post] = true
	}
	a.More = max(0, p.Usage.Posts-len(a.Uses))
	if p.State == db.MediaReady && p.Width > 0 {
		a.Crops = cropLinks(scope, p)
	}
	for _, m := range p.Renditions {
		one := rendition(m)
		if m.Recipe == (network.Media{Kind: p.Kind, VideoCodec: p.Probe.VideoCodec, Width: p.Width, Height: p.Height}).Preview().String() {
			one.Words += ", to look at here"
		}
		a.Made = append(a.Made, one)
	}
	return a
}

// cropLinks lead to the crop of each preset, with what is chosen there.
func cropLinks(scope *db.Scope, p db.AssetPage) (list []library.Crop) {
	if p.Kind == network.Document {
		return nil
	}
	for _, preset := range cropPresets(scope, p, "") {
		one := library.Crop{Href: preset.Href, Label: preset.Label, Say: "Automatic", Chosen: preset.Chosen, Later: preset.Later}
		if part, ok := p.Crops[preset.Key]; ok {
			one.Say = fmt.Sprintf("%d × %d", part.Width, part.Height)
		} else if preset.Key == "" {
			one.Say = fmt.Sprintf("%d\u00a0%% from the left, %d\u00a0%% down", p.Focal.X/10, p.Focal.Y/10)
		}
		list = append(list, one)
	}
	return list
}

// plays is the address of what browsers play, where they do not play the file.
func (d *Desk) plays(scope *db.Scope, p db.AssetPage) string {
	file := network.Media{Kind: p.Kind, VideoCodec: p.Probe.VideoCodec}
	for _, r := range p.Renditions {
		if recipe, err := network.ParseRecipe(r.Recipe); err == nil && !file.Played() && r.State == "ready" && recipe.Plays() {
			return d.mediaURL(scope, p.ID, model.RenditionFile(r.ID))
		}
	}
	return ""
}

// stuck says whether trying again may help.
func stuck(p db.AssetPage) bool {
	waits := p.State == db.MediaScanning && p.Reason != ""
	return p.State == db.MediaRefused || waits || slices.ContainsFunc(p.Renditions, func(r db.Rendition) bool { return r.State == "failed" })
}

// useProps is a post that uses an asset. One that the reader may not see has no
// address.
func useProps(scope *db.Scope, u db.Use) library.Use {
	one := library.Use{State: string(u.State), Words: u.Excerpt}
	if !u.Hidden {
		one.Href = postPath(scope, u.Post)
	}
	if u.DueAt != nil {
		one.When = ref(clientTime(*u.DueAt, scope.Workspace.Zone))
	}
	return one
}

func rendition(r db.Rendition) library.Rendition {
	one := library.Rendition{Standing: library.Standing{State: r.State, Say: r.Reason, Progress: r.Progress}}
	recipe, err := network.ParseRecipe(r.Recipe)
	if err == nil {
		one.Words = fmt.Sprintf("%s, %d × %d", typeWord(recipe.Type), cmp.Or(r.Width, recipe.Width), cmp.Or(r.Height, recipe.Height))
	}
	switch r.State {
	case "ready":
		one.Standing, one.Size = library.Standing{}, library.Bytes(r.Bytes)
	case "making":
		one.Standing.State, one.Standing.Words, one.Standing.Moves = "processing", "Being made", true
	case "waiting":
		one.Standing.Words, one.Standing.Moves = "Waits to be made", true
	}
	return one
}

func typeWord(mime string) string {
	_, kind, _ := strings.Cut(mime, "/")
	return strings.ToUpper(kind)
}

// assetFacts are what a look at the file found, in words.
func assetFacts(scope *db.Scope, p db.AssetPage) (facts []ui.Fact) {
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, ui.Fact{Name: name, Value: ui.Text(value)})
		}
	}
	add("Client", p.Client)
	add("Folder", p.Folder)
	if n := pagesOf(p.Asset); n > 0 {
		add("Length", pageWords(n))
		add("Kept", "As it was uploaded, with the author and title that are written in it")
	}
	if p.Width > 0 && p.Kind != network.Document {
		add("Size", fmt.Sprintf("%d × %d", p.Width, p.Height))
	}
	add("File", strings.TrimSpace(typeWord(p.Type)+", "+library.Bytes(max(p.Bytes, p.UploadedBytes))))
	if p.DurationMs > 0 {
		add("Length", library.Length(p.DurationMs))
	}
	add("Video", videoWords(p.Asset))
	facts = append(facts, ui.Fact{Name: "Added", Value: ui.Time(clientTime(p.CreatedAt, scope.Workspace.Zone))})
	return facts
}

// pagesOf is how many pages a document has; zero for anything else.
func pagesOf(a db.Asset) int {
	if a.Kind != network.Document {
		return 0
	}
	return int(a.Probe.Frames)
}

func pageWords(n int) string {
	if n == 1 {
		return "1 page"
	}
	return strconv.Itoa(n) + " pages"
}

// videoWords say how a video is encoded, or that nobody could look.
func videoWords(a db.Asset) string {
	if a.Kind != network.Video {
		return ""
	}
	if a.Probe.Tool == "ffprobe_missing" {
		return "Not measured: this Herald has no ffprobe"
	}
	var list []string
	if a.Probe.VideoCodec != "" {
		list = append(list, strings.ToUpper(a.Probe.VideoCodec))
	}
	if fps := a.Probe.FPS; fps > 0 {
		words := strconv.FormatFloat(fps, 'f', -1, 32) + " frames a second"
		if a.Probe.FPSVaries {
			words = "about " + words
		}
		list = append(list, words)
	}
	if has := a.Probe.HasAudio; has != nil && !*has {
		list = append(list, "no sound")
	} else if a.Probe.AudioCodec != "" {
		list = append(list, strings.ToUpper(a.Probe.AudioCodec)+" sound")
	}
	return strings.Join(list, ", ")
}

// asInUse finds the refusal that names posts.
func asInUse(err error) (*db.InUse, bool) { return errors.AsType[*db.InUse](err) }
