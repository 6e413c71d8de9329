package cluster

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// User is the ordinary user that a private process runs as when root starts
// it. A nil User means: as ourselves.
type User struct {
	Name     string
	UID, GID int
}

// ServiceUser picks the first of the names that this machine knows, if we are
// root; else nil.
func ServiceUser(names ...string) (*User, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		return &User{Name: name, UID: uid, GID: gid}, nil
	}
	return nil, errors.New("started as root, and this machine has no ordinary user named postgres or nobody to run a server as")
}

// Own gives a file or folder to the user.
func (u *User) Own(path string) error {
	if u == nil {
		return nil
	}
	return os.Chown(path, u.UID, u.GID)
}

func (u *User) credential() *syscall.Credential {
	if u == nil {
		return nil
	}
	return &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID)}
}

// Process is a program that serves this one alone and ends with it.
type Process struct {
	cmd   *exec.Cmd
	done  chan struct{}
	guard *guard
	once  sync.Once
}

// Spawn starts cmd as the user, in a process group of its own so that Ctrl-C
// reaches only us, who then stop it in order. If we die first, however, it gets
// the end signal, and the scratch folder, if named, is removed after it.
func Spawn(cmd *exec.Cmd, as *User, end syscall.Signal, scratch string) (*Process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: as.credential()}
	dieWithParent(cmd.SysProcAttr, end)
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.tend(started)
	if err := <-started; err != nil {
		return nil, err
	}
	g, err := watch(cmd.Process.Pid, end, scratch)
	if err != nil {
		p.Stop(syscall.SIGKILL, 0)
		return nil, err
	}
	p.guard = g
	return p, nil
}

// tend keeps one thread for the life of the process: Linux reports a parent's
// death when the thread that forked ends, not when the program does.
func (p *Process) tend(started chan<- error) {
	runtime.LockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // the exit status tells nothing that Done does not
	close(p.done)
}

// Pid is the number of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stop signals the process, waits and, when patience is over, kills it. It
// returns once it is gone.
func (p *Process) Stop(sig syscall.Signal, patience time.Duration) {
	p.once.Do(func() {
		_ = p.cmd.Process.Signal(sig)
		select {
		case <-p.done:
		case <-time.After(patience):
			_ = p.cmd.Process.Kill()
			<-p.done
		}
		p.guard.dismiss()
	})
}

// guard is a shell that outlives us by a moment: when its input ends without a
// word, we are dead, and it ends the process and clears up. On Linux the kernel
// ends the process too; elsewhere this is the only way.
type guard struct {
	input io.WriteCloser
	cmd   *exec.Cmd
}

const guardScript = `
	read -r word && exit 0
	kill -"$2" "$1" 2>/dev/null
	i=0; while [ $i -lt 100 ] && kill -0 "$1" 2>/dev/null; do i=$((i+1)); sleep 0.1; done
	[ -z "$3" ] || rm -rf -- "$3"`

func watch(pid int, end syscall.Signal, scratch string) (*guard, error) {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "herald-guard", strconv.Itoa(pid), strconv.Itoa(int(end)), scratch)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &guard{input: in, cmd: cmd}, nil
}

func (g *guard) dismiss() {
	if g == nil {
		return
	}
	_, _ = io.WriteString(g.input, "done\n")
	_ = g.input.Close()
	_ = g.cmd.Wait()
}
