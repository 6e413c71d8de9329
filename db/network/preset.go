package network

import "slices"

// Preset is a frame that a person crops a file for: the formats of one network
// that want the same shape. "instagram/post" stands for its pictures and its
// carousels.
type Preset struct {
	Key      string
	Network  Name
	Label    string // "Instagram post"
	MinShape float64
	MaxShape float64  // width over height; zero: any
	Aspects  []Aspect // what the cropper offers, widest use first
}

// Aspect is a shape that people know by name.
type Aspect struct {
	Label         string // "4:5"
	Width, Height int
}

// PresetOf is the key of the preset that a format of a network is cropped by.
func PresetOf(n Name, f Format) string {
	switch f {
	case FormatReel, FormatStory:
		return string(n) + "/" + string(f)
	}
	return string(n) + "/post"
}

// Presets are those of a network for one kind of file, in the order of its
// formats.
func (n *Network) Presets(kind MediaKind) (list []Preset) {
	for _, r := range n.Formats {
		rule, taken := r.file(kind)
		if !taken {
			continue
		}
		key := PresetOf(n.Name, r.Format)
		if slices.ContainsFunc(list, func(p Preset) bool { return p.Key == key }) {
			continue
		}
		p := Preset{Key: key, Network: n.Name, Label: n.presetLabel(r.Format)}
		p.MinShape, p.MaxShape = rule.shape()
		p.Aspects = aspectsIn(p.MinShape, p.MaxShape)
		list = append(list, p)
	}
	return list
}

// PresetFor finds a preset of any network by its key.
func PresetFor(key string, kind MediaKind) (Preset, bool) {
	for _, n := range all {
		for _, p := range n.Presets(kind) {
			if p.Key == key {
				return p, true
			}
		}
	}
	return Preset{}, false
}

func (n *Network) presetLabel(f Format) string {
	switch f {
	case FormatReel:
		return n.Label + " reel"
	case FormatStory:
		return n.Label + " story"
	}
	return n.Label + " post"
}

// shape is what the rule, or else its advice, wants of width over height.
func (r FileRule) shape() (least, most float64) {
	if r.Advice != nil && r.Advice.MaxShape > 0 {
		return r.Advice.MinShape, r.Advice.MaxShape
	}
	return r.MinShape, r.MaxShape
}

// Takes says whether a file of that size has a shape that the preset wants.
func (p Preset) Takes(width, height int) bool { return shapely(width, height, p.MinShape, p.MaxShape) }

// shapely has half a percent of slack: 1200 × 628 is what everyone means by
// 1.91:1.
func shapely(width, height int, least, most float64) bool {
	if width <= 0 || height <= 0 {
		return false
	}
	shape := float64(width) / float64(height)
	return shape >= least*0.995 && (most == 0 || shape <= most*1.005)
}

// aspectsIn are the known shapes that lie in a range.
func aspectsIn(least, most float64) (list []Aspect) {
	for _, a := range []Aspect{{"1:1", 1, 1}, {"4:5", 4, 5}, {"9:16", 9, 16}, {"16:9", 16, 9}, {"1.91:1", 191, 100}, {"3:2", 3, 2}, {"2:3", 2, 3}} {
		if shapely(a.Width, a.Height, least, most) {
			list = append(list, a)
		}
	}
	return list
}
