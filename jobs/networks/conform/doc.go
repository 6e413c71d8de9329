// Package conform is the suite that every adapter passes: each network of the
// catalogue, through its adapter, against its simulator, over real HTTP. It is
// tests only, and prints what it proved as a matrix, network by case:
//
//	go tool task conform
//
// A case says what has to be true of every network; a network that has nothing
// to try (no first comment, no token to renew) says why, from its catalogue
// entry or from what its adapter can do, and the matrix shows it. A cell that
// neither passed nor is explained fails the suite.
//
// Facts decide, never the other side: an adapter and a simulator that agree and
// are wrong are both wrong. Where the suite runs a whole publish it acts as the
// pipeline does (see courier), kills it at every step, and counts what the
// public sees.
//
// A new network adds itself to places in place_test.go and needs nothing else
// here. Start there, then fault_test.go and crash_test.go.
package conform
