package httpx

import (
	"context"
	"io"
)

// Pieces reads a file piece by piece, for uploads that take one so. It opens the
// file again only to go back, and reads over what is not wanted. Close it.
type Pieces struct {
	Open func(ctx context.Context) (io.ReadCloser, error)

	file io.ReadCloser
	at   int64
}

// Piece is the file from one byte up to another. It is valid until the next
// call; closing it closes nothing.
func (p *Pieces) Piece(ctx context.Context, from, to int64) (io.ReadCloser, error) {
	if p.file != nil && p.at > from {
		p.Close()
	}
	if p.file == nil {
		file, err := p.Open(ctx)
		if err != nil {
			return nil, err
		}
		p.file, p.at = file, 0
	}
	if _, err := io.CopyN(io.Discard, p.file, from-p.at); err != nil {
		p.Close() // how far it got is not known
		return nil, err
	}
	p.at = from
	return io.NopCloser(io.LimitReader(p, to-from)), nil
}

// Read keeps count, since an answer may come before the whole piece was read.
func (p *Pieces) Read(b []byte) (int, error) {
	n, err := p.file.Read(b)
	p.at += int64(n)
	return n, err
}

// Close closes the file, if one is open.
func (p *Pieces) Close() error {
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	p.file = nil
	return err
}
