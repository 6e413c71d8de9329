package blob

import (
	"strings"
	"testing"
	"time"
)

func FuzzValidKey(f *testing.F) {
	f.Add(Key(7, time.Now(), "jpg"))
	f.Add("tenants/7/media/2026/11/../x.jpg")
	f.Fuzz(func(t *testing.T, key string) {
		if ValidKey(key) != nil {
			return
		}
		if strings.Contains(key, "..") || strings.ContainsAny(key, "\\\x00\r\n %") || strings.HasPrefix(key, "/") {
			t.Errorf("%q is taken for a key", key)
		}
	})
}
