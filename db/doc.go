// Package db is what may be stored and which changes are legal. Rules live in
// the schema where SQL can state them, in a function here where it cannot, and
// nowhere else.
//
// A Store knows the control database and the shards. People reach tenant data
// through a Scope, which only Store.Enter and its kin make; the pipeline reaches
// it through a Pipeline, whose role may call the schema's functions and nothing
// else. Start with store.go and scope.go; db/migrations/tenant holds the rules.
package db
