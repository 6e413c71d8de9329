package declare

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// reader reads one file and keeps what is wrong with it.
type reader struct {
	file     string
	problems []error
	seen     map[string]string // what was declared where, over all files
}

func (r *reader) at(n *yaml.Node) string { return r.file + ":" + strconv.Itoa(max(n.Line, 1)) }

func (r *reader) refuse(n *yaml.Node, format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf("%s: %s", r.at(n), fmt.Sprintf(format, args...)))
}

var lineOf = regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`)

// roots parses the text into the tables of its documents; empty ones are left out.
func (r *reader) roots(text []byte) (roots []*yaml.Node) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return roots
		}
		if err != nil {
			line, say := 1, err.Error()
			if m := lineOf.FindStringSubmatch(say); m != nil {
				say = m[2]
				line, _ = strconv.Atoi(m[1])
			}
			r.refuse(&yaml.Node{Line: line}, "this is not YAML: %s", say)
			return roots
		}
		if len(doc.Content) == 1 && doc.Content[0].Tag != "!!null" {
			roots = append(roots, doc.Content[0])
		}
	}
}

// table is one thing with its keys.
type table struct {
	*reader
	what   string
	node   *yaml.Node
	values map[string]*yaml.Node
}

// table reads a node as one thing of a kind: a key that the kind does not have,
// one that is given twice, and one without a value are problems.
func (r *reader) table(n *yaml.Node, what string) (t *table, ok bool) {
	n = meant(n)
	t = &table{reader: r, what: what, node: n, values: map[string]*yaml.Node{}}
	if n.Kind != yaml.MappingNode {
		r.refuse(n, "a %s is written as keys and values; its keys are %s", what, strings.Join(keys[what], ", "))
		return t, false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		t.take(n.Content[i], n.Content[i+1])
	}
	return t, true
}

func (t *table) take(key, value *yaml.Node) {
	value = meant(value)
	switch _, twice := t.values[key.Value]; {
	case key.Kind != yaml.ScalarNode || !slices.Contains(keys[t.what], key.Value):
		t.refuse(key, "a %s has no key %q; its keys are %s", t.what, short(key.Value), strings.Join(keys[t.what], ", "))
	case twice:
		t.refuse(key, "the key %s is given twice", key.Value)
	case value.Tag == "!!null":
		t.refuse(key, "the key %s has no value; leave the key out, or write [] for an empty list", key.Value)
	default:
		t.values[key.Value] = value
	}
}

// meant follows an alias to what it stands for.
func meant(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// short keeps a word that a person wrote to a length that fits a sentence.
func short(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// once refuses a second declaration of the same thing, in whatever file.
func (t *table) once(id string) bool {
	if first, twice := t.seen[id]; twice {
		t.refuse(t.node, "the %s is declared already, at %s", id, first)
		return false
	}
	t.seen[id] = t.at(t.node)
	return true
}

// tables reads a list of things.
func (t *table) tables(key, what string) (list []*table, given bool) {
	for _, n := range t.list(key, &given) {
		if one, ok := t.table(n, what); ok {
			list = append(list, one)
		}
	}
	return list, given
}

func (t *table) list(key string, given *bool) []*yaml.Node {
	n, ok := t.values[key]
	if !ok {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		t.refuse(n, "%s is a list; begin each line with a dash", key)
		return nil
	}
	*given = true
	return n.Content
}

// texts reads a list of words; nil if it was not given.
func (t *table) texts(key string, good func(string) (string, string)) []string {
	var given bool
	list := []string{}
	for _, n := range t.list(key, &given) {
		n = meant(n)
		value, problem := n.Value, "this is one word, not a list or a table"
		if n.Kind == yaml.ScalarNode {
			value, problem = good(value)
		}
		if problem != "" {
			t.refuse(n, "%s: %s", key, problem)
			continue
		}
		list = append(list, value)
	}
	if !given {
		return nil
	}
	return list
}

// scalar is the plain value of a key.
func (t *table) scalar(key string) (*yaml.Node, bool) {
	n, ok := t.values[key]
	if ok && n.Kind != yaml.ScalarNode {
		t.refuse(n, "%s is one value, not a list or a table", key)
		return nil, false
	}
	return n, ok
}

// text reads a value by a rule, which returns the value as it is kept, or what
// is wrong with it.
func (t *table) text(key string, good func(string) (value, problem string)) *string {
	n, ok := t.scalar(key)
	if !ok {
		return nil
	}
	value, problem := good(n.Value)
	if problem != "" {
		t.refuse(n, "%s: %s", key, problem)
		return nil
	}
	return &value
}

// need is text for a key that must be there: the name a thing is known by.
func (t *table) need(key string, good func(string) (value, problem string)) (string, bool) {
	if _, ok := t.values[key]; !ok {
		t.refuse(t.node, "a %s needs the key %s", t.what, key)
		return "", false
	}
	value := t.text(key, good)
	if value == nil {
		return "", false
	}
	return *value, true
}

func (t *table) flag(key string) *bool {
	value := t.text(key, oneOf("true", "false"))
	if value == nil {
		return nil
	}
	return new(*value == "true")
}

// number reads a whole number above zero, or word for none, which is zero.
func (t *table) number(key, word string) *int64 {
	n, ok := t.scalar(key)
	if !ok {
		return nil
	}
	v, err := strconv.ParseInt(strings.ReplaceAll(n.Value, "_", ""), 10, 64)
	switch {
	case n.Value == word:
		return new(int64(0))
	case err != nil || v < 1:
		t.refuse(n, "%s is a whole number above zero, or %s", key, word)
		return nil
	}
	return &v
}
