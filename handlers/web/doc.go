// Package web is the edge that all handlers share: sessions, the signed-in
// wrapper that alone makes a Scope, how an error reaches a person, and the
// headers every answer carries. Handlers return errors; only Edge logs them.
// Start with edge.go.
package web
