package demo

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

func cpu() string {
	var a, b syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &a)
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &b)
	f := func(t syscall.Timeval) time.Duration { return time.Duration(t.Nano()) }
	return fmt.Sprint("self ", f(a.Utime)+f(a.Stime), " children ", f(b.Utime)+f(b.Stime))
}

func TestTmp(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		at := time.Now()
		d, err := Start(t.Context(), Options{Addr: "127.0.0.1:0", Data: dir})
		if err != nil {
			t.Fatal(err)
		}
		t.Log(time.Since(at), cpu())
		at = time.Now()
		d.Stop()
		t.Log(time.Since(at), cpu())
	}
}
