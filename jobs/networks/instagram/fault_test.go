package instagram

import (
	"testing"

	"herald/jobs/networks/graph"
	"herald/jobs/networks/graph/graphtest"
)

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	graphtest.Walk(t, graph.NewTable("Instagram", rows...), rows, graphtest.File(t, "errors.txt"))
}
