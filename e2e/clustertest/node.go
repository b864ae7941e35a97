package clustertest

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/nats-io/nats-server/v2/server"
)

// nodeVariable has a node's configuration file, and tells [Main] that this process is one.
const nodeVariable = "NOD_CLUSTERTEST_NODE"

// Main is the whole program where [Start] has started this process as a node. Elsewhere it does nothing. Call it in
// TestMain or main, before anything else.
func Main() {
	path := os.Getenv(nodeVariable)
	if path == "" {
		return
	}
	if err := serve(path); err != nil {
		fmt.Fprintln(os.Stderr, "clustertest:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve runs a node until standard input ends.
func serve(path string) error {
	options, err := server.ProcessConfigFile(path)
	if err != nil {
		return err
	}
	s, err := server.NewServer(options)
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	s.Start()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// node is one nats-server.
type node struct {
	name           string
	log, config    string // files
	address, route string // where it listens for clients, and for other nodes …
	leaf           string // … and for leaf nodes
	process        *exec.Cmd
	stdin          io.Closer
}

// newNode is a node with the next free ports.
func newNode(dir, name string, ports *[]int) *node {
	next := func() string {
		address := fmt.Sprintf("%s:%d", host(), (*ports)[0])
		*ports = (*ports)[1:]
		return address
	}
	dir = filepath.Join(dir, name)
	return &node{
		name: name, log: dir + ".log", config: dir + ".conf", address: next(), route: next(), leaf: next(),
	}
}

//go:embed node.conf
var configText string

var configTemplate = template.Must(template.New("node.conf").Parse(configText))

// configure writes the node's configuration. The node of a hub is a leaf node, with those credentials there.
func (n *node) configure(c *Cluster, hub, credentials string) error {
	var routes []string
	for _, other := range c.nodes {
		routes = append(routes, "nats://"+other.route)
	}
	f, err := os.Create(n.config)
	if err != nil {
		return err
	}
	err = configTemplate.Execute(f, map[string]any{
		"Name": n.name, "Address": n.address, "Dir": strings.TrimSuffix(n.log, ".log"), "Log": n.log, "Leaf": n.leaf,
		"Route": n.route, "Routes": strings.Join(routes, ", "),
		"Certificate": filepath.Join(c.options.Dir, certificateFile),
		"Key":         filepath.Join(c.options.Dir, keyFile),
		"TLS":         c.options.TLS,
		"Account":     c.Account,
		"Hub":         hub, "Credentials": credentials,
	})
	return errors.Join(err, f.Close())
}

// start starts the node's process.
func (n *node) start() (err error) {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	n.process = exec.Command(program)
	n.process.Env = append(os.Environ(), nodeVariable+"="+n.config)
	n.process.Stderr = os.Stderr
	if n.stdin, err = n.process.StdinPipe(); err != nil {
		return err
	}
	return n.process.Start()
}

// kill kills the node's process, if it runs.
func (n *node) kill() {
	if n.process == nil || n.process.Process == nil || n.process.ProcessState != nil {
		return
	}
	_ = n.process.Process.Kill() // it may have ended by itself
	_ = n.process.Wait()
}
