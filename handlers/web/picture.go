package web

import (
	"fmt"
	"net/http"
	"time"
)

// Picture answers with a JPEG that Herald made of somebody's file. The reader's own
// browser may keep it for life.
func Picture(w http.ResponseWriter, jpeg []byte, life time.Duration) {
	w.Header().Set("Content-Type", "image/jpeg")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	w.Header().Set("Cache-Control", fmt.Sprintf("private, max-age=%d", int(life.Seconds())))
	_, _ = w.Write(jpeg) // the reader left
}
