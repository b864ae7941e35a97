package clustertest

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
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
	stream := jetstream.StreamConfig{
		Name: "S", Subjects: []string{"s.>"}, Replicas: 3, MaxMsgs: 20, Discard: jetstream.DiscardNew,
	}
	if _, err := c.JetStream().CreateStream(ctx, stream); err != nil {
		t.Fatal(err)
	}
	t.Run("a killed node's work goes on elsewhere, and it comes back", func(t *testing.T) {
		leader, err := c.Leader(ctx, "S")
		if err != nil {
			t.Fatal(err)
		}
		c.Kill(leader)
		c.publish(t, ctx, "s.a", "while it was dead")
		now, err := c.Leader(ctx, "S")
		if err != nil || now == leader {
			t.Fatalf("node %d leads after %d was killed: %v", now, leader, err)
		}
		if err := c.Restart(leader); err != nil {
			t.Fatal(err)
		}
		if err := c.Ready(ctx); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a leader steps down", func(t *testing.T) {
		before, err := c.Leader(ctx, "S")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.StepDown(ctx, "S"); err != nil {
			t.Fatal(err)
		}
		if err := retry(ctx, func(ctx context.Context) error {
			after, err := c.Leader(ctx, "S")
			if err == nil && after == before {
				err = errors.New("the leader is the same")
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a stream is full", func(t *testing.T) {
		taken, err := c.Fill(ctx, "s.fill", []byte("x"))
		if err != nil || taken == 0 || taken > 20 {
			t.Fatalf("%d messages, %v", taken, err)
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

// publish publishes until the stream has it.
func (c *Cluster) publish(t *testing.T, ctx context.Context, subject, text string) {
	t.Helper()
	if err := retry(ctx, func(ctx context.Context) error {
		_, err := c.js.Publish(ctx, subject, []byte(text))
		return err
	}); err != nil {
		t.Fatal(err)
	}
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
