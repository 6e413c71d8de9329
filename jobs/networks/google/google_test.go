package google_test

import (
	"testing"
	"time"

	"herald/jobs/networks/google"
	"herald/jobs/networks/nettest"
)

func TestTheReasonIsTheMostExactName(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error":{"code":403,"message":"m","errors":[{"reason":"quotaExceeded","domain":"youtube.quota"}],"status":"PERMISSION_DENIED"}}`:                                            "quotaExceeded",
		`{"error":{"code":403,"message":"m","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED"}]}}`:              "SERVICE_DISABLED",
		`{"error":{"code":400,"status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.mybusiness.v4.ValidationError","errorDetails":[{"code":2,"field":"f"}]}]}}`: "INVALID_ARGUMENT",
		`{"error":{"code":404}}`: "",
	} {
		p, ok := google.Read(nettest.Said(400, "", body))
		if !ok || p.Code != want {
			t.Errorf("%s: %+v, %v", body, p, ok)
		}
	}
	for _, body := range []string{``, `null`, `{}`, `{"error":"invalid_grant"}`, `{"error":{}}`, `<html>`, `{"error":null}`} {
		if p, ok := google.Read(nettest.Said(400, "", body)); ok {
			t.Errorf("%s is taken for Google's: %+v", body, p)
		}
	}
}

func TestQuotasBeginAnewAtMidnightInCalifornia(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]time.Duration{
		"2026-05-01T06:59:00Z": time.Minute,                // 23:59 in summer time
		"2026-05-01T07:00:00Z": 24 * time.Hour,             //
		"2026-12-01T07:00:00Z": time.Hour,                  // winter time
		"2026-11-01T07:30:00Z": 24*time.Hour + time.Hour/2, // a day of 25 hours, from 00:30
	} {
		now, _ := time.Parse(time.RFC3339, at)
		if got := google.UntilQuota(now); got != want {
			t.Errorf("%s: %v, want %v", at, got, want)
		}
	}
}
