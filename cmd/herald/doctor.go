package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"herald/cmd/internal/boot"
	"herald/db"
	"herald/db/blob"
	"herald/db/network"
	"herald/db/picture"
	"herald/jobs/darkroom"
	"herald/static"
)

// finding is one line of the doctor. A warning does not make it fail.
type finding struct {
	what string
	say  string
	warn bool
	bad  bool
}

func doctorCommand(ctx context.Context, args []string, out io.Writer) error {
	f := flags("doctor")
	networks := f.Bool("networks", false, "print what each network takes, and what to see to before the first real post")
	if err := parse(f, args); err != nil {
		return err
	}
	if *networks {
		printNetworks(out)
		return nil
	}
	config, err := boot.Read(os.Environ())
	if err != nil {
		return err
	}
	bad := 0
	for _, f := range examine(ctx, config) {
		mark := "ok  "
		switch {
		case f.bad:
			mark = "BAD "
			bad++
		case f.warn:
			mark = "warn"
		}
		printFinding(out, mark, f, width(out))
	}
	switch {
	case bad == 1:
		return errors.New("one of the above needs a person")
	case bad > 1:
		return fmt.Errorf("%d of the above need a person", bad)
	}
	return nil
}

// doctorWidth fits most terminals.
const doctorWidth = 96

// width is how long a line may be: where programs read it, each finding is one.
func width(out io.Writer) int {
	if file, ok := out.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return doctorWidth
		}
	}
	return math.MaxInt
}

// printFinding prints a line, and goes on below its words where they are long.
func printFinding(out io.Writer, mark string, f finding, width int) {
	line := fmt.Sprintf("%s  %-10s", mark, f.what)
	for word := range strings.FieldsSeq(f.say) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width && strings.TrimSpace(line) != "" {
			fmt.Fprintln(out, line)
			line = strings.Repeat(" ", 16)
		}
		line += " " + word
	}
	fmt.Fprintln(out, line)
}

func examine(ctx context.Context, c boot.Config) []finding {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	doctor := doctor{c}
	app, err := boot.Open(ctx, c, c.Logger())
	storage := finding{what: "storage", say: "takes, gives back and deletes a file"}
	if boot.MediaTrouble(err) { // the rest can be looked at all the same
		storage = doctor.check("storage", "", err)
		elsewhere, failed := os.MkdirTemp("", "herald-doctor-*")
		if failed != nil {
			return []finding{storage}
		}
		defer os.RemoveAll(elsewhere)
		c.MediaURL = "file://" + elsewhere
		app, err = boot.Open(ctx, c, c.Logger())
	}
	if err != nil {
		var all []finding
		for _, say := range c.Explain(err) {
			all = append(all, finding{what: "settings", say: say, bad: true})
		}
		return all
	}
	defer app.Close()
	if !storage.bad {
		storage = doctor.check("storage", storage.say, blob.Check(ctx, app.Blobs))
	}
	all := []finding{
		{what: "settings", say: "all that is needed is set, and nothing that Herald does not know"},
		doctor.check("database", "answers, and every migration is applied", databases(ctx, app)),
		doctor.check("keys", "open every sealed token and link", keys(ctx, app)),
		doctor.check("redis", "answers", app.PingRedis(ctx)),
		storage, mailLine(ctx, c), scannerLine(ctx, c), doctor.clockLine(ctx, app), browserLine(), addressLine(c), privateLine(c),
		doctor.connectionLine(ctx, app),
	}
	all = append(all, versionLines(c.Versions(), app.Now())...)
	all = append(all, reviewLines(c.Reviews(), app.Now())...)
	return append(all, fileLines(ctx)...)
}

// doctor explains what it finds by the settings.
type doctor struct{ boot.Config }

func (d doctor) check(what, good string, err error) finding {
	if err != nil {
		return finding{what: what, say: strings.Join(d.Explain(err), " "), bad: true}
	}
	return finding{what: what, say: good}
}

// check is for what no setting explains.
func check(what, good string, err error) finding { return doctor{}.check(what, good, err) }

func databases(ctx context.Context, app *boot.App) error {
	if err := errors.Join(app.Store.Ping(ctx), app.Pipe.Ping(ctx)); err != nil {
		return err
	}
	return boot.Migrated(ctx, app.Store)
}

func keys(ctx context.Context, app *boot.App) error {
	n, err := app.Pipe.CountSealed(ctx)
	if err == nil && n.Shut > 0 {
		err = fmt.Errorf("%d %s", n.Shut, sayShut)
	}
	return err
}

func mailLine(ctx context.Context, c boot.Config) finding {
	if c.SMTPURL == "" {
		return finding{what: "mail", say: "HERALD_SMTP_URL is not set: mail waits and is not sent", bad: true}
	}
	u, err := url.Parse(c.SMTPURL)
	if err != nil || u.Host == "" {
		return finding{what: "mail", say: "HERALD_SMTP_URL is no address like smtp://user:password@host:587", bad: true}
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), map[string]string{"smtps": "465"}[u.Scheme])
		if u.Scheme != "smtps" {
			host = net.JoinHostPort(u.Hostname(), "587")
		}
	}
	return check("mail", "the mail server at "+u.Hostname()+" takes connections", dial(ctx, "tcp", host))
}

func dial(ctx context.Context, kind, addr string) error {
	d := net.Dialer{Timeout: 5 * time.Second}
	conn, err := d.DialContext(ctx, kind, addr)
	if err != nil {
		return err
	}
	return conn.Close()
}

func scannerLine(ctx context.Context, c boot.Config) finding {
	if c.Scanner == "signature" {
		return finding{what: "scanner", say: "only the EICAR test file is recognised; set HERALD_MEDIA_SCANNER=clamav in production", warn: true}
	}
	if err := c.MediaScanner().Ping(ctx); err != nil {
		return finding{what: "scanner", say: "clamd at " + c.ClamdAddr + " does not answer, so every new file waits as not yet scanned: " + err.Error(), bad: true}
	}
	return finding{what: "scanner", say: "clamd at " + c.ClamdAddr + " answers"}
}

// fileLines say what this machine can make of videos and photos, and what each
// program that is missing costs.
func fileLines(ctx context.Context) []finding {
	room, err := darkroom.New(picture.Standard())
	if err != nil {
		return []finding{check("video", "", err)}
	}
	tools := room.Tools()
	video := finding{what: "video", say: "ffmpeg and ffprobe are here: videos are measured, get a poster, and are converted where a network needs it"}
	switch {
	case !tools.Make && !tools.Probe:
		video.say, video.warn = "ffmpeg and ffprobe are missing: videos get no poster, are sent as they are, and nobody knows whether a network takes them; QuickTime movies are refused. Install ffmpeg", true
	case !tools.Make:
		video.say, video.warn = "ffmpeg is missing: videos get no poster and are sent as they are; QuickTime movies are refused. Install ffmpeg", true
	case !tools.Probe:
		video.say, video.warn = "ffprobe is missing: nobody knows whether a network takes a video's codecs and frame rate. Install ffmpeg", true
	case room.Encodes(ctx) != nil:
		video.say, video.warn = "ffmpeg is here and makes no H.264: videos that a network does not take as they are fail. Install one with libx264", true
	}
	photos := finding{what: "photos", say: "heif-convert is here: HEIC photos are taken"}
	if !tools.Photo {
		photos.say, photos.warn = "heif-convert is missing: HEIC photos, which iPhones make, are refused. Install libheif-examples", true
	}
	pages := finding{what: "documents", say: "pdftoppm is here: documents are shown by their first page"}
	if !tools.Page {
		pages.say, pages.warn = "pdftoppm is missing: PDFs are taken and sent, and shown by a sign instead of their first page. Install poppler-utils", true
	}
	return []finding{video, photos, pages}
}

// clockLine compares this machine's clock with the database's: posts leave by
// the one, and are recorded by it too.
func (d doctor) clockLine(ctx context.Context, app *boot.App) finding {
	there, err := app.Store.Clock(ctx)
	if err != nil {
		return d.check("clock", "", err)
	}
	if off := time.Since(there).Abs(); off > 2*time.Second {
		return finding{what: "clock", say: fmt.Sprintf("this machine and the database differ by %s; keep both by NTP", off.Round(time.Millisecond)), bad: true}
	}
	return finding{what: "clock", say: "agrees with the database's"}
}

// connectionLine says what people of the workspaces have to see to: they are told by
// mail as well.
func (d doctor) connectionLine(ctx context.Context, app *boot.App) finding {
	ending, lost, err := app.Pipe.CountConnections(ctx, app.Now().Add(db.EndsSoon))
	if err != nil {
		return d.check("accounts", "", err)
	}
	return accountsFinding(ending, lost)
}

func accountsFinding(ending, lost int) finding {
	f := finding{what: "accounts", say: "no connection is lost or ends within two weeks, as far as the networks say when they end", warn: ending+lost > 0}
	var say []string
	for _, c := range []struct {
		n         int
		one, more string
	}{
		{ending, "connection ends within two weeks unless somebody reconnects it", "connections end within two weeks unless somebody reconnects them"},
		{lost, "connection is lost until somebody reconnects it", "connections are lost until somebody reconnects them"},
	} {
		if c.n == 1 {
			say = append(say, "1 "+c.one)
		} else if c.n > 1 {
			say = append(say, fmt.Sprintf("%d %s", c.n, c.more))
		}
	}
	if len(say) > 0 {
		f.say = strings.Join(say, "; ")
	}
	return f
}

// versionLines say which versions of networks' APIs that Herald asks for end soon.
func versionLines(set map[network.Name]string, now time.Time) []finding {
	return endLines("versions", "no API version that Herald asks for ends within ninety days, as far as the networks have announced",
		func(n *network.Network) (string, bool) { return n.VersionEnds(set[n.Name], now) })
}

// reviewLines say which reviews of apps run out, as far as the operator entered when.
func reviewLines(until map[network.Name]string, now time.Time) []finding {
	return endLines("reviews", "no network's review of an app runs out within sixty days, as far as HERALD_<NETWORK>_REVIEW_UNTIL says when they do",
		func(n *network.Network) (string, bool) { return n.ReviewEnds(until[n.Name], now) })
}

// endLines say what ends of each network, or that nothing does.
func endLines(what, none string, ends func(*network.Network) (say string, over bool)) (list []finding) {
	for _, n := range network.All() {
		if say, over := ends(n); say != "" {
			list = append(list, finding{what: what, say: say, warn: !over, bad: over})
		}
	}
	if len(list) == 0 {
		list = append(list, finding{what: what, say: none})
	}
	return list
}

func browserLine() finding {
	return check("pages", "scripts and styles are built in", static.Check())
}

func addressLine(c boot.Config) finding {
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Scheme != "https" && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" {
		return finding{what: "address", say: "HERALD_BASE_URL is not https: sessions travel in the clear, and networks may refuse to fetch media", warn: true}
	}
	return finding{what: "address", say: c.BaseURL}
}

func privateLine(c boot.Config) finding {
	if len(c.PrivateTargets) > 0 {
		return finding{what: "guard", say: "HERALD_ALLOW_PRIVATE_TARGETS lets users' addresses reach private networks", warn: true}
	}
	return finding{what: "guard", say: "users' addresses reach public hosts only"}
}
