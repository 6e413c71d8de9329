package web

import "testing"

func TestWhatIsNoIdIsTheIdOfNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"1": 1, "9223372036854775807": 9223372036854775807, "9223372036854775808": 0, "-1": 0, "0": 0, "": 0, "1.5": 0, "0x10": 0, " 1": 0, "１": 0} {
		if got := ID(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestWhatIsNoCountIsRefused(t *testing.T) {
	t.Parallel()
	if n, err := Count("2147483647"); n != 2147483647 || err != nil {
		t.Error(n, err)
	}
	for _, text := range []string{"2147483648", "-1", "", "1e3", "9223372036854775807"} {
		if n, err := Count(text); err == nil {
			t.Errorf("%q: %d", text, n)
		}
	}
}
