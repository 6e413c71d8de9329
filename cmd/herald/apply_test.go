package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herald/cmd/internal/declare"
)

func TestApplyPrintsAnExampleThatParses(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := applyCommand(t.Context(), []string{"--example"}, &out); err != nil {
		t.Fatal(err)
	}
	if _, err := declare.Parse(declare.Source{Name: "stdout", Text: out.Bytes()}); err != nil {
		t.Error(err)
	}
}

func TestApplyWithoutAFileIsWrongUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--wrong", "x.yaml"}} {
		if err := applyCommand(t.Context(), args, &bytes.Buffer{}); !errors.Is(err, errUsage) {
			t.Errorf("%q: got %v", args, err)
		}
	}
}

func TestApplyNamesFileAndLineBeforeItAsksForADatabase(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "agency.yaml")
	if err := os.WriteFile(name, []byte("plans:\n  - nmae: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := applyCommand(t.Context(), []string{name}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), name+":2: ") {
		t.Errorf("got %v", err)
	}
}

func TestEveryCommandRefusesASettingThatHeraldDoesNotKnow(t *testing.T) {
	t.Setenv("HERALD_TIKC", "1s")
	for _, c := range commands() {
		if c.name == "apply" || c.name == "demo" {
			continue // apply wants its file first; demo reads as serve does
		}
		if err := c.run(t.Context(), nil, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "did you mean HERALD_TICK") {
			t.Errorf("herald %s: %v", c.name, err)
		}
	}
}
