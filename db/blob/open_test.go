package blob_test

import (
	"strings"
	"testing"
	"time"

	"herald/db/blob"
)

func TestOpenURLSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	keys := blob.Credentials{ID: "id", Secret: "hush-hush"}
	for address, want := range map[string]string{
		"":                               "file:///an/absolute/folder",
		"/var/lib/herald":                "file:///an/absolute/folder",
		"ftp://host/x":                   `can not be kept in "ftp://"`,
		"file://media":                   "file:///media",
		"file:media":                     "absolute folder",
		"file:///x?mode=1":               "takes a folder and nothing else",
		"file:///%zz":                    "file:///an/absolute/folder",
		"file:///proc/nothing":           "make the media folder",
		"s3://":                          "takes the name of a bucket",
		"s3://Bucket_1":                  "takes the name of a bucket",
		"s3://bucket/folder":             "takes the name of a bucket and no folder",
		"s3://bucket?regin=x":            `no option "regin"`,
		"s3://bucket?endpoint=host:9000": "written like https://s3.example.com:9000",
		"s3://bucket?endpoint=https://host/minio":      "without a path",
		"s3://bucket?public=media.example":             "written like https://",
		"s3://id:hush-hush@bucket?endpoint=%zz&x=1":    "no option",
		"s3://id@bucket":                               "needs an access key",
		"s3://id:hush-hush@bucket?endpoint=http://a b": "written like https://",
	} {
		_, err := blob.OpenURL(address, keys)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", address, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: the error shows the secret: %v", address, err)
		}
	}
	if _, err := blob.OpenURL("s3://bucket", blob.Credentials{}); err == nil || !strings.Contains(err.Error(), "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY") {
		t.Errorf("without a key: %v", err)
	}
}

var month = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func TestPresignedAddressesNameTheStoreAsOthersReachIt(t *testing.T) {
	t.Parallel()
	key := blob.Key(7, month, "jpg")
	for address, want := range map[string]string{
		"s3://bucket":                                                  "https://bucket.s3.dualstack.us-east-1.amazonaws.com/" + key + "?",
		"s3://bucket?region=eu-central-1":                              "https://bucket.s3.dualstack.eu-central-1.amazonaws.com/" + key + "?",
		"s3://bucket?endpoint=http://s3:9000":                          "http://s3:9000/bucket/" + key + "?",
		"s3://bucket?endpoint=http://s3:9000&public=https://media.x.y": "https://media.x.y/bucket/" + key + "?",
		"s3://bucket?endpoint=http://s3:9000&public=none":              "",
	} {
		s, err := blob.OpenURL(address, blob.Credentials{ID: "id", Secret: "hush-hush"})
		if err != nil {
			t.Fatal(err)
		}
		got, ok, err := s.Presign(t.Context(), key, 1000*time.Hour)
		if err != nil || ok != (want != "") || !strings.HasPrefix(got, want) || strings.Contains(got, "hush") {
			t.Errorf("%s: %q, %v; want %s", address, got, err, want)
		}
		if ok && !strings.Contains(got, "X-Amz-Expires=604800") {
			t.Errorf("%s lives longer than a week: %s", address, got)
		}
	}
}
