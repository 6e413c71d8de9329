package desk

import (
	"io"
	"net/http"
)

// stream is an answer of server-sent events. Its err is set once the reader is gone.
type stream struct {
	w   io.Writer
	out *http.ResponseController
	err error
}

// openStream begins one; a page whose line breaks comes back after three seconds.
func openStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	s := &stream{w: w, out: http.NewResponseController(w)}
	s.send("retry: 3000\n\n")
	return s
}

// event sends one, of one line.
func (s *stream) event(name, line string) { s.send("event: " + name + "\ndata: " + line + "\n\n") }

// beat keeps proxies from taking a silent answer for a dead one.
func (s *stream) beat() { s.send(": still here\n\n") }

func (s *stream) send(text string) {
	if s.err != nil {
		return
	}
	if _, s.err = io.WriteString(s.w, text); s.err == nil {
		s.err = s.out.Flush()
	}
}
