package blob

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
)

const written = "write it as file:///an/absolute/folder or s3://bucket?endpoint=https://s3.example.com&region=eu-central-1"

// OpenURL opens the store that HERALD_MEDIA_URL names: file:///an/absolute/folder,
// which is made if it is not there, or s3://bucket with
//
//	endpoint  where the store answers; Amazon's own if left out
//	region    us-east-1 if left out
//	public    the store as networks reach it, if that is another address; "none"
//	          if they can not, and fetch media through Herald
//
// An access key in the address (s3://id:secret@bucket) counts before keys. No
// secret of the address is ever part of an error.
func OpenURL(address string, keys Credentials) (Store, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the media address cannot be read; " + written)
	}
	switch u.Scheme {
	case "file":
		return openFolderURL(u)
	case "s3":
		return openS3URL(u, keys)
	}
	return nil, fmt.Errorf("media can not be kept in %q; %s", u.Scheme+"://", written)
}

func openFolderURL(u *url.URL) (*Folder, error) {
	switch {
	case u.Host != "" && u.Host != "localhost":
		return nil, fmt.Errorf("file://%s names a machine; a folder needs three slashes: file:///%s", u.Host, u.Host)
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, fmt.Errorf("file:// takes a folder and nothing else; %% ? and # in its name are written %%25 %%3F %%23")
	case !filepath.IsAbs(u.Path):
		return nil, fmt.Errorf("file:// needs an absolute folder: file:///var/lib/herald/media")
	}
	return OpenFolder(u.Path)
}

var bucketShape = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

func openS3URL(u *url.URL, keys Credentials) (*S3, error) {
	q := u.Query()
	p := place{bucket: u.Host, endpoint: q.Get("endpoint"), region: q.Get("region"), public: q.Get("public"), keys: keys}
	if u.User != nil {
		secret, _ := u.User.Password()
		p.keys = Credentials{ID: u.User.Username(), Secret: secret}
	}
	if p.region == "" {
		p.region = "us-east-1"
	}
	if p.endpoint == "" {
		p.endpoint = "https://s3." + p.region + ".amazonaws.com"
	}
	for name := range q {
		if name != "endpoint" && name != "region" && name != "public" {
			return nil, fmt.Errorf("s3:// has no option %q; %s", name, written)
		}
	}
	switch {
	case !bucketShape.MatchString(p.bucket) || u.Path != "" && u.Path != "/" || u.Fragment != "":
		return nil, errors.New("s3:// takes the name of a bucket and no folder; " + written)
	case p.keys.ID == "" || p.keys.Secret == "":
		return nil, errors.New("s3:// needs an access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write s3://id:secret@bucket")
	}
	return openS3(p)
}
