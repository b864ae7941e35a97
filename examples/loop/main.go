// Loop is a small agent. It makes the tool calls of a script, as a model would, and asks nod before each that does
// more than read:
//
//	loop script.json                    waits for the person
//	loop -state run.json script.json    stops while the person thinks, and goes on when it is started again
//	loop -unasked script.json           asks nobody, for runs in a sandbox without a person
//
// With -state it may be killed at any moment and started again: what was asked is not asked again, what was done is
// not done again, and of a call that it was killed in the middle of it says that nobody knows. nod knows whose request
// is whose by the program's path, so build it first (go build); the path of what go run starts is a new one each time.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"nod/ipc/client"
	"nod/ipc/interrupt"
)

// exitInterrupted is the exit status of a run that waits for the person: EX_TEMPFAIL, try again later.
const exitInterrupted = 75

func main() {
	statePath := flag.String("state", "", "stop while the person thinks, and keep the run in this `file`")
	unasked := flag.Bool("unasked", false, "allow every call, and ask nobody")
	flag.Parse()
	if flag.NArg() != 1 || *unasked && *statePath != "" {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, flag.Arg(0), *statePath, *unasked)
	if i, ok := interrupt.Get(err); ok {
		fmt.Fprintf(os.Stderr, "loop: request %s waits for the person: start me again when they have answered\n", i.RequestID)
		os.Exit(exitInterrupted)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "loop:", err)
		os.Exit(1)
	}
}

// run goes through a script from where its state says.
func run(ctx context.Context, scriptPath, statePath string, unasked bool) error {
	text, err := os.ReadFile(scriptPath)
	if err != nil {
		return fmt.Errorf("read the script: %w", err)
	}
	var script []call
	if err := json.Unmarshal(text, &script); err != nil {
		return fmt.Errorf("read the script %s: %w", scriptPath, err)
	}
	a := &agent{out: os.Stdout, gate: client.AllowEverythingUnasked{}}
	if a.state, err = openState(statePath); err != nil {
		return err
	}
	if !unasked {
		c, err := client.Discover()
		if err != nil {
			return fmt.Errorf("%w: %s", err, client.Hint)
		}
		a.connect(c)
	}
	return a.run(ctx, script)
}

// connect has the agent ask the person through c, and wait for them unless its state is kept.
func (a *agent) connect(c *client.Client) {
	a.asker = &client.Asker{Client: c, Interrupt: a.state.isKept()}
	approver := &client.Approver{Client: c, Interrupt: a.state.isKept(), Common: a.state.common()}
	a.gate = approver
	if a.state.isKept() {
		a.gate = keyed{approver, a.state}
	}
}
