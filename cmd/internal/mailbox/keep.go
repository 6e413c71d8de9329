package mailbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/mail"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options are for a mailbox that is more than a test's.
type Options struct {
	Dir string           // where mails are kept between runs; empty: nowhere
	Now func() time.Time // when a mail was received; time.Now if nil
}

// The two headers that a kept mail begins with.
const (
	receivedHeader = "X-Mailbox-Received"
	toHeader       = "X-Mailbox-To"
)

// load reads what an earlier run kept. A file that is no mail is passed over.
func (b *Mailbox) load() error {
	if b.dir == "" {
		return nil
	}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return fmt.Errorf("mailbox: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(b.dir, "*.eml"))
	if err != nil {
		return fmt.Errorf("mailbox: %w", err)
	}
	slices.Sort(files)
	for _, path := range files[max(0, len(files)-kept):] {
		raw, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("mailbox: %w", err)
		}
		if m, ok := readKept(path, raw); ok {
			b.mails, b.lastID = append(b.mails, m), m.ID
		}
	}
	return nil
}

func readKept(path string, raw []byte) (m Mail, ok bool) {
	id, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".eml"))
	msg, bad := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil || bad != nil {
		return m, false
	}
	if m, err = parse(raw); err != nil {
		return m, false
	}
	m.ID, m.Recipients = id, strings.Fields(msg.Header.Get(toHeader))
	m.Received, err = time.Parse(time.RFC3339, msg.Header.Get(receivedHeader))
	return m, err == nil
}

// keep writes a mail down, and takes away the one that is too old by now. The
// caller holds mu.
func (b *Mailbox) keep(m Mail, raw []byte) error {
	if b.dir == "" {
		return nil
	}
	head := fmt.Sprintf("%s: %s\r\n%s: %s\r\n", receivedHeader, m.Received.Format(time.RFC3339), toHeader, strings.Join(m.Recipients, " "))
	path := b.file(m.ID)
	if err := os.WriteFile(path+".new", append([]byte(head), raw...), 0o600); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	if err := os.Remove(b.file(m.ID - kept)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (b *Mailbox) file(id int) string { return filepath.Join(b.dir, fmt.Sprintf("%08d.eml", id)) }
