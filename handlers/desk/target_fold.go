package desk

import (
	"fmt"
	"slices"
	"time"

	"herald/views/target"
)

const (
	longestLap  = 3 // into line, at work, put off: the longest that comes again by itself
	fewestTurns = 3 // fewer stand as they are
)

// fold makes one of what comes again and again, step by step the same: a look-up
// that finds no answer, a wait that is put off. The first turn stays, and says
// how often it came and until when; requests are those of the last.
func fold(steps []step, zone string) (folded []step) {
	for len(steps) > 0 {
		lap, turns := repeats(steps)
		shown := slices.Clone(steps[:lap])
		if turns > 1 {
			closing, last := &shown[lap-1], steps[turns*lap-1]
			closing.entry.Lines = append(slices.Clone(closing.entry.Lines), turnsWords(turns, last.at, zone))
			for i := range shown {
				shown[i].entry.Calls = steps[(turns-1)*lap+i].entry.Calls
			}
		}
		folded, steps = append(folded, shown...), steps[turns*lap:]
	}
	return folded
}

// repeats says how many steps at the beginning make a lap that comes again, and
// how often it comes. Without one it is one step, once.
func repeats(steps []step) (lap, turns int) {
	for lap := 1; lap <= longestLap; lap++ {
		turns := 1
		for (turns+1)*lap <= len(steps) && slices.EqualFunc(steps[:lap], steps[turns*lap:(turns+1)*lap], sameStep) {
			turns++
		}
		if turns >= fewestTurns {
			return lap, turns
		}
	}
	return 1, 1
}

// sameStep says whether two steps differ in nothing but their time and requests.
func sameStep(a, b step) bool {
	x, y := a.entry, b.entry
	return a.kind == b.kind && x.State == y.State && x.Title == y.Title && x.Who == y.Who && x.Say == y.Say && slices.Equal(x.Lines, y.Lines)
}

func turnsWords(turns int, last time.Time, zone string) string {
	return fmt.Sprintf("%d times in all, the last on %s", turns, exactTime(last, zone).Words)
}

// entries are steps as the timeline shows them.
func entries(steps []step, zone string) (trail []target.Entry) {
	for _, s := range steps {
		s.entry.At = exactTime(s.at, zone)
		trail = append(trail, s.entry)
	}
	return trail
}
