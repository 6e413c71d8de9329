package model

import (
	"strings"
	"time"
)

// LoadZone returns the time zone of an IANA name. It refuses what is none, and
// what would depend on the machine: "Local", the empty name, and the variants
// that some systems keep beside the real ones.
func LoadZone(name string) (*time.Location, error) {
	location, err := time.LoadLocation(name)
	if err != nil || !portable(name) {
		return nil, RefuseField("zone", "Choose a time zone from the list, as Europe/Berlin.")
	}
	return location, nil
}

// portable says whether a name means the same on every machine. Names of the
// database start with a capital; posix/..., right/... and localtime do not.
func portable(name string) bool {
	return name != "" && name != "Local" && len(name) <= 64 && name[0] >= 'A' && name[0] <= 'Z' && !strings.Contains(name, "..")
}
