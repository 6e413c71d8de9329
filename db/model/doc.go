// Package model holds the plain words of Herald: ids, states and the moves
// between them, who acts and what they may do, schedule arithmetic, and the
// Refusal that says no in one sentence. It imports the standard library only,
// so every other package may use it. Start with target.go.
package model
