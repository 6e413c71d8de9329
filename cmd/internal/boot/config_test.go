package boot

import (
	"os"
	"strings"
	"testing"
	"time"

	"herald/db/blob"
	"herald/db/network"
)

func TestEverySettingStandsInTheReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range settings {
		if !strings.Contains(string(readme), "`"+prefix+s.name+"`") {
			t.Errorf("README does not name %s%s", prefix, s.name)
		}
	}
}

func TestAnUnknownSettingIsAnErrorWithTheNearestName(t *testing.T) {
	t.Parallel()
	for wrong, near := range map[string]string{
		"HERALD_DATABSE_URL": "HERALD_DATABASE_URL", "HERALD_WORKER": "HERALD_WORKERS", "HERALD_TICKS": "HERALD_TICK",
		"HERALD_MYSPACE_API_URL": "HERALD_",
	} {
		_, err := Read([]string{wrong + "=x"})
		if err == nil || !strings.Contains(err.Error(), wrong) || !strings.Contains(err.Error(), near) {
			t.Errorf("%s: %v; want an error that names it and %s", wrong, err, near)
		}
	}
}

func TestEveryWrongSettingIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Read([]string{"HERALD_TICK=soon", "HERALD_WORKERS=0", "HERALD_ACCOUNT_RATE_LIMIT=many", "HERALD_APP_QUOTAS=facebook=5/d", "HERALD_KEYS=short", "HERALD_BASE_URL=ftp://x", "HERALD_LOG=xml", "HERALD_TRUSTED_PROXIES=10.0.0.0/8,0.0.0.0/0", "HERALD_MAX_UPLOAD=49GB", "HERALD_TIKTOK_REVIEW_UNTIL=31/03/2027"})
	for _, name := range []string{"TICK", "WORKERS", "ACCOUNT_RATE_LIMIT", "APP_QUOTAS", "KEYS", "BASE_URL", "LOG", "TRUSTED_PROXIES", "MAX_UPLOAD", "TIKTOK_REVIEW_UNTIL"} {
		if err == nil || !strings.Contains(err.Error(), prefix+name) {
			t.Errorf("the error does not name %s: %v", name, err)
		}
	}
	if strings.Contains(err.Error(), "short") {
		t.Errorf("the error shows a key: %v", err)
	}
}

func TestSettingsAreRead(t *testing.T) {
	t.Parallel()
	c, err := Read([]string{
		"HERALD_SHARD_EAST_URL=postgres://east", "HERALD_FACEBOOK_API_URL=http://127.0.0.1:9700/x/", "HERALD_FACEBOOK_VERSION=v26.0", "HERALD_TIKTOK_REVIEW_UNTIL=2027-03-31",
		"HERALD_ACCOUNT_RATE_LIMIT=5/m", "HERALD_TICK=200ms", "HERALD_ALLOW_PRIVATE_TARGETS=127.0.0.0/8, ::1/128", "OTHER=1", "HERALD_TRUSTED_PROXIES=10.0.0.0/8",
		"HERALD_MAX_UPLOAD=700MB", "HERALD_APP_QUOTAS=youtube=1000/d,x=5/h", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=a=b", "AWS_SESSION_TOKEN=t",
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.ShardURLs["east"] != "postgres://east" || c.Networks["facebook"].API != "http://127.0.0.1:9700/x" || c.Networks["facebook"].Version != "v26.0" || c.Reviews()["tiktok"] != "2027-03-31" {
		t.Errorf("shards %v, networks %v", c.ShardURLs, c.Networks)
	}
	if (c.MediaKeys != blob.Credentials{ID: "id", Secret: "a=b", Session: "t"}) {
		t.Error("the access key was not read whole")
	}
	if want := (network.Rate{Max: 5, Per: time.Hour}); c.Pipeline.AppQuotas[network.X] != want || c.Pipeline.AppQuotas[network.YouTube].Max != 1000 {
		t.Errorf("quotas %v", c.Pipeline.AppQuotas)
	}
	if c.UploadBytes != 700<<20 {
		t.Errorf("the largest upload is %d", c.UploadBytes)
	}
	if c.Pipeline.AccountCap != 5 || c.Pipeline.AccountWindow != time.Minute || c.Pipeline.Tick != 200*time.Millisecond || len(c.PrivateTargets) != 2 || len(c.TrustedProxies) != 1 {
		t.Errorf("%+v, %v", c.Pipeline, c.PrivateTargets)
	}
}
