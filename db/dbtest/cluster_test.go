package dbtest

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestEveryCallGivesTheSameServer(t *testing.T) {
	t.Parallel()
	first := Cluster()
	if again := Cluster(); again != first {
		t.Fatal("two servers")
	}
	conn, err := pgx.Connect(t.Context(), Cluster().URL("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAGivenServerIsUsedForEveryRole(t *testing.T) {
	t.Parallel()
	s, err := open("postgres://admin:secret@127.0.0.1:5433/postgres?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ user, want string }{
		{"postgres", "postgres://admin:secret@127.0.0.1:5433/x?sslmode=disable"},
		{"herald_app", "postgres://herald_app@127.0.0.1:5433/x?sslmode=disable"},
	} {
		if got := s.URL(c.user, "x"); got != c.want {
			t.Errorf("%s: got %s, want %s", c.user, got, c.want)
		}
	}
	if _, err := open("localhost"); err == nil {
		t.Error("a name that is no address was taken")
	}
}
