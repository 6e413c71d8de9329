package cluster

import "syscall"

func dieWithParent(attr *syscall.SysProcAttr, end syscall.Signal) { attr.Pdeathsig = end }
