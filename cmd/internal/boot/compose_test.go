package boot

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// operators is what the top of docker-compose.yml asks the operator for.
var operators = []string{
	"HERALD_KEYS=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "HERALD_BASE_URL=https://herald.example.com", "S3_PUBLIC=https://media.example.com", "S3_SECRET=abc", "DB_PASSWORD=abc",
	"HERALD_SMTP_URL=smtp://user:password@mail.example.com:587", "HERALD_MAIL_FROM=Herald <herald@example.com>",
}

func compose(t *testing.T, env []string) (*types.Project, error) {
	t.Helper()
	o, err := cli.NewProjectOptions([]string{"../../../docker-compose.yml"}, cli.WithEnv(env))
	if err != nil {
		t.Fatal(err)
	}
	return o.LoadProject(t.Context())
}

// Docker's own reader takes docker-compose.yml, and Herald takes what it would be
// started with; what the operator is asked for is asked for.
func TestComposeIsReadAndHeraldKnowsItsSettings(t *testing.T) {
	t.Parallel()
	project, err := compose(t, operators)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"migrate", "serve", "work"} {
		s := project.Services[name]
		var environ []string
		for key, value := range s.Environment {
			if strings.HasPrefix(key, "HERALD_") {
				environ = append(environ, key+"="+*value)
			}
		}
		if len(environ) < 10 {
			t.Errorf("%s is given %d settings", name, len(environ))
		}
		if _, err := Read(environ); err != nil {
			t.Errorf("%s would not start: %v", name, err)
		}
		for what := range s.DependsOn {
			if _, there := project.Services[what]; !there {
				t.Errorf("%s waits for %s, which is no service", name, what)
			}
		}
	}
	for i := range operators {
		if _, err := compose(t, slices.Delete(slices.Clone(operators), i, i+1)); err == nil || !strings.Contains(err.Error(), "see the top of docker-compose.yml") {
			t.Errorf("without %.12s… compose says %v", operators[i], err)
		}
	}
}

var copied = regexp.MustCompile(`(?m)^\s*COPY (.*)$`)

// What the image is built of is there, and comes from stages that it names.
func TestComposeBuildsFromFilesThatExist(t *testing.T) {
	t.Parallel()
	project, err := compose(t, operators)
	if err != nil {
		t.Fatal(err)
	}
	file := project.Services["serve"].Build.DockerfileInline
	stages := regexp.MustCompile(`(?m)^FROM \S+ AS (\S+)$`).FindAllStringSubmatch(file, -1)
	lines := copied.FindAllStringSubmatch(file, -1)
	if len(stages) != 2 || len(lines) < 5 {
		t.Fatalf("%d named stages and %d copies in\n%s", len(stages), len(lines), file)
	}
	for _, line := range lines {
		words := strings.Fields(line[1])
		if from, ok := strings.CutPrefix(words[0], "--from="); ok {
			if !slices.ContainsFunc(stages, func(s []string) bool { return s[1] == from }) {
				t.Errorf("COPY %s: there is no stage %s", line[1], from)
			}
			continue
		}
		for _, name := range words[:len(words)-1] {
			if _, err := os.Stat(filepath.Join("../../..", name)); err != nil {
				t.Error(fmt.Errorf("COPY %s: %w", line[1], err))
			}
		}
	}
}
