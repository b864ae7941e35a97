package clustertest

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// within ends with the test, or long after anything should have happened.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// client is a client by that path, with the credentials of that user.
func client(t *testing.T, c *Cluster, url, user string) *nats.Conn {
	t.Helper()
	options := append(c.Options(), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond),
		nats.DontRandomize(), // two clients at one node know at once who listens
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // by default it prints them
	if c.Account != nil {
		path, err := c.Account.User(user)
		if err != nil {
			t.Fatal(err)
		}
		options = append(options, nats.UserCredentials(path))
	}
	conn, err := nats.Connect(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

func TestCluster(t *testing.T) {
	ctx := within(t)
	c := New(t, Options{Auth: true, TLS: true})
	t.Run("a killed node's clients go elsewhere, and it comes back", func(t *testing.T) {
		conn := client(t, c, c.URL(), "somebody")
		for node := range nodes {
			c.Kill(node)
			if err := retry(ctx, func(ctx context.Context) error { return conn.FlushWithContext(ctx) }); err != nil {
				t.Fatal(err)
			}
			if err := c.Restart(node); err != nil {
				t.Fatal(err)
			}
			if err := c.Ready(ctx); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("credentials are revoked", func(t *testing.T) {
		conn := client(t, c, c.URL(), "fired")
		if err := c.Account.Revoke(ctx, "fired"); err != nil {
			t.Fatal(err)
		}
		if err := retry(ctx, func(context.Context) error {
			if conn.IsConnected() {
				return errors.New("still connected")
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		path := c.options.Dir + "/fired.creds"
		if _, err := nats.Connect(c.URL(), append(c.Options(), nats.UserCredentials(path))...); err == nil {
			t.Error("revoked credentials connect")
		}
		if err := c.Account.Revoke(ctx, "nobody"); err == nil {
			t.Error("a user that is not there was revoked")
		}
	})
}

func TestPath(t *testing.T) {
	ctx := within(t)
	c := New(t, Options{})
	path := c.Path(t)
	conn := client(t, c, path.URL(), "")
	far := client(t, c, c.URL(), "")
	messages := make(chan *nats.Msg, 9)
	if _, err := far.ChanSubscribe("said", messages); err != nil {
		t.Fatal(err)
	}
	if err := far.Flush(); err != nil {
		t.Fatal(err)
	}
	say := func(text string) {
		t.Helper()
		if err := conn.Publish("said", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	hear := func(want string) {
		t.Helper()
		select {
		case m := <-messages:
			if string(m.Data) != want {
				t.Fatalf("heard %q, want %q", m.Data, want)
			}
		case <-ctx.Done():
			t.Fatalf("never heard %q", want)
		}
	}
	say("before")
	hear("before")

	path.Cut()
	say("meanwhile")
	if err := conn.FlushTimeout(200 * time.Millisecond); !errors.Is(err, nats.ErrTimeout) {
		t.Fatalf("through a cut path: %v", err)
	}
	if len(messages) > 0 {
		t.Fatal("a message came through a cut path")
	}
	path.Heal()
	hear("meanwhile")

	path.Drop()
	if err := retry(ctx, func(ctx context.Context) error { return conn.FlushWithContext(ctx) }); err != nil {
		t.Fatal(err)
	}
	say("after")
	hear("after")
}
