package library

import (
	"fmt"
	"strconv"

	"herald/db/model"
)

func number[T ~int | ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// count says how many of something: one file, 3 files.
func count(n int, thing string) string {
	if n == 1 {
		return "one " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// Uses is how many posts use a file.
type Uses struct{ Posts, Scheduled, Published int }

// Words says where a file is used: "In 3 scheduled posts".
func (u Uses) Words() string {
	switch {
	case u.Scheduled > 0:
		return "In " + count(u.Scheduled, "scheduled post")
	case u.Published > 0:
		return "Published in " + count(u.Published, "post")
	case u.Posts > 0:
		return "In " + count(u.Posts, "post")
	}
	return "Not used yet"
}

func cardID(id model.MediaID) string { return fmt.Sprintf("asset-%d", id) }

// Bytes says a size as people do: 340 KB, 1.2 MB, 3.4 GB.
func Bytes(n int64) string {
	switch {
	case n < 1<<20:
		return fmt.Sprintf("%d KB", (n+1023)>>10)
	case n < 10<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n < 1<<30:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}

// Length says how long a video is: 0:07, 1:02:03.
func Length(ms int64) string {
	s := (ms + 500) / 1000
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
