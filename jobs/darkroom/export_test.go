package darkroom

import (
	"context"
	"fmt"
)

// What tests have a child do that no order asks for: tools are run as they are.

// Greedy has a child take so much memory.
func (r *Room) Greedy(ctx context.Context, bytes int64) (string, error) {
	return r.sh(ctx, bounds{Memory: 128 << 20, Seconds: 20, FileSize: 1 << 20}, fmt.Sprintf(`x=$(head -c %d /dev/zero | tr '\0' x); echo ${#x}`, bytes))
}

// Hang has a child do nothing for ever.
func (r *Room) Hang(ctx context.Context) (string, error) {
	return r.sh(ctx, bounds{Memory: 128 << 20, Seconds: 20, FileSize: 1 << 20}, "while :; do :; done")
}

// Environment is what a child sees.
func (r *Room) Environment(ctx context.Context) (string, error) {
	return r.sh(ctx, bounds{Memory: 128 << 20, Seconds: 20, FileSize: 1 << 20}, "env")
}

// Grumble has a child end well after a complaint.
func (r *Room) Grumble(ctx context.Context, complaint string) error {
	_, err := r.sh(ctx, bounds{Memory: 128 << 20, Seconds: 20, FileSize: 1 << 20}, "echo '"+complaint+"' >&2")
	return err
}

func (r *Room) sh(ctx context.Context, b bounds, script string) (string, error) {
	cmd := r.command(ctx, b, "tool", "/bin/sh", "-c", script)
	var out tail
	cmd.Stdout = &out
	err := r.run(ctx, cmd)
	return out.String(), err
}
