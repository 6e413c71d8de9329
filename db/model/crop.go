package model

// Crop is a part of a picture or video, in pixels of the upright file. The zero
// Crop is the whole.
type Crop struct {
	X      int `json:"x"`
	Y      int `json:"y"`
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Whole says whether nothing is cut off.
func (c Crop) Whole() bool { return c == Crop{} }

// Within says whether the part lies inside a file of that size and is not empty.
func (c Crop) Within(width, height int) bool {
	return c.X >= 0 && c.Y >= 0 && c.Width > 0 && c.Height > 0 && c.Width <= width-c.X && c.Height <= height-c.Y
}

// Focal is the point of a picture that a crop keeps in view, in thousandths of
// its width and height.
type Focal struct {
	X int `json:"x"`
	Y int `json:"y"`
}

// Centre is the focal point where nobody chose one.
var Centre = Focal{500, 500}
