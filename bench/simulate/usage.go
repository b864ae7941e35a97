//go:build linux

package main

import (
	"os"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// usage is what the nodes and everybody else have used so far.
type usage struct {
	nodes  []use
	others use // all relays and desks, which this process has
}

// use is what a process has used so far, and has in memory.
type use struct {
	processor time.Duration
	memory    float64 // bytes
}

func (s *simulation) usage() (u usage, err error) {
	if u.others, err = useOf(os.Getpid()); err != nil {
		return u, err
	}
	for node := range 3 {
		n, err := useOf(s.cluster.PID(node))
		if err != nil {
			return u, err
		}
		u.nodes = append(u.nodes, n)
	}
	return u, nil
}

func useOf(pid int) (u use, err error) {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return u, err
	}
	times, err := p.Times()
	if err != nil {
		return u, err
	}
	memory, err := p.MemoryInfo()
	if err != nil {
		return u, err
	}
	return use{time.Duration((times.User + times.System) * float64(time.Second)), float64(memory.RSS)}, nil
}

// rate is what was used for a while: processors, and memory at its end.
type rate struct {
	nodes, others   float64 // processors, of all nodes together
	memory, largest float64 // of the others; of the largest node
}

func (u usage) since(before usage, took time.Duration) (r rate) {
	for i, n := range u.nodes {
		r.nodes += float64(n.processor-before.nodes[i].processor) / float64(took)
		r.largest = max(r.largest, n.memory)
	}
	r.others = float64(u.others.processor-before.others.processor) / float64(took)
	r.memory = u.others.memory
	return r
}
