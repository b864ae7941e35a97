// Package clustertest runs a NATS cluster for tests and breaks it: it kills nodes, cuts the network between a client
// and the cluster, and revokes credentials.
//
// Each node is a process of its own, so that killing one is what it is elsewhere: nothing is handed over, nothing is
// said. The processes are this program once more, which has nats-server linked; therefore whoever uses this package
// calls [Main] first of all. They end with the program that started them, however that ends.
package clustertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	nodes       = 3 // of a cluster
	portsOfNode = 3
)

// Options say what a cluster is like.
type Options struct {
	Dir  string // where the nodes keep their configuration and logs; it must exist
	Auth bool   // clients need credentials: see [Cluster.User]
	TLS  bool   // clients speak TLS: see [Cluster.CA]
}

// Cluster is three nodes. Its methods are safe for concurrent use, but for those that kill and start nodes.
type Cluster struct {
	Account *Account // nil without Auth

	options Options
	nodes   [nodes]*node
	admin   *nats.Conn
	// clientOptions are those of clients that may do everything.
	clientOptions []nats.Option
}

// New starts a cluster for the length of a test.
func New(t testing.TB, o Options) *Cluster {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Start starts a cluster and returns when all nodes know each other. Close it.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	c := &Cluster{options: o}
	if err := c.start(ctx); err != nil {
		err = fmt.Errorf("start a cluster in %s: %w%s", o.Dir, err, c.lastWords())
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) (err error) {
	if c.options.TLS {
		if err := writeCertificates(c.options.Dir); err != nil {
			return err
		}
	}
	if c.options.Auth {
		if c.Account, err = newAccount(c); err != nil {
			return err
		}
	}
	ports, err := freePorts(portsOfNode * nodes)
	if err != nil {
		return err
	}
	for i := range c.nodes {
		c.nodes[i] = newNode(c.options.Dir, fmt.Sprintf("n%d", i), &ports)
	}
	for _, n := range c.nodes {
		if err := n.configure(c, "", ""); err != nil {
			return err
		}
	}
	for _, n := range c.nodes {
		if err := n.start(); err != nil {
			return err
		}
	}
	if err := c.connect(ctx); err != nil {
		return err
	}
	return c.Ready(ctx)
}

// connect has the cluster's own client connect, which may do everything.
func (c *Cluster) connect(ctx context.Context) (err error) {
	c.clientOptions = append(c.Options(), nats.Name("clustertest"), nats.MaxReconnects(-1),
		nats.ReconnectWait(50*time.Millisecond))
	if c.Account != nil {
		path, err := c.Account.User("admin")
		if err != nil {
			return err
		}
		c.clientOptions = append(c.clientOptions, nats.UserCredentials(path))
	}
	return retry(ctx, func(context.Context) (err error) {
		c.admin, err = nats.Connect(c.URL(), c.clientOptions...)
		return err
	})
}

// Ready returns when all nodes run and pass messages on to each other.
func (c *Cluster) Ready(ctx context.Context) error {
	const subject = "clustertest.ready"
	s, err := c.admin.Subscribe(subject, func(m *nats.Msg) { _ = m.Respond(nil) }) // else it is asked again
	if err != nil {
		return err
	}
	defer func() { _ = s.Unsubscribe() }() // the connection may be lost
	for _, n := range c.nodes {
		err := retry(ctx, func(ctx context.Context) error {
			conn, err := nats.Connect(c.join([]string{n.address}), c.clientOptions...)
			if err != nil {
				return err
			}
			defer conn.Close()
			_, err = conn.RequestWithContext(ctx, subject, nil)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// retry calls f until it succeeds. The error is that of the last call, once ctx has ended.
func retry(ctx context.Context, f func(context.Context) error) error {
	for {
		try, cancel := context.WithTimeout(ctx, time.Second)
		err := f(try)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Close kills all nodes.
func (c *Cluster) Close() {
	if c.admin != nil {
		c.admin.Close()
	}
	for _, n := range c.nodes {
		if n != nil {
			n.kill()
		}
	}
}

// URL lists the addresses of all nodes, as clients take them.
func (c *Cluster) URL() string {
	var addresses []string
	for _, n := range c.nodes {
		addresses = append(addresses, n.address)
	}
	return c.join(addresses)
}

func (c *Cluster) join(addresses []string) string {
	scheme := "nats://"
	if c.options.TLS {
		scheme = "tls://"
	}
	return scheme + strings.Join(addresses, ","+scheme)
}

// CA is the file with the authority that signed the nodes' certificate.
func (c *Cluster) CA() string { return filepath.Join(c.options.Dir, caFile) }

// Options are those that every client needs: the authority, with TLS.
func (c *Cluster) Options() []nats.Option {
	if !c.options.TLS {
		return nil
	}
	return []nats.Option{nats.RootCAs(c.CA())}
}

// Admin is a client that may do everything.
func (c *Cluster) Admin() *nats.Conn { return c.admin }

// Kill kills a node, by its number from 0 on.
func (c *Cluster) Kill(node int) { c.nodes[node].kill() }

// Restart starts a node that was killed.
func (c *Cluster) Restart(node int) error { return c.nodes[node].start() }

// Leaf is the address of a leaf node, a server that passes everything on to the cluster, for the length of a test. The
// cluster has accounts.
func (c *Cluster) Leaf(t testing.TB) (url string) {
	t.Helper()
	credentials, err := c.Account.User("leaf")
	if err != nil {
		t.Fatal(err)
	}
	ports, err := freePorts(portsOfNode)
	if err != nil {
		t.Fatal(err)
	}
	var hub []string
	for _, n := range c.nodes {
		hub = append(hub, `"nats-leaf://`+n.leaf+`"`)
	}
	leaf := newNode(c.options.Dir, "leaf", &ports)
	if err := leaf.configure(c, strings.Join(hub, ", "), credentials); err != nil {
		t.Fatal(err)
	}
	if err := leaf.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(leaf.kill)
	return c.join([]string{leaf.address})
}

// PID is that of a node's process.
func (c *Cluster) PID(node int) int { return c.nodes[node].process.Process.Pid }

// lastWords is the end of what the nodes have logged.
func (c *Cluster) lastWords() string {
	var all strings.Builder
	for _, n := range c.nodes {
		if n == nil {
			continue
		}
		text, err := os.ReadFile(n.log)
		if err != nil {
			continue
		}
		fmt.Fprintf(&all, "\n%s: %s", n.name, text[max(0, len(text)-500):])
	}
	return all.String()
}

// host is the address of all nodes. On Linux each process has one of its own, so that no other test's node takes the
// port of one that was killed.
func host() net.IP {
	if id := os.Getpid(); runtime.GOOS == "linux" {
		return net.IPv4(127, byte(64+id>>16&63), byte(id>>8), byte(id))
	}
	return net.IPv4(127, 0, 0, 1)
}

// freePorts are n ports of this host on which nobody listens now.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: host()})
		if err != nil {
			return nil, err
		}
		defer l.Close() // after all are found, so that they differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
