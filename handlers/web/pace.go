package web

import (
	"io"
	"net/http"
	"time"
)

// How a body must come. A form has a time, and more of it for more bytes; files may
// take any time, as long as something of them comes.
const (
	formTime   = 30 * time.Second
	formRate   = 8 << 10 // bytes a second, after formTime
	filePause  = time.Minute
	drainPause = 2 * time.Second // for the rest of a body that was answered before it came
)

// Paced gives up bodies that stop coming. The deadlines are the connection's, and so
// of this machine's clock, not of the one that rules read. A body that did not come
// whole is the last of its connection: what is still on the wire of it must not be
// waited for, nor be taken for another request.
func Paced(next http.Handler) http.Handler { return paced(next, formTime, drainPause) }

func paced(next http.Handler, patience, drain time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		b := &body{ReadCloser: r.Body, w: w, wire: http.NewResponseController(w), began: time.Now(), patience: patience, drain: drain}
		b.expect()
		defer b.leave()
		read := *r // the server ends the request by the body that it made itself
		read.Body = b
		next.ServeHTTP(w, &read)
	})
}

// body is what comes with a request. How far it came decides what becomes of the
// connection.
type body struct {
	io.ReadCloser
	w        http.ResponseWriter
	wire     *http.ResponseController
	began    time.Time
	patience time.Duration
	drain    time.Duration
	came     int64
	files    bool  // it is read as files, for which a form's time is too short
	end      error // why nothing more comes: io.EOF is the good reason
}

// expect says that the connection ends with this request, until the body is whole.
func (b *body) expect() {
	b.w.Header().Set("Connection", "close")
	b.due(b.began.Add(b.patience))
}

// due sets the deadline of the next bytes. A recorder of tests has none.
func (b *body) due(t time.Time) { _ = b.wire.SetReadDeadline(t) }

// Read allows what came so far its time, and reads.
func (b *body) Read(p []byte) (int, error) {
	if b.end != nil {
		return 0, b.end
	}
	if b.files {
		b.due(time.Now().Add(filePause))
	} else {
		b.due(b.began.Add(b.patience + time.Duration(b.came)*time.Second/formRate))
	}
	n, err := b.ReadCloser.Read(p)
	b.came += int64(n)
	if b.end = err; err == io.EOF { // the connection lives on; the server has lifted the deadline
		b.w.Header().Del("Connection")
	}
	return n, err
}

// leave gives the rest of a body that nobody read a moment, so that a browser which
// is still sending gets to read the answer. One that had its time gets no more.
func (b *body) leave() {
	if b.end == nil {
		b.due(time.Now().Add(b.drain))
	}
}
