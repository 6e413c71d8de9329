// Package target draws the evidence of one target: what became of it and what
// to do, when it was meant to go out, who approved what, and every step and call
// on the way, oldest first. The forms that a person may use are part of the
// page and work without script; each sends back the revision it was drawn from.
// While the target is on its way the status alone renews itself. words.go says
// in sentences what the states and reasons mean. Start with target.templ.
package target
