package signin

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"herald/db"
)

// The buckets of sign-in. Wrong tries count; what was right is given back.
//
// The hard limit is on a network address and an e-mail address together, so that
// nobody is shut out by what others try elsewhere. All addresses together share a
// larger bucket for each person: one address alone cannot fill it, since its own
// hard limit lets less through than drips out, so it takes a dozen of them at
// least. At worst somebody with many addresses has 30 guesses at a password at
// once and 1,440 a day, and shuts out meanwhile who has never signed in from this
// browser before. Who has, proves it by a signed cookie and has a bucket of their
// own; a stolen cookie is good for 30 guesses an hour, and for nothing else. An
// office behind one network address shares the first bucket.
var (
	perClient = db.Bucket{Kind: "signin client", Burst: 40, Drip: 15 * time.Second}
	perPair   = db.Bucket{Kind: "signin pair", Burst: 6, Drip: 2 * time.Minute}
	perPerson = db.Bucket{Kind: "signin person", Burst: 30, Drip: time.Minute}
	perDevice = db.Bucket{Kind: "signin device", Burst: 6, Drip: 2 * time.Minute}
)

// due is one bucket that a try is taken from. A right password empties an own
// one, which holds nobody else's tries, and gives one drop back to another.
type due struct {
	bucket db.Bucket
	who    string
	own    bool
}

// dues are the buckets of a try, the client's first, so that a client that floods
// fills no other.
func (d *door) dues(r *http.Request, email string) []due {
	if device, known := d.device(r, email); known {
		return []due{{perDevice, device, true}}
	}
	from := client(r)
	return []due{{perClient, from, false}, {perPair, from + " " + email, true}, {perPerson, email, false}}
}

func (d *door) throttle(ctx context.Context, dues []due) (wait time.Duration, err error) {
	for _, one := range dues {
		if wait, err = d.Store.Take(ctx, one.bucket, one.who); wait > 0 || err != nil {
			return wait, err
		}
	}
	return 0, nil
}

func (d *door) forgive(ctx context.Context, dues []due) error {
	for _, one := range dues {
		back := d.Store.GiveBack
		if one.own {
			back = d.Store.Drain
		}
		if err := back(ctx, one.bucket, one.who); err != nil {
			return err
		}
	}
	return nil
}

// The cookie by which a browser proves that somebody signed in with it before.
const (
	deviceCookie  = "herald_device"
	devicePurpose = "signin device"
	deviceLife    = 180 * 24 * time.Hour
	deviceName    = 16 // random bytes; the hash of the e-mail address follows
)

// device is the name of the browser, if the person of this address signed in with
// it before.
func (d *door) device(r *http.Request, email string) (name string, known bool) {
	c, err := r.Cookie(deviceCookie)
	if err != nil {
		return "", false
	}
	payload, err := d.ring.Verify(devicePurpose, c.Value, d.Now())
	if err != nil || len(payload) < deviceName {
		return "", false
	}
	whose := sha256.Sum256([]byte(email))
	return string(payload), bytes.Equal(payload[deviceName:], whose[:])
}

// remember gives the browser its cookie: it is of the person who signed in last.
func (d *door) remember(w http.ResponseWriter, email string) {
	payload := make([]byte, deviceName)
	_, _ = rand.Read(payload) // never fails; it ends the process instead
	whose := sha256.Sum256([]byte(email))
	value := d.ring.Sign(devicePurpose, append(payload, whose[:]...), d.Now().Add(deviceLife))
	http.SetCookie(w, &http.Cookie{Name: deviceCookie, Value: value, Path: "/signin", MaxAge: int(deviceLife.Seconds()), HttpOnly: true, Secure: d.Sessions.Secure, SameSite: http.SameSiteLaxMode})
}

// client is whose tries are counted together: a network address, or for IPv6 the
// network that one customer gets, since whoever has one address of it has all.
// What a request says of it in headers counts only where web.Behind believed it.
func client(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	addr := at.Addr().Unmap().WithZone("")
	if addr.Is6() {
		if network, err := addr.Prefix(64); err == nil {
			return network.String()
		}
	}
	return addr.String()
}

// sayWait is the sentence for somebody who tried too often.
func sayWait(wait time.Duration) string {
	if wait <= 90*time.Second {
		return fmt.Sprintf("Too many tries. Try again in %s seconds.", seconds(wait))
	}
	return fmt.Sprintf("Too many tries. Try again in %.0f minutes.", math.Ceil(wait.Minutes()))
}

func seconds(wait time.Duration) string { return strconv.Itoa(max(int(math.Ceil(wait.Seconds())), 1)) }
