package jobs

import (
	"testing"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/networks"
)

// TestACommentThatNobodySeesIsNotSent: versions of before may hold one.
func TestACommentThatNobodySeesIsNotSent(t *testing.T) {
	t.Parallel()
	receipt := networks.Receipt{Permalink: "https://net.example/1"}
	for comment, want := range map[string]string{"\u200b \ufeff": "", " \n": "", "": "", "More\u200b below": "More\u200b below"} {
		part := model.Part{Text: "Hello", FirstComment: comment}
		if got := (&Publisher{}).post(db.Key{Tenant: 1}, network.FormatText, part, nil, db.Account{Network: network.Mastodon}).FirstComment; got != want {
			t.Errorf("%q is sent as %q", comment, got)
		}
		if owesMore(receipt, part) != (want != "") {
			t.Errorf("after %q there is more to do: %v", comment, want == "")
		}
	}
}
