package blob

import (
	"fmt"
	"net/url"
	"path/filepath"
)

// OpenURL opens the store that HERALD_MEDIA_URL names: file:///an/absolute/folder,
// which is made if it is not there. Anything else is refused in one sentence
// that says what is supported.
func OpenURL(address string) (Store, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the media address cannot be read; write it as file:///an/absolute/folder")
	}
	switch {
	case u.Scheme != "file":
		return nil, fmt.Errorf("media can be kept in file:///an/absolute/folder, not in %q", u.Scheme+"://")
	case u.Host != "" && u.Host != "localhost":
		return nil, fmt.Errorf("file://%s names a machine; a folder needs three slashes: file:///%s", u.Host, u.Host)
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, fmt.Errorf("file:// takes a folder and nothing else; %% ? and # in its name are written %%25 %%3F %%23")
	case !filepath.IsAbs(u.Path):
		return nil, fmt.Errorf("file:// needs an absolute folder: file:///var/lib/herald/media")
	}
	return OpenFolder(u.Path)
}
