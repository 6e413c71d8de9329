package web

import (
	"errors"
	"strconv"
)

// ErrNumber says that a text is no number that anything here could have.
var ErrNumber = errors.New("no number of ours")

// ID reads the id of a row, a bigint above zero. What is none becomes zero, which
// nothing has.
func ID(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// Count reads a revision, a stage, a page or a place in a list: a whole number from
// zero that an integer of Postgres holds.
func Count(s string) (int, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 {
		return 0, ErrNumber
	}
	return int(n), nil
}
