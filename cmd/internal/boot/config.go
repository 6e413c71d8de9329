// Package boot puts Herald together for every subcommand, the browser tests and
// the bench: configuration from the environment, pools, adapters, the web and
// the worker. Nobody below cmd reads the environment. Start with Config.
package boot

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/db"
	"herald/db/blob"
	"herald/db/network"
	"herald/db/secret"
	"herald/jobs"
	"herald/jobs/scan"
)

// Config is everything an operator can set, read once at start.
type Config struct {
	DatabaseURL string
	ShardURLs   map[string]string // by shard name, lower case
	RedisURL    string
	BaseURL     string
	Addr        string
	Ring        *secret.Ring
	SMTPURL     string
	MailFrom    string
	MediaURL    string
	MediaKeys   blob.Credentials // of an S3 store, from the AWS_ names
	Scanner     string           // clamav or signature
	ClamdAddr   string
	LogFormat   string // text or json
	MetricsAddr string

	Networks       map[network.Name]NetworkConfig
	PrivateTargets []netip.Prefix
	TrustedProxies []netip.Prefix
	SignedURLTTL   time.Duration
	UploadBytes    int64
	Pipeline       jobs.Settings
	Cost           secret.Cost
}

// NetworkConfig is what a network's adapter is told.
type NetworkConfig struct {
	API, Upload, Auth      string
	ClientID, ClientSecret string
	Version                string
	ReviewUntil            string // the last day of the network's review of the app, as 2027-03-31
}

// setting is one environment name: how it is read, and what it is for.
type setting struct {
	name string
	read func(c *Config, value string) error
	help string
}

// settings lists every name, those of networks and shards aside.
var settings = []setting{
	{"DATABASE_URL", text(func(c *Config) *string { return &c.DatabaseURL }), "Postgres, as a user who may create schemas and roles"},
	{"REDIS_URL", text(func(c *Config) *string { return &c.RedisURL }), "redis://, rediss://, redis-sentinel:// or redis-cluster://"},
	{"BASE_URL", base(func(c *Config) *string { return &c.BaseURL }), "the address people reach this Herald at"},
	{"ADDR", text(func(c *Config) *string { return &c.Addr }), "where the web listens"},
	{"KEYS", readRing, "key ring, newest first"},
	{"SMTP_URL", text(func(c *Config) *string { return &c.SMTPURL }), "smtp:// or smtps://, with user and password"},
	{"MAIL_FROM", text(func(c *Config) *string { return &c.MailFrom }), "sender of all mail"},
	{"MEDIA_URL", text(func(c *Config) *string { return &c.MediaURL }), "file:///dir or s3://bucket?endpoint=...&region=..."},
	{"MEDIA_SCANNER", oneOf(func(c *Config) *string { return &c.Scanner }, "clamav", "signature"), "clamav or signature"},
	{"CLAMD_ADDR", text(func(c *Config) *string { return &c.ClamdAddr }), "clamd's host:port or socket"},
	{"LOG", oneOf(func(c *Config) *string { return &c.LogFormat }, "text", "json"), "text or json"},
	{"METRICS_ADDR", text(func(c *Config) *string { return &c.MetricsAddr }), "where /metrics listens"},
	{"ALLOW_PRIVATE_TARGETS", prefixes(func(c *Config) *[]netip.Prefix { return &c.PrivateTargets }), "CIDRs that user-chosen addresses may lie in"},
	{"TRUSTED_PROXIES", readProxies, "CIDRs of the proxies in front, whose X-Forwarded-For is believed"},
	{"MAX_UPLOAD", readUpload, "the largest file taken, as 4GB"},
	{"SIGNED_URL_TTL", duration(func(c *Config) *time.Duration { return &c.SignedURLTTL }), "life of members' media links"},
	{"PROVIDER_URL_TTL", duration(func(c *Config) *time.Duration { return &c.Pipeline.ProviderURLTTL }), "life of media links for networks that pull"},
	{"TICK", duration(func(c *Config) *time.Duration { return &c.Pipeline.Tick }), "how often relay and dispatch run"},
	{"LOOKAHEAD", duration(func(c *Config) *time.Duration { return &c.Pipeline.Lookahead }), "how early a due post is handed to a worker"},
	{"RETRY_BASE", duration(func(c *Config) *time.Duration { return &c.Pipeline.RetryBase }), "first wait after a passing fault"},
	{"RETRY_CAP", duration(func(c *Config) *time.Duration { return &c.Pipeline.RetryCap }), "longest such wait"},
	{"MAX_ATTEMPTS", count(func(c *Config) *int { return &c.Pipeline.MaxAttempts }), "attempts before a post fails"},
	{"RATE_LIMIT_PATIENCE", duration(func(c *Config) *time.Duration { return &c.Pipeline.RateLimitPatience }), "how long a rate limit is waited out"},
	{"STALE_ENQUEUED", duration(func(c *Config) *time.Duration { return &c.Pipeline.StaleEnqueued }), "when a dispatch without an attempt is queued again"},
	{"STALE_IN_FLIGHT", duration(func(c *Config) *time.Duration { return &c.Pipeline.StaleInFlight }), "when an attempt's worker counts as lost"},
	{"SWEEP_EVERY", duration(func(c *Config) *time.Duration { return &c.Pipeline.SweepEvery }), "how often the sweeper runs"},
	{"GUARD_STALE", duration(func(c *Config) *time.Duration { return &c.Pipeline.GuardStale }), "when a provider-call guard is nobody's"},
	{"RECONCILE_AFTER", duration(func(c *Config) *time.Duration { return &c.Pipeline.ReconcileAfter }), "first look-up after an unknown outcome"},
	{"SETTLE", duration(func(c *Config) *time.Duration { return &c.Pipeline.Settle }), "wait before the second look-up"},
	{"LATE_CUTOFF", duration(func(c *Config) *time.Duration { return &c.Pipeline.LateCutoff }), "how late a post may still go out"},
	{"SUSPENSION_GRACE", duration(func(c *Config) *time.Duration { return &c.Pipeline.SuspensionGrace }), "how long a suspended workspace's posts wait"},
	{"ACCOUNT_RATE_LIMIT", readRate, "publishes per account, as 25/h"},
	{"APP_QUOTAS", readQuotas, "posts that a network allows this Herald's app, as youtube=1000/d,x=50000/d, where it was granted others than usual"},
	{"PROVIDER_TIMEOUT", duration(func(c *Config) *time.Duration { return &c.Pipeline.ProviderTimeout }), "longest call to a network"},
	{"WORKERS", count(func(c *Config) *int { return &c.Pipeline.Workers }), "publishes at once in one process"},
	{"MEDIA_WORKERS", count(func(c *Config) *int { return &c.Pipeline.MediaWorkers }), "pictures worked on at once in one process, and half as many videos"},
}

const prefix = "HERALD_"

// Read takes the configuration from environment entries ("NAME=value"). Every
// wrong or unknown HERALD_ name is in the error.
func Read(environ []string) (Config, error) {
	c := Config{
		ShardURLs: map[string]string{}, Networks: map[network.Name]NetworkConfig{}, Pipeline: jobs.Defaults(), Cost: secret.DefaultCost(),
		Addr: "127.0.0.1:8080", MailFrom: "Herald <herald@localhost>", Scanner: "signature", ClamdAddr: "/var/run/clamav/clamd.ctl", LogFormat: "text",
		SignedURLTTL: 15 * time.Minute, UploadBytes: 4 << 30,
	}
	var errs []error
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		c.setKey(name, value)
		if rest, ok := strings.CutPrefix(name, prefix); ok && !strings.HasPrefix(rest, "TEST_") {
			if err := c.set(rest, value); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if c.BaseURL == "" {
		c.BaseURL = "http://" + c.Addr
	}
	return c, errors.Join(errs...)
}

// setKey takes the access key of an S3 store from the names that every tool for
// such stores reads.
func (c *Config) setKey(name, value string) {
	switch name {
	case "AWS_ACCESS_KEY_ID":
		c.MediaKeys.ID = value
	case "AWS_SECRET_ACCESS_KEY":
		c.MediaKeys.Secret = value
	case "AWS_SESSION_TOKEN":
		c.MediaKeys.Session = value
	}
}

func (c *Config) set(name, value string) error {
	for _, s := range settings {
		if s.name == name {
			if err := s.read(c, value); err != nil {
				return fmt.Errorf("%s%s: %w", prefix, name, err)
			}
			return nil
		}
	}
	if c.setShard(name, value) {
		return nil
	}
	if known, err := c.setNetwork(name, value); known {
		return err
	}
	return fmt.Errorf("%s%s is not a setting of Herald; did you mean %s%s?", prefix, name, prefix, nearest(name))
}

func (c *Config) setShard(name, value string) bool {
	rest, ok := strings.CutPrefix(name, "SHARD_")
	shard, url := strings.CutSuffix(rest, "_URL")
	if ok && url && shard != "" {
		c.ShardURLs[strings.ToLower(shard)] = value
		return true
	}
	return false
}

var networkSettings = map[string]func(n *NetworkConfig) *string{
	"_API_URL":       func(n *NetworkConfig) *string { return &n.API },
	"_UPLOAD_URL":    func(n *NetworkConfig) *string { return &n.Upload },
	"_AUTH_URL":      func(n *NetworkConfig) *string { return &n.Auth },
	"_CLIENT_ID":     func(n *NetworkConfig) *string { return &n.ClientID },
	"_CLIENT_SECRET": func(n *NetworkConfig) *string { return &n.ClientSecret },
	"_VERSION":       func(n *NetworkConfig) *string { return &n.Version },
	"_REVIEW_UNTIL":  func(n *NetworkConfig) *string { return &n.ReviewUntil },
}

func (c *Config) setNetwork(name, value string) (known bool, err error) {
	for suffix, field := range networkSettings {
		word, ok := strings.CutSuffix(name, suffix)
		if !ok {
			continue
		}
		name := network.Name(strings.ToLower(word))
		if _, ok := network.Get(name); !ok && !slices.Contains(network.Aggregators(), network.Publisher(name)) {
			return false, nil
		}
		switch {
		case strings.HasSuffix(suffix, "_URL"):
			value, err = baseURL(value)
		case suffix == "_REVIEW_UNTIL":
			value, err = day(value)
		}
		if err != nil {
			return true, fmt.Errorf("%s%s%s: %w", prefix, word, suffix, err)
		}
		n := c.Networks[name]
		*field(&n) = value
		c.Networks[name] = n
		return true, nil
	}
	return false, nil
}

func day(s string) (string, error) {
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return "", fmt.Errorf("%q is no day, as 2027-03-31 is", s)
	}
	return s, nil
}

// Names lists every setting with its help, networks' as a pattern.
func Names() [][2]string {
	var list [][2]string
	for _, s := range settings {
		list = append(list, [2]string{prefix + s.name, s.help})
	}
	list = append(list, [2]string{prefix + "SHARD_<NAME>_URL", "a further shard's Postgres"})
	for suffix := range networkSettings {
		list = append(list, [2]string{prefix + "<NETWORK>" + suffix, "for the adapter of that network or publisher"})
	}
	slices.SortFunc(list, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return list
}

func nearest(name string) string {
	best, least := "", 1<<30
	for _, n := range Names() {
		candidate := strings.TrimPrefix(n[0], prefix)
		if d := distance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance is how many letters must change to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func text(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		*field(c) = v
		return nil
	}
}

func base(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) (err error) {
		*field(c), err = baseURL(v)
		return err
	}
}

func baseURL(v string) (string, error) {
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" {
		return "", fmt.Errorf("%q is not an address like https://herald.example.com", v)
	}
	return strings.TrimRight(v, "/"), nil
}

func oneOf(field func(*Config) *string, words ...string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if !slices.Contains(words, v) {
			return fmt.Errorf("%q is none of %s", v, strings.Join(words, ", "))
		}
		*field(c) = v
		return nil
	}
}

func duration(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is not a time above zero like 90s or 24h", v)
		}
		*field(c) = d
		return nil
	}
}

func count(field func(*Config) *int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 10_000 {
			return fmt.Errorf("%q is not a number from 1 to 10000", v)
		}
		*field(c) = n
		return nil
	}
}

func readRing(c *Config, v string) (err error) {
	c.Ring, err = secret.ParseRing(v)
	return err
}

func prefixes(field func(*Config) *[]netip.Prefix) func(*Config, string) error {
	return func(c *Config, v string) error {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			p, err := netip.ParsePrefix(part)
			if err != nil {
				return fmt.Errorf("%q is not a CIDR like 10.0.0.0/8", part)
			}
			*field(c) = append(*field(c), p)
		}
		return nil
	}
}

// readProxies refuses a range of everybody: then the header would be believed
// whoever sent it.
func readProxies(c *Config, v string) error {
	if err := prefixes(func(c *Config) *[]netip.Prefix { return &c.TrustedProxies })(c, v); err != nil {
		return err
	}
	for _, p := range c.TrustedProxies {
		if p.Bits() == 0 {
			return fmt.Errorf("%s is everybody; name the addresses of your proxies", p)
		}
	}
	return nil
}

// readUpload reads a size of whole KB, MB or GB, each 1024 of the one before.
func readUpload(c *Config, v string) error {
	for unit, bytes := range map[string]int64{"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30} {
		text, ok := strings.CutSuffix(v, unit)
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if ok && err == nil && n >= 1 && n <= (48<<30)/bytes {
			c.UploadBytes = n * bytes
			return nil
		}
	}
	return fmt.Errorf("%q is not a size like 500MB or 4GB, of 48GB at most", v)
}

// readRate reads "25/h": a number of publishes per s, m, h or d.
func readRate(c *Config, v string) error {
	number, window, err := rate(v)
	if err == nil {
		c.Pipeline.AccountCap, c.Pipeline.AccountWindow = number, window
	}
	return err
}

func rate(v string) (number int, window time.Duration, err error) {
	n, unit, ok := strings.Cut(v, "/")
	units := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	number, err = strconv.Atoi(n)
	window = units[unit]
	if !ok || err != nil || number < 1 || window == 0 {
		return 0, 0, fmt.Errorf("%q is not a rate like 25/h", v)
	}
	return number, window, nil
}

// readQuotas reads "youtube=1000/d,x=50000/d": networks that bound an app as a whole.
func readQuotas(c *Config, v string) error {
	quotas := map[network.Name]network.Rate{}
	for part := range strings.SplitSeq(v, ",") {
		word, of, _ := strings.Cut(strings.TrimSpace(part), "=")
		n, ok := network.Get(network.Name(word))
		if !ok || !slices.ContainsFunc(n.Rates, func(r network.Rate) bool { return r.Held && r.App }) {
			return fmt.Errorf("%q is no network that Herald keeps a quota of its app for; write it as youtube=1000/d", word)
		}
		number, window, err := rate(of)
		if err != nil {
			return err
		}
		quotas[n.Name] = network.Rate{Max: number, Per: window}
	}
	c.Pipeline.AppQuotas = quotas
	return nil
}

// Logger makes the process's logger. Nothing secret is handed to it: tokens and
// actors know how to print themselves.
func (c Config) Logger() *slog.Logger {
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, nil))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, nil))
}

// Database is what stores connect with.
func (c Config) Database(now func() time.Time) db.Options {
	return db.Options{Control: c.DatabaseURL, Shards: c.ShardURLs, Ring: c.Ring, Now: now, RolePasswords: true, Conns: 16}
}

// MediaScanner is who looks through uploads.
func (c Config) MediaScanner() scan.Scanner {
	if c.Scanner == "clamav" {
		return scan.NewClamd(c.ClamdAddr)
	}
	return scan.Signature{}
}
