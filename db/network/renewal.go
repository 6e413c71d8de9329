package network

import "time"

// Renewal is how connections of a network are kept without a person.
type Renewal struct {
	Life   time.Duration // of a refresh token, where the network does not say
	From   Since         // what that life counts from
	Source string
}

// Since is what the life of a refresh token counts from.
type Since string

// The beginnings.
const (
	FromIssue   Since = "issue"   // a renewal brings another, whose life is whole again
	FromUse     Since = "use"     // it stays, and ends if nobody uses it
	FromConsent Since = "consent" // nothing prolongs it: the person has to come back
	FromToken   Since = "token"   // the access token renews itself, while it lives
)

// RefreshEnds is when the refresh token ends that came with a token at now. expires is
// the token's own end, said what the network said of the refresh token, was what was
// known of the one before, and fresh whether it is another than that. Zero: not known.
func (r *Renewal) RefreshEnds(now, expires, said, was time.Time, fresh bool) time.Time {
	switch {
	case r.From == FromToken:
		return expires
	case !said.IsZero():
		return said
	case r.From == FromUse, fresh && (r.From == FromIssue || was.IsZero()):
		return now.Add(r.Life)
	}
	return was
}

// renewWhole is from which length of life on a token is renewed before anybody needs
// it. Shorter ones are renewed when a post meets them: nobody keeps the tokens of an
// hour alive for accounts that rest.
const renewWhole = 7 * 24 * time.Hour

// RenewAt is when a connection is renewed that has a token until expires and a refresh
// token until ends: after two thirds of the life of whichever ends first, so that
// a third of it is left to try again. Zero: nothing runs out, or renewing gains nothing.
// Tokens that renew themselves are then more than a day old, which their networks ask.
func (r *Renewal) RenewAt(now, expires, ends time.Time) time.Time {
	if expires.IsZero() || !ends.After(now) {
		return time.Time{}
	}
	if expires.Sub(now) >= renewWhole && expires.Before(ends) {
		return now.Add(expires.Sub(now) * 2 / 3)
	}
	if r.From == FromConsent {
		return time.Time{}
	}
	return now.Add(ends.Sub(now) * 2 / 3)
}
