package signin

import (
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"time"
)

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
