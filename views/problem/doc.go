// Package problem draws the pages that say no or admit a fault: nothing here,
// not allowed, changed meanwhile, slow down, broken on our side. The words come
// from the refusal; For gives the title and the way out that fit its status.
package problem
