package mailbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"time"

	gomail "github.com/wneessen/go-mail"
)

func start(t *testing.T) (*Mailbox, *httptest.Server) {
	t.Helper()
	b, err := Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(b.Handler())
	t.Cleanup(func() { web.Close(); b.Close() })
	return b, web
}

// host is where the mailbox takes mail.
func host(t *testing.T, b *Mailbox) string {
	t.Helper()
	u, err := url.Parse(b.SMTPURL())
	if err != nil || u.Scheme != "smtp" || u.Query().Get("tls") != "none" {
		t.Fatalf("address %s: %v", b.SMTPURL(), err)
	}
	return u.Host
}

const page1 = `<!DOCTYPE html><html lang="en"><head><title>x</title></head><body><a href="https://herald.example/review/1.abc">Read — und entscheide</a><script>alert(1)</script></body></html>`

func post(t *testing.T, b *Mailbox, to, subject string) {
	t.Helper()
	m := gomail.NewMsg()
	for _, err := range []error{m.FromFormat("Nordwind “Studio” via Herald", "herald@localhost"), m.AddToFormat("Jonas Ümläut", to)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	m.Subject(subject)
	m.SetBodyString(gomail.TypeTextPlain, "Hello Jonas,\n\nRead: https://herald.example/review/1.abc.\n"+strings.Repeat("ä", 300))
	m.AddAlternativeString(gomail.TypeTextHTML, page1)
	name, port, _ := net.SplitHostPort(host(t, b))
	var n int
	_, _ = fmt.Sscan(port, &n)
	c, err := gomail.NewClient(name, gomail.WithPort(n), gomail.WithTLSPolicy(gomail.NoTLS))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.DialAndSendWithContext(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, address string) (status int, header http.Header, body string) {
	t.Helper()
	r, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, r.Header, string(raw)
}

func TestAMailIsShownWithBothItsParts(t *testing.T) {
	t.Parallel()
	b, web := start(t)
	post(t, b, "jonas@client.example", "Please review — a post für Müller")
	_, _, list := get(t, web.URL+"/")
	if !strings.Contains(list, "Please review — a post für Müller") || !strings.Contains(list, "Jonas Ümläut") || !strings.Contains(list, `href="/mails/1"`) {
		t.Errorf("the list: %s", list)
	}
	_, header, shown := get(t, web.URL+"/mails/1")
	for _, want := range []string{`src="/mails/1/html"`, `sandbox="allow-popups allow-popups-to-escape-sandbox"`, `<a href="https://herald.example/review/1.abc" target="_blank" rel="noopener">https://herald.example/review/1.abc</a>.`, strings.Repeat("ä", 300)} {
		if !strings.Contains(shown, want) {
			t.Errorf("the mail lacks %s: %s", want, shown)
		}
	}
	if policy := header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %s", policy)
	}
	_, header, html := get(t, web.URL+"/mails/1/html")
	if html != strings.Replace(page1, "<head>", `<head><base target="_blank">`, 1) {
		t.Errorf("the HTML part: %s", html)
	}
	if policy := header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "sandbox allow-popups") || strings.Contains(policy, "allow-scripts") {
		t.Errorf("policy %s", policy)
	}
}

func TestTestsReadMailsAsJSON(t *testing.T) {
	t.Parallel()
	b, web := start(t)
	if _, _, body := get(t, web.URL+"/_mails"); body != "[]" {
		t.Errorf("empty: %s", body)
	}
	post(t, b, "jonas@client.example", "one")
	post(t, b, "lea@client.example", "two")
	post(t, b, "jonas@client.example", "three")
	var list []Mail
	_, _, body := get(t, web.URL+"/_mails?to=jonas@client.example")
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Subject != "three" || list[1].Subject != "one" || list[0].HTML != page1 || list[0].MessageID == "" || list[0].Recipients[0] != "jonas@client.example" {
		t.Errorf("got %+v", list)
	}
}

func TestOnlyTheNewestAreKept(t *testing.T) {
	t.Parallel()
	b, web := start(t)
	for n := range kept + 20 {
		if err := b.put(Mail{Subject: fmt.Sprint("mail ", n)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	list := b.Mails()
	if len(list) != kept || list[0].Subject != "mail 519" || list[kept-1].Subject != "mail 20" {
		t.Errorf("%d, from %s to %s", len(list), list[0].Subject, list[len(list)-1].Subject)
	}
	if status, _, _ := get(t, web.URL+"/mails/1"); status != http.StatusNotFound {
		t.Errorf("a forgotten mail: %d", status)
	}
}

func TestNoSuchMailIsSaid(t *testing.T) {
	t.Parallel()
	_, web := start(t)
	for _, path := range []string{"/mails/1", "/mails/x", "/mails/-1/html", "/mails/99999999999999999999", "/else"} {
		if status, _, _ := get(t, web.URL+path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

func TestHostileMailsAreShownAsTextAndHarmNothing(t *testing.T) {
	t.Parallel()
	b, web := start(t)
	for n, raw := range []string{
		"Subject: <script>alert(1)</script>\r\nFrom: \"<b>\" <a@b.c>\r\n\r\n<script>alert(2)</script> https://x.example/?a=\"><script>",
		"Subject: =?utf-8?q?broken\r\nContent-Type: multipart/alternative\r\n\r\nno boundary",
		"Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n\r\nx",
		"Content-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!",
		"X: y\r\n\r\n\xff\xfe",
	} {
		if err := smtp.SendMail(host(t, b), nil, "a@example.com", []string{"b@example.com"}, []byte(raw)); err != nil {
			t.Fatalf("%d: %v", n, err)
		}
		status, _, body := get(t, fmt.Sprintf("%s/mails/%d", web.URL, n+1))
		if status != http.StatusOK || strings.Contains(body, "<script>") || strings.Contains(body, "<b>") {
			t.Errorf("%d: %d, %s", n, status, body)
		}
	}
}

func TestItListensOnThisMachineOnly(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"0.0.0.0:0", ":0", "[::]:0", "mail.example.com:0", "192.168.1.7:25", "127.0.0.1"} {
		if b, err := Start(t.Context(), bad); err == nil {
			b.Close()
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestKeptMailsAreThereAgain(t *testing.T) {
	t.Parallel()
	dir, noon := t.TempDir(), time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)
	open := func() *Mailbox {
		b, err := Open(t.Context(), "127.0.0.1:0", Options{Dir: dir, Now: func() time.Time { return noon }})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := open()
	post(t, b, "jonas@example.com", "First")
	post(t, b, "mia@example.com", "Second")
	before := b.Mails()
	b.Close()
	b = open()
	defer b.Close()
	if after := b.Mails(); !reflect.DeepEqual(before, after) || len(after) != 2 || !after[0].Received.Equal(noon) {
		t.Fatalf("before %+v\nafter %+v", before, after)
	}
	post(t, b, "mia@example.com", "Third")
	if got := b.Mails()[0]; got.ID != 3 || got.Subject != "Third" {
		t.Errorf("the next is %d %q", got.ID, got.Subject)
	}
}

func TestOnlyTheNewestMailsStayOnDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, err := Open(t.Context(), "127.0.0.1:0", Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for n := range kept + 3 {
		if err := b.put(Mail{Subject: fmt.Sprint("mail ", n)}, []byte("Subject: x\r\n\r\ny")); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != kept || files[0].Name() != "00000004.eml" {
		t.Errorf("%d files, %v", len(files), err)
	}
}

func TestItEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b, err := Start(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-b.stopped
	b.Close() // once more
	if c, err := net.Dial("tcp", host(t, b)); err == nil {
		c.Close()
		t.Error("it still listens")
	}
}

func TestLinksKeepEveryByteOfTheText(t *testing.T) {
	t.Parallel()
	same := func(a, b string) bool {
		text, joined := a+" https://x.example/"+b, ""
		for _, p := range links(text) {
			joined += p.Text
		}
		return joined == text
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("Subject: x\r\n\r\ny"))
	f.Add([]byte("Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=C3=A4\r\n--b--"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if m, err := parse(raw); err == nil {
			links(m.Text)
		}
	})
}
