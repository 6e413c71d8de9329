package darkroom

import (
	"context"
	"fmt"
	"strconv"
)

// What tests have a child do that no order asks for: tools are run as they are.

// Greedy has a child take so much memory.
func (r *Room) Greedy(ctx context.Context, bytes int64) (string, error) {
	return r.sh(ctx, bounds{Memory: 128 << 20, Seconds: 20, FileSize: 1 << 20}, fmt.Sprintf(`x=$(head -c %d /dev/zero | tr '\0' x); echo ${#x}`, bytes))
}

// Hang has a child be busy for ever, or until its processor time is used up.
func (r *Room) Hang(ctx context.Context, seconds int64) (string, error) {
	return r.sh(ctx, bounds{Memory: 128 << 20, Seconds: seconds, FileSize: 1 << 20}, "while :; do :; done")
}

// Kill has a child be killed as by a system that runs out of memory.
func (r *Room) Kill(ctx context.Context) (string, error) {
	return r.sh(ctx, bounds{Memory: 128 << 20, Seconds: 20, FileSize: 1 << 20}, "kill -9 $$")
}

// Hurried is the room on a machine so busy that no child comes to anything.
func (r *Room) Hurried() *Room {
	hurried := *r
	hurried.patience = 1e-9
	return &hurried
}

// Niceness is how far back a child stands that was started so much further back than
// this process.
func (r *Room) Niceness(ctx context.Context, further int) (string, error) {
	nicer := *r
	nicer.self = append([]string{"/usr/bin/nice", "-n", strconv.Itoa(further)}, r.self...)
	return nicer.sh(ctx, bounds{Memory: 128 << 20, Seconds: 20, FileSize: 1 << 20}, "nice")
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
