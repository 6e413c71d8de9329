//go:build !linux

package cluster

import "syscall"

// dieWithParent is the guard's work alone here.
func dieWithParent(*syscall.SysProcAttr, syscall.Signal) {}
