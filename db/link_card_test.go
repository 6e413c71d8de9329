package db_test

import (
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

func TestAPageIsReadByOneAndBelievedForAWhile(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	agency := w.Agency(t, "north", db.MainShard)
	sc := agency.Owner
	begin := func(want bool, when string) {
		t.Helper()
		if got, err := sc.BeginLinkCard(t.Context(), "https://harbour.org"); err != nil || got != want {
			t.Errorf("%s: %t, %v", when, got, err)
		}
	}
	keep := func(c db.LinkCard, picture []byte) {
		t.Helper()
		if err := sc.KeepLinkCard(t.Context(), "https://harbour.org", c, picture); err != nil {
			t.Fatal(err)
		}
	}
	begin(true, "nobody read it")
	begin(false, "somebody reads it")
	w.Clock.Advance(31 * time.Second)
	begin(true, "who read it is gone")
	keep(db.LinkCard{Say: "No answer."}, nil)
	begin(false, "it just failed")
	w.Clock.Advance(11 * time.Minute)
	begin(true, "it failed a while ago")
	keep(db.LinkCard{Title: "The menu"}, []byte("jpeg"))
	w.Clock.Advance(23 * time.Hour)
	begin(false, "it is fresh")
	cards, err := sc.LinkCards(t.Context(), []string{"https://harbour.org", "https://unknown.org"})
	if c := cards["https://harbour.org"]; err != nil || len(cards) != 1 || c.Title != "The menu" || c.Say != "" || !c.Shown || !c.Read {
		t.Errorf("%+v, %v", cards, err)
	}
	if picture, err := sc.LinkCardPicture(t.Context(), cards["https://harbour.org"].Hash); err != nil || string(picture) != "jpeg" {
		t.Errorf("%q, %v", picture, err)
	}
	w.Clock.Advance(2 * time.Hour)
	begin(true, "it is old")
}

func TestAWorkspaceReadsOnlySoManyPagesAMinute(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	sc := w.Agency(t, "north", db.MainShard).Owner
	var err error
	for n := 0; n < 100 && err == nil; n++ {
		_, err = sc.BeginLinkCard(t.Context(), "https://harbour.org/"+string(rune('a'+n)))
	}
	if no, ok := model.Refused(err); !ok || no.Kind != model.TooMany {
		t.Fatalf("100 pages at once: %v", err)
	}
	w.Clock.Advance(2 * time.Minute)
	if ok, err := sc.BeginLinkCard(t.Context(), "https://harbour.org/later"); err != nil || !ok {
		t.Errorf("two minutes later: %t, %v", ok, err)
	}
}
