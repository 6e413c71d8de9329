package network

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/db/model"
)

// Recipe says how a file becomes what a network takes. It says all of it, so that
// whoever follows it need not know the network, and networks that want the same
// share the result. The zero Recipe sends the file as it is.
type Recipe struct {
	Type   string     // MIME type of the result
	Crop   model.Crop // the part that is shown; zero: all
	Width  int        // of the result, in pixels
	Height int
	Bytes  int64 // the result may have; zero: any number
	// Of a video.
	Codec   string  // h264, with aac sound; empty keeps what it has
	FPS     float64 // at most, or where it is steady exactly; zero keeps it
	BitRate int64   // bits a second that bring it within Bytes; zero: as good as it needs
}

// Zero says whether the file is sent as it is.
func (r Recipe) Zero() bool { return r == Recipe{} }

// String writes what ParseRecipe reads; nothing for the zero Recipe. One recipe
// is always written the same way.
func (r Recipe) String() string {
	if r.Zero() {
		return ""
	}
	out := fmt.Sprintf("%s %dx%d", r.Type, r.Width, r.Height)
	if c := r.Crop; !c.Whole() {
		out += fmt.Sprintf(" crop=%d,%d,%d,%d", c.X, c.Y, c.Width, c.Height)
	}
	if r.Bytes > 0 {
		out += fmt.Sprintf(" bytes=%d", r.Bytes)
	}
	if r.Codec != "" {
		out += " codec=" + r.Codec
	}
	if r.FPS > 0 {
		out += " fps=" + strconv.FormatFloat(r.FPS, 'f', -1, 64)
	}
	if r.BitRate > 0 {
		out += fmt.Sprintf(" rate=%d", r.BitRate)
	}
	return out
}

// ParseRecipe reads a recipe. It refuses what String does not write.
func ParseRecipe(s string) (r Recipe, err error) {
	if s == "" {
		return r, nil
	}
	words := strings.Split(s, " ")
	if len(words) < 2 {
		return r, fmt.Errorf("%.100q is no recipe", s)
	}
	r.Type = words[0]
	_, err = fmt.Sscanf(words[1], "%dx%d", &r.Width, &r.Height)
	for _, w := range words[2:] {
		name, value, _ := strings.Cut(w, "=")
		if err == nil {
			err = r.set(name, value)
		}
	}
	if err != nil || r.String() != s {
		return Recipe{}, fmt.Errorf("%.100q is no recipe", s)
	}
	return r, nil
}

func (r *Recipe) set(name, value string) (err error) {
	switch name {
	case "crop":
		_, err = fmt.Sscanf(value, "%d,%d,%d,%d", &r.Crop.X, &r.Crop.Y, &r.Crop.Width, &r.Crop.Height)
	case "bytes":
		r.Bytes, err = strconv.ParseInt(value, 10, 64)
	case "codec":
		r.Codec = value
	case "fps":
		r.FPS, err = strconv.ParseFloat(value, 64)
	case "rate":
		r.BitRate, err = strconv.ParseInt(value, 10, 64)
	}
	return err
}

// Framing is what people chose of a file for a network: the part that is shown,
// or at least the point that has to stay in view.
type Framing struct {
	Crop  model.Crop
	Focal model.Focal
}

// Serving is a file on its way to a network.
type Serving struct {
	Recipe  Recipe
	Media   Media // as it will be sent, as far as it is known before it is made
	Cropped bool  // Herald chose the crop, since the network wants another shape
	Stilled bool  // it moves, and its first frame is sent
	Fits    bool  // the network takes what will be sent, as far as anybody knows
}

// Serve says how a file is sent in a post of a format. What no recipe can help (a
// picture that is too small, a video that is too long) stays for Check to say. It
// guesses nothing about a file whose size nobody knows.
func (n *Network) Serve(f Format, m Media, frame Framing) (s Serving) {
	s.Media = m
	format, ok := n.Rule(f)
	if !ok || m.Pending || m.Width <= 0 || m.Height <= 0 {
		return s
	}
	rule, taken := format.file(m.Kind)
	if !taken {
		return s
	}
	defer func() { s.Fits = len(rule.faults(s.Media, n.Label)) == 0 }()
	if m.Kind == Document {
		return s
	}
	if m.Type == gifType {
		if frame.Crop.Whole() && rule.moves(m, n.Label) {
			return s
		}
		rule, s.Stilled, s.Media.Frames = rule.still(), true, 0
	}
	c := cook{rule: rule, m: m, crop: frame.Crop}
	c.shape(frame)
	c.size()
	c.kind()
	if m.Kind == Video {
		c.video()
	}
	if !c.needed {
		return s
	}
	s.Recipe, s.Cropped = c.recipe(), c.chosen
	s.Media.Type, s.Media.Width, s.Media.Height = s.Recipe.Type, s.Recipe.Width, s.Recipe.Height
	c.promise(&s.Media, s.Recipe)
	return s
}

// cook works out one recipe.
type cook struct {
	rule          FileRule
	m             Media
	crop          model.Crop
	chosen        bool // by Herald
	width, height int  // of the result
	mime          string
	codec         string
	fps           float64
	rate          int64
	needed        bool
}

// shape keeps what a person chose. A picture of a shape that the network refuses
// is cropped around its focal point; a video is not, since that takes most of what
// moves out of view.
func (c *cook) shape(frame Framing) {
	switch {
	case !c.crop.Whole() && c.crop.Within(c.m.Width, c.m.Height):
		if c.crop.Width == c.m.Width && c.crop.Height == c.m.Height {
			c.crop = model.Crop{}
		}
	case c.m.Kind == Image && !shapely(c.m.Width, c.m.Height, c.rule.MinShape, c.rule.MaxShape):
		c.crop, c.chosen = around(frame.Focal, c.m.Width, c.m.Height, c.rule.MinShape, c.rule.MaxShape), true
	default:
		c.crop = model.Crop{}
	}
	c.width, c.height = c.m.Width, c.m.Height
	if !c.crop.Whole() {
		c.width, c.height, c.needed = c.crop.Width, c.crop.Height, true
	}
}

// around is the largest part of an allowed shape whose middle is as near to the
// focal point as the edges let it be.
func around(at model.Focal, width, height int, least, most float64) model.Crop {
	part := model.Crop{Width: width, Height: height}
	if shape := float64(width) / float64(height); shape < least {
		part.Height = int(float64(width) / least)
	} else {
		part.Width = int(math.Ceil(float64(height) * most))
	}
	part.Width, part.Height = max(1, min(part.Width, width)), max(1, min(part.Height, height))
	part.X = max(0, min(width-part.Width, width*at.X/1000-part.Width/2))
	part.Y = max(0, min(height-part.Height, height*at.Y/1000-part.Height/2))
	return part
}

// size scales down what is too wide or has too many pixels.
func (c *cook) size() {
	k := 1.0
	if c.rule.MaxWidth > 0 && c.width > c.rule.MaxWidth {
		k = float64(c.rule.MaxWidth) / float64(c.width)
	}
	if pixels := float64(c.width) * float64(c.height) * k * k; c.rule.Pixels > 0 && pixels > float64(c.rule.Pixels) {
		k *= math.Sqrt(float64(c.rule.Pixels) / pixels)
	}
	if k < 1 {
		c.width, c.height, c.needed = max(1, int(float64(c.width)*k)), max(1, int(float64(c.height)*k)), true
	}
}

// kind takes a type that the network takes. Where a file has too many bytes, the
// type is one that can be made with fewer.
func (c *cook) kind() {
	c.mime = c.m.Type
	taken := len(c.rule.Types) == 0 || slices.Contains(c.rule.Types, c.mime)
	heavy := c.m.Kind == Image && c.rule.Bytes > 0 && c.m.Bytes > c.rule.Bytes // of a video see weigh
	c.needed = c.needed || !taken || heavy
	made := []string{"image/jpeg", "image/png"}
	if c.m.Kind == Video {
		made = []string{"video/mp4"}
	}
	if taken && !heavy && slices.Contains(made, c.mime) {
		return
	}
	for _, t := range made {
		if len(c.rule.Types) == 0 || slices.Contains(c.rule.Types, t) {
			c.mime = t
			return
		}
	}
}

// video looks at what ffprobe found. What nobody looked at stays as it is.
func (c *cook) video() {
	r, m := c.rule, c.m
	other := m.VideoCodec != "" && len(r.Codecs) > 0 && !slices.Contains(r.Codecs, m.VideoCodec)
	other = other || m.AudioCodec != "" && len(r.Sound) > 0 && !slices.Contains(r.Sound, m.AudioCodec)
	switch {
	case m.FPS > 0 && r.MaxFPS > 0 && m.FPS > r.MaxFPS+0.5:
		c.fps, other = r.MaxFPS, true
	case m.FPS > 0 && r.MinFPS > 0 && m.FPS < r.MinFPS-0.5:
		c.fps, other = r.MinFPS, true
	}
	c.weigh()
	c.needed = c.needed || other || c.rate > 0
	if c.needed {
		c.codec = "h264"
		c.width, c.height = max(2, c.width&^1), max(2, c.height&^1) // H.264 halves the colours both ways
	}
}

// leastRate is what a picture of a phone's size needs to be worth looking at.
const leastRate = 300_000

// weigh finds the bit rate that brings a video within the network's bytes. Below
// leastRate nothing is promised, and Check says that the file is too large.
func (c *cook) weigh() {
	seconds := c.m.Duration.Seconds()
	if seconds <= 0 {
		return
	}
	has, most := int64(float64(c.m.Bytes)*8/seconds), c.rule.BitRate
	if c.rule.Bytes > 0 && c.m.Bytes > c.rule.Bytes {
		fits := int64(float64(c.rule.Bytes) * 8 / seconds * 0.94)
		if fits < leastRate {
			return
		}
		if most == 0 || fits < most {
			most = fits
		}
	}
	if most > 0 && has > most {
		c.rate = most / 1000 * 1000
	}
}

func (c *cook) recipe() Recipe {
	return Recipe{Type: c.mime, Crop: c.crop, Width: c.width, Height: c.height, Bytes: c.rule.Bytes, Codec: c.codec, FPS: c.fps, BitRate: c.rate}
}

// promise says what the result will be, which whoever makes it keeps to or fails.
func (c *cook) promise(m *Media, r Recipe) {
	if m.Kind == Image {
		if r.Bytes > 0 {
			m.Bytes = min(m.Bytes, r.Bytes)
		}
		return
	}
	if r.Codec == "" {
		return
	}
	m.VideoCodec = r.Codec
	if m.AudioCodec != "" {
		m.AudioCodec = "aac"
	}
	if r.FPS > 0 {
		m.FPS = r.FPS
	}
	if r.BitRate > 0 {
		m.Bytes = min(m.Bytes, r.BitRate*int64(m.Duration/time.Second)/8)
	}
}

// Ahead lists, each once, the recipes of what a file is most likely to be sent as:
// in every format that takes it as one of its kind, stories of video aside, which
// are few and cost the most.
func (n *Network) Ahead(m Media, frames map[string]Framing) (list []Recipe) {
	for _, rule := range n.Formats {
		if m.Kind == Video && rule.Format == FormatStory {
			continue
		}
		s := n.Serve(rule.Format, m, frames[PresetOf(n.Name, rule.Format)])
		if s.Fits && !s.Recipe.Zero() && !slices.Contains(list, s.Recipe) {
			list = append(list, s.Recipe)
		}
	}
	return list
}

// previewSide is the longer side of a video that is only looked at, in pixels.
const previewSide = 1280

// Played says whether browsers play a video as it is. What nobody looked into may
// be played.
func (m Media) Played() bool {
	return m.Kind != Video || m.VideoCodec == "" || slices.Contains([]string{"h264", "vp8", "vp9", "av1"}, m.VideoCodec)
}

// Plays says whether browsers play what the recipe makes, and show all of it.
func (r Recipe) Plays() bool { return r.Codec == "h264" && r.Crop.Whole() }

// Preview is the recipe of a video to look at, where browsers do not play the file
// itself; zero where they do.
func (m Media) Preview() Recipe {
	if m.Played() || m.Width <= 0 || m.Height <= 0 {
		return Recipe{}
	}
	k := min(1, previewSide/float64(max(m.Width, m.Height)))
	side := func(n int) int { return max(2, int(float64(n)*k)&^1) }
	return Recipe{Type: "video/mp4", Width: side(m.Width), Height: side(m.Height), Codec: "h264"}
}
