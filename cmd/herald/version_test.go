package main

import (
	"runtime/debug"
	"testing"
)

func TestTheVersionSaysWhatIsKnownOfItsCommit(t *testing.T) {
	t.Parallel()
	at := func(modified string) *debug.BuildInfo {
		return &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: modified}}}
	}
	for want, got := range map[string]string{
		"commit abc":                     builtFrom(at("false"), true),
		"commit abc with changes on top": builtFrom(at("true"), true),
		"built without its history, so the commit is not known": builtFrom(&debug.BuildInfo{}, true),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
