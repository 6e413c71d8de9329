package db_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"herald/db"
	"herald/db/dbtest"
)

// source is the package as it is written: its constants, and which statements
// its functions send.
type source struct {
	consts map[string]ast.Expr
	sent   map[string]statement // by constant name, or place of a literal
}

// statement is one piece of SQL with the role that sends it.
type statement struct {
	sql  string
	role string
}

// readSource parses the package. The migrations are the owner's, and are tested
// by running them.
func readSource(t *testing.T) *source {
	t.Helper()
	s := &source{consts: map[string]ast.Expr{}, sent: map[string]statement{}}
	files := token.NewFileSet()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var parsed []*ast.File
	for _, e := range entries {
		if name := e.Name(); !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "migrate.go" {
			continue
		}
		f, err := parser.ParseFile(files, e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
		s.readConsts(f)
	}
	for _, f := range parsed {
		s.readFuncs(files, f)
	}
	return s
}

func (s *source) readConsts(f *ast.File) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			for i, name := range v.Names {
				if i < len(v.Values) {
					s.consts[name.Name] = v.Values[i]
				}
			}
		}
	}
}

// readFuncs notes every statement that a function of the file mentions. Methods
// of Pipeline send as the worker, and so do the plain functions beside them.
func (s *source) readFuncs(files *token.FileSet, f *ast.File) {
	file := "herald_app"
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && receiver(fn) == "Pipeline" {
			file = "herald_worker"
		}
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		role := file
		if r := receiver(fn); r == "Scope" || r == "Store" {
			role = "herald_app"
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if isStatement(n.Name) && s.consts[n.Name] != nil {
					sql, _ := s.text(n)
					s.sent[n.Name] = statement{sql, role}
				}
			case *ast.BasicLit, *ast.BinaryExpr:
				if sql, ok := s.text(n.(ast.Expr)); ok && looksLikeSQL.MatchString(sql) {
					s.sent[files.Position(n.Pos()).String()] = statement{sql, role}
					return false
				}
			}
			return true
		})
	}
}

var looksLikeSQL = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b`)

func isStatement(name string) bool {
	return strings.HasPrefix(name, "sql") && len(name) > 3 && name[3] >= 'A' && name[3] <= 'Z'
}

func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// text is the value of a constant expression of strings.
func (s *source) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		v, err := strconv.Unquote(e.Value)
		return v, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		if c, ok := s.consts[e.Name]; ok {
			return s.text(c)
		}
	case *ast.ParenExpr:
		return s.text(e.X)
	case *ast.BinaryExpr:
		left, ok1 := s.text(e.X)
		right, ok2 := s.text(e.Y)
		return left + right, e.Op == token.ADD && ok1 && ok2
	}
	return "", false
}

// TestPostgresTakesEveryStatement has each statement of the package prepared by
// the role that sends it, and explained: that checks names, types and grants.
func TestPostgresTakesEveryStatement(t *testing.T) {
	t.Parallel()
	w, src := dbtest.New(t), readSource(t)
	for name := range src.consts {
		if !isStatement(name) {
			continue
		}
		sql, ok := src.text(src.consts[name])
		if !ok {
			t.Errorf("%s is not a constant that this test can read", name)
		}
		if _, used := src.sent[name]; !used && !mentioned(src, name) {
			t.Errorf("nothing sends %s: take it away\n%s", name, sql)
		}
	}
	if len(src.sent) < 150 {
		t.Errorf("only %d statements were found", len(src.sent))
	}
	for _, role := range []string{"herald_app", "herald_worker"} {
		conn := as(t, w, db.MainShard, role)
		for _, set := range []string{"SET plan_cache_mode = force_generic_plan", "SET herald.tenant = '1'"} {
			if _, err := conn.Exec(t.Context(), set); err != nil {
				t.Fatal(err)
			}
		}
		for i, name := range slices.Sorted(maps.Keys(src.sent)) {
			if src.sent[name].role != role {
				continue
			}
			plan := fmt.Sprintf("s%d", i)
			p, err := conn.Prepare(t.Context(), plan, src.sent[name].sql)
			if err != nil {
				t.Errorf("%s as %s: %v\n%s", name, role, err, src.sent[name].sql)
				continue
			}
			explain := "EXPLAIN EXECUTE " + plan
			if n := len(p.ParamOIDs); n > 0 {
				explain += "(" + strings.Repeat("NULL, ", n-1) + "NULL)"
			}
			if _, err := conn.Exec(t.Context(), explain); err != nil {
				t.Errorf("%s as %s: %v\n%s", name, role, err, src.sent[name].sql)
			}
		}
	}
}

// mentioned says whether a constant is part of another.
func mentioned(src *source, name string) bool {
	for other, e := range src.consts {
		found := false
		ast.Inspect(e, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			found = found || ok && id.Name == name
			return true
		})
		if found && other != name {
			return true
		}
	}
	return false
}
