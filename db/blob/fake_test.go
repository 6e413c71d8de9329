package blob_test

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	bucket   = "herald-media"
	accessID = "herald"
	secret   = "not/so+secret"
)

// fakeS3 is as much of S3 as the store uses, strict where S3 is: signatures,
// part sizes, ETags. The suite runs against a real server in test:full; this one
// is for faults on demand, and so that the tests of every day see the code at all.
type fakeS3 struct {
	t       *testing.T
	server  *httptest.Server
	trouble func(r *http.Request) (status int, code string) // 0 is none; asked before anything else

	lock    sync.Mutex
	objects map[string][]byte
	uploads map[string]map[int][]byte
}

func newFakeS3(t *testing.T) *fakeS3 {
	f := &fakeS3{t: t, objects: map[string][]byte{}, uploads: map[string]map[int][]byte{}}
	f.server = httptest.NewServer(f)
	t.Cleanup(f.server.Close)
	return f
}

func (f *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := readBody(r)
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.trouble != nil {
		if status, code := f.trouble(r); status != 0 {
			f.no(w, status, code)
			return
		}
	}
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch code := unsigned(r); {
	case code != "":
		f.no(w, http.StatusForbidden, code)
	case name != bucket:
		f.no(w, http.StatusNotFound, "NoSuchBucket")
	case r.URL.Query().Has("uploads") || r.URL.Query().Has("uploadId"):
		f.part(w, r, key, body)
	default:
		f.object(w, r, key, body)
	}
}

func (f *fakeS3) no(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>the fake says so</Message></Error>", code)
}

func (f *fakeS3) object(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	stored, ok := f.objects[key]
	switch from := r.Header.Get("X-Amz-Copy-Source"); {
	case r.Method == http.MethodPut && from != "":
		from, _ = url.PathUnescape(strings.TrimPrefix(strings.TrimPrefix(from, "/"), bucket+"/"))
		if stored, ok = f.objects[from]; !ok {
			f.no(w, http.StatusNotFound, "NoSuchKey")
			return
		}
		f.objects[key] = stored
		fmt.Fprintf(w, "<CopyObjectResult><ETag>%s</ETag><LastModified>%s</LastModified></CopyObjectResult>", etag(stored), time.Now().UTC().Format(time.RFC3339))
	case r.Method == http.MethodPut:
		f.objects[key] = body
		w.Header().Set("ETag", etag(body))
	case r.Method == http.MethodDelete:
		delete(f.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case !ok:
		f.no(w, http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("ETag", etag(stored))
		w.Header().Set("Content-Type", "image/jpeg")
		http.ServeContent(w, r, "", time.Now(), bytes.NewReader(stored))
	}
}

// part answers what makes an object of many parts.
func (f *fakeS3) part(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	q := r.URL.Query()
	id := q.Get("uploadId")
	if r.Method == http.MethodPost && id == "" {
		id = fmt.Sprint("up", len(f.uploads))
		f.uploads[id] = map[int][]byte{}
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", id)
		return
	}
	parts, ok := f.uploads[id]
	switch {
	case !ok:
		f.no(w, http.StatusNotFound, "NoSuchUpload")
	case r.Method == http.MethodDelete:
		delete(f.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut:
		n, _ := strconv.Atoi(q.Get("partNumber"))
		parts[n] = body
		w.Header().Set("ETag", etag(body))
	default:
		f.complete(w, key, id, body)
	}
}

func (f *fakeS3) complete(w http.ResponseWriter, key, id string, body []byte) {
	var list struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	if err := xml.Unmarshal(body, &list); err != nil {
		f.no(w, http.StatusBadRequest, "MalformedXML")
		return
	}
	var whole []byte
	for i, p := range list.Part {
		one, ok := f.uploads[id][p.PartNumber]
		if !ok || etag(one) != `"`+strings.Trim(p.ETag, `"`)+`"` || p.PartNumber != i+1 {
			f.no(w, http.StatusBadRequest, "InvalidPart")
			return
		}
		if len(one) < 5<<20 && i < len(list.Part)-1 {
			f.no(w, http.StatusBadRequest, "EntityTooSmall")
			return
		}
		whole = append(whole, one...)
	}
	f.objects[key] = whole
	delete(f.uploads, id)
	fmt.Fprintf(w, "<CompleteMultipartUploadResult><Bucket>%s</Bucket><Key>%s</Key><ETag>%s</ETag></CompleteMultipartUploadResult>", bucket, key, etag(whole))
}

func etag(body []byte) string { return fmt.Sprintf(`"%x"`, md5.Sum(body)) }

// readBody reads a body; over http the client sends it in signed chunks.
func readBody(r *http.Request) (body []byte) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		body, _ = io.ReadAll(r.Body)
		return body
	}
	for in := bufio.NewReader(r.Body); ; {
		line, _ := in.ReadString('\n')
		size, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseInt(size, 16, 64)
		if err != nil || n == 0 {
			return body
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(in, chunk); err != nil {
			return body
		}
		body = append(body, chunk[:n]...)
	}
}

// unsigned checks the signature (version 4, in the header or in the address), and
// returns S3's code for what is wrong with it.
func unsigned(r *http.Request) string {
	q := r.URL.Query()
	credential, names, signature, date, payload := q.Get("X-Amz-Credential"), q.Get("X-Amz-SignedHeaders"), q.Get("X-Amz-Signature"), q.Get("X-Amz-Date"), "UNSIGNED-PAYLOAD"
	if header := r.Header.Get("Authorization"); header != "" {
		date, payload = r.Header.Get("X-Amz-Date"), r.Header.Get("X-Amz-Content-Sha256")
		for one := range strings.SplitSeq(strings.TrimPrefix(header, "AWS4-HMAC-SHA256 "), ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(one), "=")
			switch name {
			case "Credential":
				credential = value
			case "SignedHeaders":
				names = value
			case "Signature":
				signature = value
			}
		}
	}
	id, scope, _ := strings.Cut(credential, "/")
	at, err := time.Parse("20060102T150405Z", date)
	life, _ := strconv.Atoi(cmp.Or(q.Get("X-Amz-Expires"), "900"))
	switch {
	case signature == "" || err != nil:
		return "AccessDenied"
	case id != accessID:
		return "InvalidAccessKeyId"
	case time.Since(at) > time.Duration(life)*time.Second:
		return "AccessDenied"
	case signature != sign(r, scope, names, date, payload):
		return "SignatureDoesNotMatch"
	}
	return ""
}

func sign(r *http.Request, scope, names, date, payload string) string {
	q := r.URL.Query()
	q.Del("X-Amz-Signature")
	canonical := r.Method + "\n" + r.URL.EscapedPath() + "\n" + strings.ReplaceAll(q.Encode(), "+", "%20") + "\n"
	for name := range strings.SplitSeq(names, ";") {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		canonical += name + ":" + strings.TrimSpace(value) + "\n"
	}
	canonical += "\n" + names + "\n" + payload
	hash := sha256.Sum256([]byte(canonical))
	key := []byte("AWS4" + secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	return hex.EncodeToString(mac(key, "AWS4-HMAC-SHA256\n"+date+"\n"+scope+"\n"+hex.EncodeToString(hash[:])))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// keys lists what the bucket holds, and the uploads that were not finished.
func (f *fakeS3) keys() (list []string) {
	f.lock.Lock()
	defer f.lock.Unlock()
	for key := range f.objects {
		list = append(list, key)
	}
	for id := range f.uploads {
		list = append(list, "unfinished "+id)
	}
	slices.Sort(list)
	return list
}
