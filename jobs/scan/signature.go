package scan

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
)

// Signature knows the EICAR test file and nothing else, bare, inside another
// file, and inside zip archives. It is no protection.
type Signature struct{}

// Ping implements Scanner.
func (Signature) Ping(context.Context) error { return nil }

// eicar is the test file's text, put together at run time so that this program
// is not taken for it.
func eicar() []byte {
	return []byte(strings.Join([]string{`X5O!P%@AP[4\PZX54(P^)7CC)7}$`, `EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`}, ""))
}

const (
	eicarName = "Eicar-Test-Signature"
	// How much of archives is unpacked: past it the answer is that nobody knows.
	maxUnpacked = 64 << 20
	maxMembers  = 10_000
	maxNested   = 4
)

// Scan implements Scanner. The bytes go by way of a file, since the members of an
// archive can only be reached from its end.
func (Signature) Scan(ctx context.Context, r io.Reader) (Verdict, error) {
	file, err := os.CreateTemp("", "herald-scan-*")
	if err != nil {
		return Verdict{}, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	s := &unpacking{ctx: ctx, left: maxUnpacked}
	found, size, err := s.search(io.TeeReader(r, file))
	if err == nil && !found {
		found, err = s.members(file, size, 0)
	}
	switch {
	case errors.Is(err, errTooMuch):
		return Verdict{TooLarge: true}, nil
	case err != nil:
		return Verdict{}, err
	case found:
		return Verdict{Found: eicarName}, nil
	}
	return Verdict{}, nil
}

var errTooMuch = errors.New("more is packed in than is unpacked")

type unpacking struct {
	ctx   context.Context
	left  int64
	count int
}

// search reads r to its end and looks for the text.
func (s *unpacking) search(r io.Reader) (found bool, size int64, err error) {
	text := eicar()
	buf := make([]byte, len(text)-1+chunk)
	kept := 0
	for {
		if err := s.ctx.Err(); err != nil {
			return false, size, err
		}
		n, err := r.Read(buf[kept : kept+chunk])
		size += int64(n)
		found = found || bytes.Contains(buf[:kept+n], text)
		tail := min(kept+n, len(text)-1)
		copy(buf, buf[kept+n-tail:kept+n])
		kept = tail
		if err == io.EOF {
			return found, size, nil
		}
		if err != nil {
			return false, size, err
		}
	}
}

// members looks into a zip archive. What is none, or is locked or broken, has no
// members that anybody could unpack.
func (s *unpacking) members(at io.ReaderAt, size int64, depth int) (bool, error) {
	archive, err := zip.NewReader(at, size)
	if err != nil {
		return false, nil
	}
	if depth >= maxNested {
		return false, errTooMuch
	}
	for _, m := range archive.File {
		if s.count++; s.count > maxMembers {
			return false, errTooMuch
		}
		found, err := s.member(m, depth)
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

func (s *unpacking) member(m *zip.File, depth int) (bool, error) {
	r, err := m.Open()
	if err != nil {
		return false, nil
	}
	defer r.Close()
	body, err := io.ReadAll(io.LimitReader(r, s.left+1))
	if int64(len(body)) > s.left {
		return false, errTooMuch
	}
	s.left -= int64(len(body))
	if s.ctx.Err() != nil {
		return false, s.ctx.Err()
	}
	if bytes.Contains(body, eicar()) || err != nil {
		return bytes.Contains(body, eicar()), nil
	}
	return s.members(bytes.NewReader(body), int64(len(body)), depth+1)
}
