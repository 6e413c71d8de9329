package sim_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"herald/jobs/sim"
)

func TestWhatTheNetworksHoldOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		m.publish(w, "hello", sim.Fault{}).want(t, m.good())
		var kept bytes.Buffer
		if err := w.sim.Save(&kept); err != nil {
			t.Fatal(err)
		}
		again := sim.New(sim.Options{Now: w.clock})
		if err := again.Load(&kept); err != nil {
			t.Fatal(err)
		}
		was, _ := json.Marshal(w.sim.Posts(m.name, "1001"))
		if is, _ := json.Marshal(again.Posts(m.name, "1001")); string(is) != string(was) || !strings.Contains(string(is), "hello") {
			t.Errorf("was %s, is %s", was, is)
		}
	})
}

func TestADeliveryIsKnownAgainAfterALoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(w.delivery("1001", "d-1", "hello")).want(t, 200)
	var kept bytes.Buffer
	if err := w.sim.Save(&kept); err != nil {
		t.Fatal(err)
	}
	w.sim.Reset()
	if err := w.sim.Load(&kept); err != nil {
		t.Fatal(err)
	}
	if g := w.send(w.delivery("1001", "d-1", "hello")); !strings.Contains(g.raw, "duplicate") {
		t.Errorf("got %s", g.raw)
	}
}

func TestLoadRefusesWhatSaveDidNotWrite(t *testing.T) {
	t.Parallel()
	if err := sim.New(sim.Options{}).Load(strings.NewReader("nothing of the kind")); err == nil {
		t.Error("taken")
	}
}
