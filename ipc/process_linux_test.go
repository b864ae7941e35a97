package ipc

import (
	"github.com/shirou/gopsutil/v4/process"
	"os"
	"testing"
	"time"
)

func BenchmarkReadProcess(b *testing.B) {
	for b.Loop() {
		if _, err := readProcess(int32(os.Getpid()), time.Now()); err != nil {
			b.Fatal(err)
		}
	}
}
func BenchmarkGops(b *testing.B) {
	for b.Loop() {
		p, _ := process.NewProcess(int32(os.Getpid()))
		p.Exe()
		p.Cwd()
		p.CreateTime()
		for q, err := p.Parent(); err == nil; q, err = q.Parent() {
			q.Exe()
			q.Name()
			q.CreateTime()
		}
	}
}
