package web

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// wire is a raw connection to a server whose forms have a moment to come.
type wire struct {
	net.Conn
	t   *testing.T
	ran int
}

func dial(t *testing.T, patience, drain time.Duration, handle http.HandlerFunc) *wire {
	t.Helper()
	mux, w := http.NewServeMux(), &wire{t: t}
	in := Intake{Mux: mux, Edge: &Edge{Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: time.Now}, Bodies: map[string]Body{"POST /files": Own, "POST /w/files": Own}}
	count := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.ran++
		handle(rw, r)
	})
	in.Handle("POST /form", count)
	in.Handle("POST /files", count)
	in.Handle("POST /w/files", count)
	server := httptest.NewServer(paced(mux, patience, drain))
	t.Cleanup(server.Close)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second)) // a server that waits for ever fails the test
	_ = conn.(*net.TCPConn).SetWriteBuffer(64 << 10)       // what was sent was mostly read
	w.Conn = conn
	return w
}

func (w *wire) send(path, kind string, length int, text string) {
	w.t.Helper()
	_, err := fmt.Fprintf(w, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", path, kind, length, text)
	if err != nil {
		w.t.Error(err)
	}
}

const plainForm = "application/x-www-form-urlencoded"

// TestAFormThatStopsComingIsGivenUp sends the beginning of a form and no more: the
// answer comes, and the connection ends with it.
func TestAFormThatStopsComingIsGivenUp(t *testing.T) {
	t.Parallel()
	w := dial(t, 20*time.Millisecond, time.Hour, func(http.ResponseWriter, *http.Request) {})
	w.send("/form", plainForm, 1000, "body=hello")
	answer, err := io.ReadAll(w) // ends when the server closes
	if err != nil || !strings.Contains(string(answer), "422 Un") || !strings.Contains(string(answer), "did not arrive whole") || w.ran != 0 {
		t.Errorf("ran %d, %v: %.300s", w.ran, err, answer)
	}
}

// TestABodyThatNobodyReadsIsNotWaitedFor: the answer comes before the rest of the
// body, and the connection ends with it.
func TestABodyThatNobodyReadsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	answers := func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("answered")) }
	w := dial(t, time.Hour, time.Hour, answers)
	w.send("/files", "multipart/form-data; boundary=x", 1000, "--x")
	if resp, err := http.ReadResponse(bufio.NewReader(w), nil); err != nil || resp.StatusCode != 200 || !resp.Close {
		t.Errorf("%v: %+v", err, resp)
	}
	w = dial(t, time.Hour, 20*time.Millisecond, answers)
	w.send("/files", "multipart/form-data; boundary=x", 1000, "--x")
	if answer, err := io.ReadAll(w); err != nil || !strings.Contains(string(answer), "answered") {
		t.Errorf("%v: %.300s", err, answer)
	}
}

// TestAFormThatIsOnlyKeptHasAFormsTime: who is signed out sends files to nobody.
func TestAFormThatIsOnlyKeptHasAFormsTime(t *testing.T) {
	t.Parallel()
	w := dial(t, 20*time.Millisecond, time.Hour, func(rw http.ResponseWriter, r *http.Request) {
		k, _ := KeepForm(rw, r)
		_, _ = fmt.Fprint(rw, k.Fields.Get("body"))
	})
	w.send("/w/files", "multipart/form-data; boundary=x", 1000, "--x\r\nContent-Disposition: form-data; name=\"body\"\r\n\r\nSo far")
	if answer, err := io.ReadAll(w); err != nil || !strings.Contains(string(answer), "So far") {
		t.Errorf("%v: %.300s", err, answer)
	}
}

// TestAConnectionOutlivesItsForms: who sends whole forms keeps the connection, and a
// handler that works for longer than a form may take is not disturbed.
func TestAConnectionOutlivesItsForms(t *testing.T) {
	t.Parallel()
	const patience = 30 * time.Millisecond
	w := dial(t, patience, time.Hour, func(rw http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
			t.Error("the visitor was taken for gone")
		case <-time.After(2 * patience): // of the network: deadlines of a connection know no other clock
		}
		_, _ = fmt.Fprint(rw, r.PostFormValue("body"))
	})
	in := bufio.NewReader(w)
	for _, text := range []string{"one", "two"} {
		w.send("/form", plainForm, len("body=")+len(text), "body="+text)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != text || resp.Close {
			t.Errorf("%q, %v, close %v", body, err, resp.Close)
		}
	}
}

// TestALargeFormIsPassedOverSoThatTheAnswerIsRead sends all of 5 MB before it reads,
// as browsers do.
func TestALargeFormIsPassedOverSoThatTheAnswerIsRead(t *testing.T) {
	t.Parallel()
	w := dial(t, time.Hour, time.Hour, func(http.ResponseWriter, *http.Request) {})
	text := "body=" + string(bytes.Repeat([]byte("a"), 5<<20))
	w.send("/form", plainForm, len(text), text)
	resp, err := http.ReadResponse(bufio.NewReader(w), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 413 || !strings.Contains(string(body), "more than this form may hold, which is 1 MB") || w.ran != 0 {
		t.Errorf("%d: %.300s", resp.StatusCode, body)
	}
}

// TestFilesMayTakeLongerThanAForm: what is read as files has no time in all.
func TestFilesMayTakeLongerThanAForm(t *testing.T) {
	t.Parallel()
	const patience = 20 * time.Millisecond
	w := dial(t, patience, time.Hour, func(rw http.ResponseWriter, r *http.Request) {
		all, err := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(rw, "%d %v", len(all), err)
	})
	w.send("/files", "application/octet-stream", 4, "ab")
	<-time.After(2 * patience)
	_, _ = io.WriteString(w, "cd")
	resp, err := http.ReadResponse(bufio.NewReader(w), nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(resp.Body); string(body) != "4 <nil>" {
		t.Errorf("%s", body)
	}
}
