package desk

import (
	"context"
	"net/http"
	"slices"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
)

// change carries out an intent that changes the form and saves nothing.
func (e *editing) change(ctx context.Context) error {
	var err error
	switch e.form.do {
	case "refresh":
	case "all", "none":
		err = e.chooseAll(e.form.do == "all")
	case "customise", "shared", "fit":
		err = e.changeVariant(network.Name(e.form.arg))
	case "up", "down", "place", "remove":
		err = e.moveFile()
	case "thread", "unthread", "undo-thread", "split", "piece-add", "piece-cut", "piece-remove", "piece-up", "piece-down", "piece-place":
		err = e.changeThread()
	case "own-up", "own-down", "own-place":
		err = e.moveOwnFile()
	case "alt":
		err = e.takeAlt()
	case "attach", "arrive":
		err = e.pick(ctx)
	case "library":
		err = e.openPicker(ctx)
	case "words", "insert", "template":
		err = e.changeWords(ctx)
	case "theirs", "both":
		err = e.settle(ctx)
	case "at":
		err = e.form.when.take(e.form.arg)
	default:
		err = model.Refuse(model.Unprocessable, "Herald does not know that button. Load the page again.")
	}
	if err != nil {
		return err
	}
	return e.check(ctx)
}

// chooseAll chooses all accounts of one client, or none of them.
func (e *editing) chooseAll(all bool) error {
	list, err := ids[model.ClientID]([]string{e.form.arg})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(e.clients, func(c db.ComposerClient) bool { return c.ID == list[0] })
	if i < 0 {
		return model.Refuse(model.NotFound, "There is no such client.")
	}
	for _, a := range e.clients[i].Accounts {
		e.form.content.Accounts = slices.DeleteFunc(e.form.content.Accounts, func(id model.AccountID) bool { return id == a.ID })
		if all && a.State != "disabled" {
			e.form.content.Accounts = append(e.form.content.Accounts, a.ID)
		}
	}
	slices.Sort(e.form.content.Accounts)
	return nil
}

// changeVariant gives a network words of its own, takes them away, or cuts them
// to what fits: the cut text stands in the form and is what is sent.
func (e *editing) changeVariant(name network.Name) error {
	if _, ok := network.Get(name); !ok {
		return model.Refuse(model.NotFound, "There is no such network.")
	}
	if e.form.do == "shared" {
		delete(e.form.variants, name)
		return nil
	}
	v, own := e.form.variants[name]
	if !own {
		v = variantForm{text: e.form.content.Text, link: e.form.content.Link, comment: e.form.content.FirstComment}
	}
	if !slices.Contains(v.own, partText) {
		v.own = append(v.own, partText)
	}
	if e.form.do == "fit" {
		v.text = e.fitted(name)
	}
	e.form.variants[name] = v
	return nil
}

// fitted is the text cut so that it fits every chosen account of a network.
func (e *editing) fitted(name network.Name) (text string) {
	first := true
	for _, t := range e.checked.Targets {
		if t.Network == nil || t.Network.Name != name {
			continue
		}
		draft := t.Draft
		if !first {
			draft.Text = text
		}
		first = false
		short, _ := t.Network.Fit(draft)
		text = network.Untag(short.Text, t.Links)
	}
	return text
}

// takeAlt gives an attachment the alt text that it has in the library.
func (e *editing) takeAlt() error {
	list, err := ids[model.MediaID]([]string{e.form.arg})
	if err != nil {
		return err
	}
	for i, m := range e.form.content.Media {
		if m.ID == list[0] {
			e.form.content.Media[i].Alt = e.assets[m.ID].Alt
		}
	}
	return nil
}

// drawParts answers htmx with those parts of the page that a change of the form
// can change. The one that was asked for is the answer; the others come beside.
func (e *editing) drawParts(w http.ResponseWriter, r *http.Request) error {
	return e.drawChanged(w, r, e.form.do)
}

// drawMedia answers htmx after files came with the form or from an address.
func (e *editing) drawMedia(w http.ResponseWriter, r *http.Request) error {
	if e.form.do == "fetch" {
		return e.drawChanged(w, r, "fetch")
	}
	return e.drawChanged(w, r, "upload")
}

// drawCheck answers htmx while somebody types.
func (e *editing) drawCheck(w http.ResponseWriter, r *http.Request) error {
	return e.drawChanged(w, r, "check")
}

func (e *editing) drawChanged(w http.ResponseWriter, r *http.Request, do string) error {
	if do != "check" || e.asked() || e.foot().First() != e.form.way {
		if err := e.readNext(r.Context()); err != nil {
			return err
		}
	}
	return web.Render(w, r, http.StatusOK, e.changed(do))
}
