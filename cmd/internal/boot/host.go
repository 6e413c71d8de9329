package boot

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"herald/db"
	"herald/handlers/desk"
)

// hostLooker looks at names by the machine's resolver and by the client that reads what
// people choose.
type hostLooker struct {
	resolver *net.Resolver
	fetch    desk.Fetcher
}

// HostLooker looks at host names that agencies say are theirs.
func (c Config) HostLooker(now func() time.Time) db.HostLooker {
	return hostLooker{net.DefaultResolver, c.Fetcher(now)}
}

// hostPatience is how long a name's DNS, or the name itself, is waited for.
const hostPatience = 10 * time.Second

// Records implements db.HostLooker.
func (l hostLooker) Records(ctx context.Context, name string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, hostPatience)
	defer cancel()
	records, err := l.resolver.LookupTXT(ctx, name)
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return nil, nil
	}
	return records, err
}

// Reads implements db.HostLooker.
func (l hostLooker) Reads(ctx context.Context, address string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, hostPatience)
	defer cancel()
	f, err := l.fetch(ctx, address)
	if err != nil {
		return "", err
	}
	defer f.Body.Close()
	line, err := io.ReadAll(io.LimitReader(f.Body, 200))
	return string(line), err
}
