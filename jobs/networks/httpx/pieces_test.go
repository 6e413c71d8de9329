package httpx

import (
	"context"
	"io"
	"strings"
	"testing"
)

func TestPiecesGoOnWhereTheyAreAndBackByOpeningAgain(t *testing.T) {
	t.Parallel()
	opened := 0
	p := Pieces{Open: func(context.Context) (io.ReadCloser, error) {
		opened++
		return io.NopCloser(strings.NewReader("0123456789")), nil
	}}
	defer p.Close()
	for _, c := range []struct {
		from, to int64
		want     string
		opened   int
	}{{0, 4, "0123", 1}, {4, 6, "45", 1}, {8, 10, "89", 1}, {2, 5, "234", 2}, {5, 5, "", 2}} {
		r, err := p.Piece(t.Context(), c.from, c.to)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != c.want || opened != c.opened {
			t.Errorf("%d to %d: %q, %v after %d openings", c.from, c.to, got, err, opened)
		}
	}
	if _, err := p.Piece(t.Context(), 20, 21); err == nil {
		t.Error("a piece behind the end was given")
	}
	if r, err := p.Piece(t.Context(), 0, 1); err != nil {
		t.Error(err)
	} else if got, _ := io.ReadAll(r); string(got) != "0" {
		t.Errorf("after a failure: %q", got)
	}
}
