// Package relay is nod relay, which is nod on a machine without a desktop: it takes the requests of the agents there as
// nod-desktop does, applies its desk's policy, and asks the desks about the rest. It checks requests against the
// machine's own files, which no other machine can read.
//
// If in doubt it asks: without a policy, with one that it cannot read, and if it cannot record a decision. While no
// desk is connected, a request waits as long as its caller does.
package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/user"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"nod/agents/registry"
	"nod/api"
	"nod/interact"
	"nod/ipc"
	"nod/ipc/hooks"
	"nod/ipc/peer"
	"nod/ipc/programs"
	"nod/ipc/remote"
	"nod/ipc/remote/session"
	"nod/ownfile/ownlog"
	"nod/policy"
	"nod/policy/config"
)

// Options configure the start of a relay.
type Options struct {
	LogLevel string       // debug, info, warn or error; empty: as NOD_LOG says, else info
	Version  string       // of this nod
	Stdout   io.Writer    // gets what a user should know, and "nod ready URL" once the relay can be asked
	Desks    []remote.Key // whose answers count where it knows none; else one of those that it knows must vouch for them
	// Uplink connects to desks in another way than through the control socket; nil means that desks use the socket.
	Uplink func(relay remote.Key, desks func() []remote.Key, log *slog.Logger) session.Carrier
}

// Run runs nod relay until ctx ends. The error is a [*runningError] if another nod runs.
func Run(ctx context.Context, o Options) error {
	logs, err := ownlog.NewLogger(o.LogLevel)
	if err != nil {
		return err
	}
	defer logs.Close()
	slog.SetDefault(logs.Logger) // what libraries log goes there too
	err = run(ctx, o, logs.Logger)
	if _, running := errors.AsType[*runningError](err); err != nil && !running {
		logs.Error("the relay ends", "err", err)
	}
	return err
}

func run(ctx context.Context, o Options, log *slog.Logger) error {
	at, err := locate()
	if err != nil {
		return err
	}
	lock, err := claim(ctx, at)
	if err != nil {
		return err
	}
	defer lock.release()
	r, err := newRelay(o, at, log)
	if err != nil {
		return err
	}
	return errors.Join(r.run(ctx), r.spool.close())
}

// relay is a running relay. It implements [interact.Prompter], and what a [session.Link] needs.
type relay struct {
	opts     Options
	log      *slog.Logger
	identity *remote.Identity
	desks    *desks
	judge    *judge
	spool    *spool
	broker   *interact.Broker
	server   *ipc.Server
	carrier  session.Carrier
	link     *session.Link
	parts    sync.WaitGroup // goroutines that end with the relay
}

// newRelay creates and connects the parts. Only the listeners run yet, and their callers wait.
func newRelay(o Options, at places, log *slog.Logger) (r *relay, err error) {
	r = &relay{opts: o, log: log}
	if r.identity, err = remote.LoadIdentity(at.key); err != nil {
		return nil, err
	}
	if r.desks, err = openDesks(at.desks, r.identity); err != nil {
		return nil, err
	}
	if err := r.desks.begin(o.Desks); err != nil {
		return nil, err
	}
	if o.Uplink != nil && len(r.desks.keys()) == 0 {
		return nil, errors.New("name the desk whose answers count: nod relay --nats URL --desk KEY, " +
			"as its settings show under Machines and devices")
	}
	r.judge = newJudge(policy.DefaultPlaces(), log)
	if err := r.judge.apply(r.desks.policies); err != nil {
		log.Error("a desk's policy", "err", err)
	}
	if r.spool, err = openSpool(at.spool, log); err != nil {
		return nil, err
	}
	if err := r.listen(at.dir); err != nil {
		return nil, errors.Join(err, r.spool.close())
	}
	r.carrier = control{r}
	if o.Uplink != nil {
		r.carrier = o.Uplink(r.identity.Key(), r.desks.keys, log)
	}
	r.link = session.NewLink(r.identity, r, r.carrier, log)
	return r, nil
}

// listen creates the broker and the server through which agents reach it.
func (r *relay) listen(dir string) (err error) {
	nod, err := programs.Self()
	if err != nil {
		return err
	}
	if err := programs.Refresh(nod); err != nil {
		r.log.Warn("hooks run an earlier nod, or none", "err", err)
	}
	r.broker = interact.NewBroker(interact.BrokerConfig{
		Policy: r.judge, Prompter: r, Notify: r.notify, Journal: r.spool, Timeout: r.timeout,
		Processes: peer.Table{}, IsAgent: registry.IsAgent, Log: r.log,
	})
	r.server, err = ipc.Listen(ipc.Config{
		Address: config.Default().IPC.Address, AnyPort: true, Dir: dir, Broker: r.broker, Version: r.opts.Version,
		Log: r.log, Control: r.opts.Uplink == nil, Health: r.health,
		Hooks: hooks.New(hooks.Config{
			Agents: registry.Protocols(), Nod: nod, Broker: r.broker, Log: r.log, OpenURL: noBrowser, Timeout: r.timeout,
			AskMore: r.asksMore, Settings: registry.Settings,
		}),
	})
	return err
}

// noBrowser refuses to open an address that an agent wants to show.
func noBrowser(string) error {
	return errors.New("there is no browser on this machine: open the address where you are")
}

func (r *relay) run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r.restore()
	linked, unlink := context.WithCancel(context.WithoutCancel(ctx))
	defer unlink()
	r.parts.Go(func() {
		if err := r.link.Run(linked); err != nil {
			stop(fmt.Errorf("the link to the desks: %w", err))
		}
	})
	r.parts.Go(func() { r.spool.empty(linked, r.link.Report) })
	r.parts.Go(func() {
		if err := r.server.Watch(ctx, func(error) {}); err != nil {
			r.log.Error("the endpoint files are not watched", "err", err)
		}
	})
	r.parts.Go(func() {
		<-ctx.Done()
		r.broker.Close()
		r.link.Drain()
		unlink()
	})
	r.announce()
	err := r.server.Serve(ctx)
	stop(err)
	r.parts.Wait()
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	return err
}

// announce prints what the user compares at the desk.
func (r *relay) announce() {
	hello := r.Hello(remote.Key{})
	fmt.Fprintf(r.opts.Stdout, "machine:\t%s\nfingerprint:\t%s\nkey:\t%s\n", hello.Name, r.identity.Key().Fingerprint(),
		r.identity.Key())
	keys := r.desks.keys()
	for _, key := range keys {
		fmt.Fprintf(r.opts.Stdout, "desk:\t%s\n", key.Fingerprint())
	}
	if len(keys) == 0 {
		fmt.Fprintf(r.opts.Stdout, "desk:\tnone yet: the first that connects is the one that answers\n")
	}
	r.log.Info("relay", "fingerprint", r.identity.Key().Fingerprint(), "desks", len(keys),
		"pending", len(r.broker.Pending()))
	fmt.Fprintln(r.opts.Stdout, programs.ReadyLine+r.server.Endpoint().URL)
}

// control is the [session.Carrier] of the connections of desks that come through the control socket.
type control struct{ *relay }

// acceptPause is how long the relay waits after the system could not accept a connection.
const acceptPause = time.Second

// Run ends after the server has ended, which closes the socket.
func (c control) Run(ctx context.Context, serve func(context.Context, net.Conn) error) error {
	var serving sync.WaitGroup
	defer serving.Wait()
	l := c.server.Control()
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil, errors.Is(err, net.ErrClosed):
			return nil
		case err != nil: // as when too many files are open
			c.log.Warn("a desk can't connect through the control socket", "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(acceptPause):
			}
			continue
		}
		serving.Go(func() {
			if err := serve(ctx, conn); err != nil {
				c.log.Warn("a desk's connection ended", "err", err)
			}
		})
	}
}

func (control) State() remote.State { return remote.State{} }

// Wake does nothing: desks connect on their own.
func (control) Wake(remote.Key) {}

// restore restores what was pending when the relay ended, before callers can send requests.
func (r *relay) restore() {
	open, last := r.spool.restore()
	r.broker.Restore(open, last)
	if len(open) > 0 {
		r.log.Info("restored", "pending", len(r.broker.Pending()), "waited", len(open))
	}
}

// Prompt asks the desks.
func (r *relay) Prompt(ctx context.Context, q interact.Request, why policy.Decision) (interact.Answer, error) {
	q.Reported = r.spool.report(q.ID, func() *interact.Reported { return r.judge.reportOn(q, why) })
	return r.link.Ask(ctx, q)
}

// noticePatience is how long a notice may take to reach the desktop of a desk.
const noticePatience = 5 * time.Second

// notify passes a notice on to the desks, if one is connected.
func (r *relay) notify(ctx context.Context, q interact.Request) (sent bool) {
	if !r.link.State().Up {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, noticePatience)
	defer cancel()
	a, err := r.link.Ask(ctx, q)
	return err == nil && a.Sent
}

// timeout returns how long a request without its own time-out waits: the longest that any desk wants.
func (r *relay) timeout() time.Duration {
	longest := time.Duration(0)
	for _, p := range r.desks.policies() {
		longest = max(longest, p.Timeout)
	}
	if longest <= 0 || longest > interact.MaxTimeout {
		return config.Default().Prompt.Timeout
	}
	return longest
}

// asksMore reports whether a desk wants to be asked even where the agent would not ask.
func (r *relay) asksMore() bool {
	return slices.ContainsFunc(r.desks.policies(), func(p remote.Policy) bool { return p.AskMore })
}

func (r *relay) health(h *api.HealthReply) {
	s := r.link.State()
	h.Relay = &api.RelayHealth{
		Up: s.Up, Problem: s.Problem, Fingerprint: r.identity.Key().Fingerprint(), Desks: len(r.desks.keys()),
		Policy: r.desks.serial(), Unreported: r.spool.waiting(),
	}
}

func (r *relay) Hello(desk remote.Key) remote.Hello {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	return remote.Hello{
		Name: name, User: userName(), System: runtime.GOOS + "/" + runtime.GOARCH, Version: r.opts.Version,
		Clock: time.Now(), Policy: r.desks.serialOf(desk), Grants: r.judge.kept(),
		Desks: r.desks.keys(), Wants: r.desks.wanted(),
	}
}

func (r *relay) Vouch(desk remote.Key, others []remote.Key) {
	taken, err := r.desks.vouch(desk, others)
	for _, key := range taken {
		r.log.Warn("another desk's answers count from now on", "desk", key.Fingerprint(), "says", desk.Fingerprint())
		fmt.Fprintf(r.opts.Stdout, "desk:\t%s: its answers count from now on\n", key.Fingerprint())
	}
	if err != nil {
		r.log.Error("another desk is not accepted", "err", err)
	}
	if len(taken) > 0 {
		r.carrier.Wake(remote.Key{})
	}
}

func (r *relay) Admit(desk remote.Key) error {
	first, err := r.desks.admit(desk)
	if first && err == nil {
		r.log.Warn("the first desk connected: its answers count from now on", "desk", desk.Fingerprint())
		fmt.Fprintf(r.opts.Stdout, "desk:\t%s: its answers count from now on\n", desk.Fingerprint())
	}
	return err
}

func (r *relay) Apply(desk remote.Key, p remote.Policy) error {
	isNew, err := r.desks.setPolicy(desk, p)
	if !isNew {
		return err
	}
	err = errors.Join(err, r.judge.apply(r.desks.policies))
	r.log.Info("policy applied", "desk", desk.Fingerprint(), "serial", p.Serial, "rules", len(p.Policy.Rules), "err", err)
	r.broker.Reconsider()
	return err
}

func (r *relay) Forget() {
	r.judge.forget()
	r.log.Info("approvals forgotten")
}

func (r *relay) Settled(ctx context.Context, id interact.ID) (interact.Answer, error) {
	return r.broker.Settled(ctx, id)
}

// userName does not go by USER, which docker exec does not set.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}
