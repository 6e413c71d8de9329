package threads

import (
	"testing"

	"herald/jobs/networks/graph"
	"herald/jobs/networks/graph/graphtest"
	"herald/jobs/networks/nettest"
)

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	graphtest.Walk(t, graph.NewTable("Threads", rows...), rows, nettest.File(t, "errors.txt"))
}
