package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"

	"nod/ipc/client"
	"nod/ipc/programs"
)

const maxRefused = 5

// proxy is a command's way out of its sandbox. It starts nod-cli, which links the proxy, once the command connects.
type proxy struct {
	run *client.Run

	mu      sync.Mutex // guards all below
	ended   bool
	cmd     *exec.Cmd // nil: the command has connected to nothing
	input   io.Closer // that it runs on
	refused []string
	reading sync.WaitGroup
}

// serve starts nod-cli. Without it, connections are refused.
func (p *proxy) serve(listener *os.File) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	if err := p.start(listener); err != nil {
		p.refused = append(p.refused, "nod can't connect it: "+err.Error())
		_ = listener.Close()
	}
}

func (p *proxy) start(listener *os.File) error {
	path, err := programs.Find("nod-cli")
	if err != nil {
		return err
	}
	cmd := exec.Command(path, "run", "--"+client.ProxyFlag)
	cmd.ExtraFiles, cmd.Stderr = []*os.File{listener}, os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.input = cmd, input
	p.reading.Go(func() { p.read(output) })
	return json.NewEncoder(input).Encode(p.run)
}

func (p *proxy) read(output io.Reader) {
	in := json.NewDecoder(output)
	for {
		var why string
		if in.Decode(&why) != nil {
			return
		}
		p.mu.Lock()
		if !slices.Contains(p.refused, why) && len(p.refused) < maxRefused {
			p.refused = append(p.refused, why)
		}
		p.mu.Unlock()
	}
}

// end ends nod-cli, and returns why it refused connections.
func (p *proxy) end() []string {
	p.mu.Lock()
	p.ended = true
	cmd := p.cmd
	p.mu.Unlock()
	if cmd != nil {
		_ = p.input.Close()
		p.reading.Wait()
		_ = cmd.Wait()
	}
	return p.refused
}
