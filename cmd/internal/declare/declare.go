// Package declare reads what herald apply is given, YAML files that say which
// workspaces, plans, people, clients and accounts should be there, and brings a
// store to it. Reading finds every problem before anything is written, each with
// file and line, and never repeats a password or a token. The keys stand in
// keys.go, an example with all of them in example.yaml; start with Parse.
package declare

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"herald/db"
)

// Document is what files declared.
type Document = db.Declaration

// Source is one YAML text and the name it has in errors.
type Source struct {
	Name string
	Text []byte
}

// maxFile bounds a file; the largest agencies stay far below.
const maxFile = 16 << 20

//go:embed example.yaml
var example []byte

// Example is a commented file with every key. It can be applied as it is.
func Example() Source { return Source{Name: "example.yaml", Text: example} }

// Read reads files as one document.
func Read(files ...string) (Document, error) {
	var sources []Source
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return Document{}, unread(name, err)
		}
		if info.Size() > maxFile {
			return Document{}, fmt.Errorf("%s is larger than %d MB", name, maxFile>>20)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return Document{}, unread(name, err)
		}
		sources = append(sources, Source{name, text})
	}
	return Parse(sources...)
}

// unread says why a file cannot be read, without the name of the system's call.
func unread(name string, err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	return fmt.Errorf("%s cannot be read: %w", name, err)
}

// Parse reads texts as one document. The error joins one sentence for each
// problem, beginning with file:line.
func Parse(sources ...Source) (Document, error) {
	var doc Document
	var problems []error
	seen := map[string]string{}
	for _, s := range sources {
		r := &reader{file: s.Name, seen: seen}
		for _, root := range r.roots(s.Text) {
			r.document(root, &doc)
		}
		problems = append(problems, r.problems...)
	}
	return doc, errors.Join(problems...)
}

// Apply brings the store to the document and lists what changed, a line each.
// It is safe to run twice and at once; see db.Store.Declare.
func Apply(ctx context.Context, store *db.Store, doc Document) (changes []string, err error) {
	return store.Declare(ctx, doc)
}
