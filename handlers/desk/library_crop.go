package desk

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/library"
	"herald/views/ui"
)

// freeShape is any shape that the preset takes.
const freeShape = "free"

// showCrop answers GET /media/{media}/crop?preset=instagram/post with the part of a
// file that the preset's posts show; without preset, with the point that stays in
// view where nobody chose a part.
func (d *Desk) showCrop(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	p, err := scope.Asset(r.Context(), pathMedia(r))
	if err != nil {
		return err
	}
	return d.drawCrop(w, r, scope, p, http.StatusOK, r.FormValue("preset"), r.FormValue("shape"), model.Crop{}, nil)
}

// drawCrop shows the cropper with part; with the zero part, with what is chosen or
// would be taken.
func (d *Desk) drawCrop(w http.ResponseWriter, r *http.Request, scope *db.Scope, p db.AssetPage, status int, key, shape string, part model.Crop, no *model.Refusal) error {
	if !p.MayWrite {
		return model.Refuse(model.Forbidden, "Your role does not allow changing files of this client. Ask an owner or admin of the workspace.")
	}
	if p.State.Lost() {
		return model.Refuse(model.Conflict, "This file was refused when it was checked, so there is nothing to crop.")
	}
	if p.Kind == network.Document {
		return model.Refuse(model.Conflict, "A document is sent as it is, so there is nothing to crop.")
	}
	if p.State != db.MediaReady || p.Width == 0 {
		return model.Refuse(model.Conflict, "This file is still being prepared. Crop it once it is ready.")
	}
	back := at(scope, "/media/"+id(p.ID))
	c := library.Cropper{Title: "Crop", Crumbs: []ui.Crumb{{Label: "Media", Href: at(scope, "/media")}, {Label: p.Name, Href: back}},
		Alt: cmp.Or(p.Alt, p.Name), Width: p.Width, Height: p.Height, Source: d.mediaURL(scope, p.ID, "original"), Presets: cropPresets(scope, p, key)}
	if p.Kind == network.Video {
		c.Source = d.mediaURL(scope, p.ID, "thumbnail")
	}
	if key == "" {
		c.Title, c.Focal = "Point to keep in view", &library.FocalPart{Action: back + "/focus", Back: back, X: p.Focal.X, Y: p.Focal.Y}
	} else {
		preset, ok := network.PresetFor(key, p.Kind)
		if !ok {
			return model.Refuse(model.NotFound, "Herald has no such crop.")
		}
		c.Title, c.Part = "Crop for "+preset.Label, cropPart(p, preset, shape, part)
		c.Part.Action, c.Part.Back = back+"/crop", back
		if no != nil {
			c.Part.Problem = no.Say
		}
	}
	screen := libraryScreen(c.Title)
	screen.wide, screen.modules = false, []string{"js/crop-frame.js"}
	return d.show(w, r, scope, status, screen, library.CropPage(c))
}

// cropPresets are all presets of a kind of file, and before them the point that
// counts where nobody chose. Those of networks that the client has no account on are
// for later.
func cropPresets(scope *db.Scope, p db.AssetPage, current string) []library.CropPreset {
	path := at(scope, "/media/"+id(p.ID)+"/crop")
	list := []library.CropPreset{{Label: "Point to keep in view", Href: path, Current: current == "", Chosen: p.Focal != model.Centre}}
	for _, n := range network.All() {
		for _, preset := range n.Presets(p.Kind) {
			_, chosen := p.Crops[preset.Key]
			later := !slices.Contains(p.Networks, string(n.Name)) && !chosen && preset.Key != current
			list = append(list, library.CropPreset{Later: later, Key: preset.Key, Label: preset.Label, Network: string(n.Name), Href: path + "?preset=" + url.QueryEscape(preset.Key), Current: preset.Key == current, Chosen: chosen})
		}
	}
	return list
}

// cropPart is the form of a part: what came with the form, else what was chosen,
// else the largest of the shape around the point to keep in view.
func cropPart(p db.AssetPage, preset network.Preset, shape string, part model.Crop) *library.CropPart {
	c := &library.CropPart{Preset: preset.Key, Crop: part, Least: preset.MinShape, Most: preset.MaxShape, Says: cropSays(preset)}
	kept, chosen := p.Crops[preset.Key]
	c.Chosen = chosen
	if c.Crop.Whole() {
		c.Crop = kept
	}
	fits := preset.Takes(p.Width, p.Height)
	if shape == "" && c.Crop.Whole() && !fits && len(preset.Aspects) > 0 {
		shape = preset.Aspects[0].Label
	}
	if shape == "" {
		shape = shapeOf(preset, c.Crop)
	}
	if c.Crop.Whole() {
		c.Crop = largest(p.Asset, preset, shape)
	}
	for _, a := range preset.Aspects {
		c.Shapes = append(c.Shapes, library.CropShape{Label: a.Label, Value: aspectValue(a), Current: a.Label == shape || aspectValue(a) == shape})
	}
	if preset.MinShape != preset.MaxShape || preset.MaxShape == 0 {
		c.Shapes = append(c.Shapes, library.CropShape{Label: "Free", Value: freeShape, Current: shape == freeShape})
	}
	return c
}

func aspectValue(a network.Aspect) string { return fmt.Sprintf("%d:%d", a.Width, a.Height) }

// shapeOf is the known shape that a part has, or any.
func shapeOf(preset network.Preset, part model.Crop) string {
	for _, a := range preset.Aspects {
		if part.Height > 0 && math.Abs(float64(part.Width)*float64(a.Height)/(float64(part.Height)*float64(a.Width))-1) < 0.005 {
			return aspectValue(a)
		}
	}
	return freeShape
}

// largest is the largest part of a shape, around the point to keep in view.
func largest(a db.Asset, preset network.Preset, shape string) model.Crop {
	part := model.Crop{Width: a.Width, Height: a.Height}
	for _, one := range preset.Aspects {
		if aspectValue(one) != shape && one.Label != shape {
			continue
		}
		k := min(float64(a.Width)/float64(one.Width), float64(a.Height)/float64(one.Height))
		if k >= 8 && one.Width < 20 {
			k = math.Floor(k) // whole numbers of the very shape
		}
		part.Width, part.Height = max(1, int(k*float64(one.Width))), max(1, int(k*float64(one.Height)))
	}
	part.X = max(0, min(a.Width-part.Width, a.Width*a.Focal.X/1000-part.Width/2))
	part.Y = max(0, min(a.Height-part.Height, a.Height*a.Focal.Y/1000-part.Height/2))
	return part
}

func cropSays(p network.Preset) string {
	word := func(shape float64) string {
		for _, a := range p.Aspects {
			if math.Abs(float64(a.Width)/float64(a.Height)/shape-1) < 0.005 {
				return a.Label
			}
		}
		return strconv.FormatFloat(shape, 'f', 2, 64) + ":1"
	}
	switch {
	case p.MaxShape == 0:
		return p.Label + " takes any shape."
	case p.MinShape == p.MaxShape:
		return p.Label + " wants " + word(p.MinShape) + "."
	}
	return p.Label + " takes shapes between " + word(p.MinShape) + " and " + word(p.MaxShape) + "."
}

// createCrop answers POST /media/{media}/crop. Nothing is cut: the part is kept
// beside the file, and posts that are saved from now on show it.
func (d *Desk) createCrop(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	media, key := pathMedia(r), r.PostFormValue("preset")
	p, err := scope.Asset(r.Context(), media)
	if err != nil {
		return err
	}
	do, part := r.PostFormValue("do"), readCrop(r)
	if do == "fit" {
		preset, _ := network.PresetFor(key, p.Kind)
		return d.drawCrop(w, r, scope, p, http.StatusOK, key, r.PostFormValue("shape"), largest(p.Asset, preset, r.PostFormValue("shape")), nil)
	}
	say := "Cropped for " + labelOf(key, p.Kind) + "."
	if do == "whole" {
		part, say = model.Crop{}, "Nobody's choice counts for "+labelOf(key, p.Kind)+" any more."
	} else if part.Whole() {
		part.Width = -1 // nothing is no part; taking back is another button
	}
	refused := scope.CropMedia(r.Context(), media, key, part)
	if no, ok := model.Refused(refused); ok && no.Kind == model.Unprocessable {
		return d.drawCrop(w, r, scope, p, web.Status(refused), key, r.PostFormValue("shape"), part, no)
	}
	if refused != nil {
		return refused
	}
	return d.say(w, r, shelfBack(scope, r.PostFormValue("back")), say)
}

func labelOf(key string, kind network.MediaKind) string {
	p, _ := network.PresetFor(key, kind)
	return p.Label
}

func readCrop(r *http.Request) model.Crop {
	read := func(name string) int {
		n, err := strconv.Atoi(r.PostFormValue(name))
		if err != nil {
			return -1
		}
		return n
	}
	return model.Crop{X: read("x"), Y: read("y"), Width: read("width"), Height: read("height")}
}

// createFocus answers POST /media/{media}/focus: where nobody chose a crop, this
// point stays in view.
func (d *Desk) createFocus(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	x, badX := strconv.Atoi(r.PostFormValue("x"))
	y, badY := strconv.Atoi(r.PostFormValue("y"))
	if badX != nil || badY != nil {
		return errForm
	}
	if err := scope.FocusMedia(r.Context(), pathMedia(r), model.Focal{X: x, Y: y}); err != nil {
		return err
	}
	return d.say(w, r, shelfBack(scope, r.PostFormValue("back")), "Crops keep this point in view from now on.")
}
