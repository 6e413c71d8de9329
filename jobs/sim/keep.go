package sim

import (
	"encoding/gob"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"herald/db/network"
)

// kept is what Save writes: what the public sees, what the lists know, and which
// client keys were used. Uploads on their way, tokens, faults and the log of
// calls are not in it.
type kept struct {
	Accounts []keptAccount
	Files    map[string]keptFile
}

type keptAccount struct {
	Network      network.Name
	ID           string
	Handle, Name string
	Aliases      []string
	Posts        []keptPost
	Keys         map[string]keptKey
}

type keptPost struct {
	Post    Post
	Seq     int64
	Path    string
	Files   []string // the paths of Post.Media
	Born    time.Time
	Hidden  bool
	Gone    time.Time
	Edited  bool
	Parent  string
	Private map[string]string
}

type keptKey struct {
	ID   string
	When time.Time
}

type keptFile struct {
	Kind, Mime    string
	Size          int64
	Width, Height int
	Data          []byte
}

// Save writes down what the networks hold, for a Load in a later process.
func (s *Sim) Save(w io.Writer) error {
	st := s.state.Load()
	all := kept{Files: map[string]keptFile{}}
	for _, name := range s.order {
		for _, a := range st.at(name).all() {
			all.Accounts = append(all.Accounts, a.kept())
		}
	}
	st.media.mu.Lock()
	for id, b := range st.media.files {
		all.Files[id] = keptFile{b.kind, b.mime, b.size, b.width, b.height, b.data}
	}
	st.media.mu.Unlock()
	return gob.NewEncoder(w).Encode(all)
}

func (a *account) kept() keptAccount {
	a.label.RLock()
	k := keptAccount{Network: a.network, ID: a.id, Handle: a.handle, Name: a.name, Aliases: slices.Clone(a.aliases), Keys: map[string]keptKey{}}
	a.label.RUnlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.posts {
		p := keptPost{Post: e.copied(""), Seq: e.seq, Path: e.path, Born: e.born, Hidden: e.hidden, Gone: e.gone, Edited: e.edited, Parent: e.parent, Private: maps.Clone(e.private)}
		for _, m := range e.Media {
			p.Files = append(p.Files, m.path)
		}
		k.Posts = append(k.Posts, p)
	}
	for key, v := range a.keys {
		k.Keys[key] = keptKey{v.id, v.when}
	}
	return k
}

// Load takes over what Save wrote. It is for a fresh Sim, before its first call;
// accounts are declared afterwards.
func (s *Sim) Load(r io.Reader) error {
	var all kept
	if err := gob.NewDecoder(r).Decode(&all); err != nil {
		return fmt.Errorf("read what the simulated networks held: %w", err)
	}
	st := s.state.Load()
	for id, f := range all.Files {
		st.media.put(id, blob{kind: f.Kind, mime: f.Mime, size: f.Size, width: f.Width, height: f.Height, data: f.Data})
	}
	for _, k := range all.Accounts {
		if _, known := s.places[k.Network]; known {
			k.restore(st)
		}
	}
	return nil
}

func (k keptAccount) restore(st *state) {
	sh := st.at(k.Network)
	a := sh.open(k.ID)
	for _, id := range k.Aliases {
		sh.alias(a, id)
	}
	a.label.Lock()
	a.handle, a.name = k.Handle, k.Name
	a.label.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, v := range k.Keys {
		a.keys[key] = keyed{v.ID, v.When}
	}
	for _, p := range k.Posts {
		e := &entry{Post: p.Post, born: p.Born, hidden: p.Hidden, gone: p.Gone, edited: p.Edited, parent: p.Parent, private: p.Private}
		e.seq, e.path = p.Seq, p.Path
		for i := range e.Media {
			e.Media[i].path = p.Files[i]
		}
		if e.private == nil {
			e.private = map[string]string{}
		}
		st.put(a, e)
	}
}
