package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herald/cmd/internal/boot"
	"herald/db/network"
)

func TestDoctorSaysWhatAMissingProgramCosts(t *testing.T) {
	have := map[string]string{}
	for _, name := range []string{"ffmpeg", "ffprobe", "heif-convert", "pdftoppm"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatalf("%v; .tools/setup.sh installs it", err)
		}
		have[name] = path
	}
	for _, c := range []struct {
		names []string // that are there
		want  []string
	}{
		{[]string{"ffmpeg", "ffprobe", "heif-convert", "pdftoppm"}, []string{"ffmpeg and ffprobe are here", "heif-convert is here", "pdftoppm is here"}},
		{[]string{"ffmpeg"}, []string{"ffprobe is missing: nobody knows whether", "heif-convert is missing: HEIC photos", "pdftoppm is missing: PDFs are taken"}},
		{[]string{"ffprobe"}, []string{"ffmpeg is missing: videos get no poster", "heif-convert is missing", "pdftoppm is missing"}},
		{nil, []string{"ffmpeg and ffprobe are missing", "heif-convert is missing", "pdftoppm is missing"}},
	} {
		dir := t.TempDir()
		for _, name := range c.names {
			if err := os.Symlink(have[name], filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", dir)
		for i, f := range fileLines(t.Context()) {
			if good := strings.Contains(f.say, "here"); !strings.HasPrefix(f.say, c.want[i]) || f.bad || f.warn == good {
				t.Errorf("with %v: %+v, want %q", c.names, f, c.want[i])
			}
		}
	}
}

func TestDoctorSaysWhichConnectionsAndVersionsEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ending, lost int
		want         string
	}{
		{0, 0, "no connection is lost"}, {1, 0, "1 connection ends within two weeks"}, {0, 3, "3 connections are lost"},
		{2, 1, "2 connections end within two weeks unless somebody reconnects them; 1 connection is lost until"},
	} {
		if f := accountsFinding(c.ending, c.lost); !strings.HasPrefix(f.say, c.want) || f.bad || f.warn != (c.ending+c.lost > 0) {
			t.Errorf("%+v: %+v", c, f)
		}
	}
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	if list := versionLines(nil, now); len(list) != 1 || list[0].warn || list[0].bad {
		t.Errorf("what Herald asks for by itself: %+v", list)
	}
	if list := reviewLines(nil, now); len(list) != 1 || list[0].warn || list[0].bad {
		t.Errorf("reviews that nobody entered: %+v", list)
	}
	over := reviewLines(map[network.Name]string{network.TikTok: "2026-12-20", network.X: "2026-11-30"}, now)
	if len(over) != 2 || !over[0].warn || over[0].bad || !over[1].bad || over[1].warn || !strings.Contains(over[0].say, "HERALD_TIKTOK_REVIEW_UNTIL") {
		t.Errorf("%+v", over)
	}
	list := versionLines(map[network.Name]string{network.Facebook: "v21.0", network.LinkedIn: "202511"}, now)
	if len(list) != 2 || !list[0].warn || list[0].bad || !list[1].bad || list[1].warn || !strings.Contains(list[1].say, "HERALD_LINKEDIN_VERSION") {
		t.Errorf("%+v", list)
	}
}

func TestDoctorSaysThatFilesWaitForTheScanner(t *testing.T) {
	t.Parallel()
	c := boot.Config{Scanner: "clamav", ClamdAddr: filepath.Join(t.TempDir(), "clamd.sock")}
	if f := scannerLine(t.Context(), c); !f.bad || !strings.Contains(f.say, "does not answer, so every new file waits as not yet scanned") {
		t.Errorf("%+v", f)
	}
	c.Scanner = "signature"
	if f := scannerLine(t.Context(), c); !f.warn || f.bad || !strings.Contains(f.say, "only the EICAR test file is recognised") {
		t.Errorf("%+v", f)
	}
}
