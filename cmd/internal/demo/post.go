package demo

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"herald/db/model"
	"herald/db/network"
)

//go:embed posts.yaml
var postsYAML []byte

// draft is one post of posts.yaml, whose head says what the keys mean.
type draft struct {
	Client   string
	Written  int
	By       string
	Due      string
	To       []string
	Text     string
	Link     string
	Comment  string
	For      map[network.Name]string
	Options  map[network.Name]map[string]string
	Pictures []painting
	Labels   []string
	Campaign string
	Notes    string
	Stop     stop
	Words    string
	Revised  string
	Remarks  []remark
	Trouble  []trouble
	Retried  bool
}

// remark is a comment on a post. By is the name in front of an address.
type remark struct {
	By, To, Text string
}

// stop is how far a post got.
type stop string

const (
	stopScheduled stop = ""
	stopDraft     stop = "draft"
	stopReview    stop = "review"
	stopClient    stop = "client"
	stopLast      stop = "last"
	stopChanges   stop = "changes"
	stopRejected  stop = "rejected"
	stopApproved  stop = "approved"
	stopCancelled stop = "cancelled"
)

// painting is a picture: a number and a shape.
type painting struct {
	seed  uint64
	shape string
}

var shapes = map[string][2]int{"square": {960, 960}, "tall": {960, 1200}, "wide": {1280, 720}}

// UnmarshalYAML reads "7 square".
func (p *painting) UnmarshalYAML(n *yaml.Node) (err error) {
	number, shape, _ := strings.Cut(n.Value, " ")
	p.shape = shape
	p.seed, err = strconv.ParseUint(number, 10, 32)
	if _, known := shapes[shape]; !known || err != nil {
		return fmt.Errorf("line %d: %q is no picture like 7 square", n.Line, n.Value)
	}
	return nil
}

func readDrafts() (list []draft, err error) {
	d := yaml.NewDecoder(bytes.NewReader(postsYAML))
	d.KnownFields(true)
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("posts.yaml: %w", err)
	}
	for i := range list {
		if list[i].By == "" {
			list[i].By = "mia"
		}
	}
	return list, nil
}

// when is the planned time on the clocks of zone; zero if there is none. A time
// counted from now is rounded up to a minute.
func (d draft) when(now time.Time, zone string) (model.When, error) {
	day, clock, fixed := strings.Cut(d.Due, " ")
	switch {
	case d.Due == "":
		return model.When{}, nil
	case fixed:
		n, err := strconv.Atoi(day)
		if err != nil {
			return model.When{}, fmt.Errorf("posts.yaml: %q is no number of days", day)
		}
		return dayAt(now, n, clock, zone)
	}
	after, err := time.ParseDuration(d.Due)
	if err != nil {
		return model.When{}, fmt.Errorf("posts.yaml: %q is no time", d.Due)
	}
	return model.At(now.Add(after+time.Minute-1).Truncate(time.Minute), zone)
}

// dayAt is a clock time on the day that many days from today. One that the clocks
// skip becomes the next that they show.
func dayAt(now time.Time, days int, clock, zone string) (model.When, error) {
	location, err := model.LoadZone(zone)
	if err != nil {
		return model.When{}, err
	}
	today := now.In(location)
	day := time.Date(today.Year(), today.Month(), today.Day()+days, 0, 0, 0, 0, time.UTC)
	local, err := model.ParseLocal(day.Format(time.DateOnly) + "T" + clock)
	if err != nil {
		return model.When{}, err
	}
	when, err := model.Resolve(local, zone, model.Once)
	if gap, ok := errors.AsType[*model.Gap](err); ok {
		return gap.After, nil
	}
	return when, err
}

// words puts the day of the post into a text.
func words(text string, when model.When) string {
	if when.At.IsZero() {
		return text
	}
	day := when.Local.Wall()
	return strings.NewReplacer("{weekday}", day.Weekday().String(), "{date}", day.Format("2 January")).Replace(text)
}
