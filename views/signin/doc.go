// Package signin draws the page where a person signs in. It says the same thing
// for a wrong address and a wrong password; the handler decides the words.
package signin
