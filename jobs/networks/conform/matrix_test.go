package conform

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"herald/db/network"
)

var show = flag.Bool("matrix", false, "print network x case when all is done")

// TestMain runs the suite and prints the matrix if asked.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if *show {
		board.print(os.Stdout)
	}
	if holes := board.holes(); code == 0 && holes != "" && flag.Lookup("test.run").Value.String() == "" {
		fmt.Println("neither passed nor explained:", holes)
		code = 1
	}
	shared.close()
	os.Exit(code)
}

// cell is how one case went on one network.
type cell struct {
	ran    bool
	failed bool
	why    string // it does not apply
}

// matrix is every cell of this run of the suite.
type matrix struct {
	mu    sync.Mutex
	cells map[string]map[network.Name]*cell
	order []string
}

var board = &matrix{cells: map[string]map[network.Name]*cell{}}

func (m *matrix) cell(name string, of network.Name) *cell {
	if m.cells[name] == nil {
		m.cells[name] = map[network.Name]*cell{}
		m.order = append(m.order, name)
	}
	if m.cells[name][of] == nil {
		m.cells[name][of] = &cell{}
	}
	return m.cells[name][of]
}

// note writes a finished test down.
func (m *matrix) note(name string, of network.Name, failed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.cell(name, of)
	c.ran, c.failed = true, failed
}

// explain writes down why a case does not apply.
func (m *matrix) explain(name string, of network.Name, why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cell(name, of).why = why
}

// reserve keeps the rows in the order of the suite, not of the scheduler.
func (m *matrix) reserve(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cells[name] == nil {
		m.cells[name] = map[network.Name]*cell{}
		m.order = append(m.order, name)
	}
}

// check is a case: what runs on each network, or why it does not.
type check struct {
	name string
	why  func(p place) string // empty: it applies
	run  func(t *testing.T, p place)
}

// everywhere runs cases on every network and leaves no cell empty.
func everywhere(t *testing.T, cases ...check) {
	t.Helper()
	for _, c := range cases {
		board.reserve(c.name)
		for _, p := range places() {
			if c.why != nil {
				if why := c.why(p); why != "" {
					board.explain(c.name, p.column(), why)
					continue
				}
			}
			t.Run(c.name+"/"+string(p.column()), func(t *testing.T) {
				t.Parallel()
				t.Cleanup(func() { board.note(c.name, p.column(), t.Failed()) })
				c.run(t, p)
			})
		}
	}
}

// holes names the cells that are neither passed nor explained.
func (m *matrix) holes() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list, notes []string
	for _, row := range m.order {
		for _, p := range places() {
			if m.cell(row, p.column()).text(&notes) == "HOLE" {
				list = append(list, row+" on "+string(p.column()))
			}
		}
	}
	return strings.Join(list, ", ")
}

func (m *matrix) print(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var columns []network.Name
	for _, p := range places() {
		columns = append(columns, p.column())
	}
	wide := len(slices.MaxFunc(append(slices.Clone(m.order), ""), func(a, b string) int { return cmp.Compare(len(a), len(b)) }))
	fmt.Fprintf(w, "%-*s", wide+2, "")
	for _, name := range columns {
		fmt.Fprintf(w, "%-19s", name)
	}
	fmt.Fprintln(w)
	var notes []string
	for _, row := range m.order {
		fmt.Fprintf(w, "%-*s", wide+2, row)
		for _, name := range columns {
			fmt.Fprintf(w, "%-19s", m.cell(row, name).text(&notes))
		}
		fmt.Fprintln(w)
	}
	for i, note := range notes {
		fmt.Fprintf(w, "(%d) %s\n", i+1, note)
	}
}

// text is the cell in a word; its reason becomes a note.
func (c *cell) text(notes *[]string) string {
	switch {
	case c.failed:
		return "FAILED"
	case !c.ran && c.why == "":
		return "HOLE"
	case !c.ran:
		i := slices.Index(*notes, c.why)
		if i < 0 {
			*notes, i = append(*notes, c.why), len(*notes)
		}
		return fmt.Sprintf("– (%d)", i+1)
	}
	return "passed"
}

func TestEveryNetworkOfTheCatalogueHasAnAdapterAndASimulator(t *testing.T) {
	t.Parallel()
	var have []string
	for _, p := range places() {
		if p.Name == p.Network.Name {
			have = append(have, string(p.Name))
		}
		w := newWorld(t, p)
		if got := w.get("/" + string(p.Name)); got != 200 {
			t.Errorf("%s has no simulator: its page answers %d", p.Name, got)
		}
	}
	var want []string
	for _, n := range network.All() {
		want = append(want, string(n.Name))
	}
	slices.Sort(have)
	if strings.Join(have, " ") != strings.Join(want, " ") {
		t.Errorf("the suite knows %v, the catalogue has %v", have, want)
	}
}
