package db_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

func TestOfManyMovesFromOneFormExactlyOneCounts(t *testing.T) {
	t.Parallel()
	w := dbtest.New(t)
	a := w.Agency(t, "north", db.MainShard)
	target := a.Due(t, "Fresh bread", time.Hour, a.Account(t, a.Client(t, "bakery"), network.Webhook)).Targets[0]
	var won, lost atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			when, err := model.At(dbtest.Noon.Add(time.Duration(i+2)*time.Hour), "Europe/Berlin")
			if err != nil {
				t.Error(err)
				return
			}
			_, err = a.Owner.Reschedule(t.Context(), target.ID, target.Revision, when)
			if no, refused := model.Refused(err); refused && no.Kind == model.Conflict {
				lost.Add(1)
			} else if err != nil {
				t.Error(err)
			} else {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || lost.Load() != 7 {
		t.Errorf("%d moves counted and %d were told that it changed; want 1 and 7", won.Load(), lost.Load())
	}
}
