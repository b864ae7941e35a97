// Command nod asks the user at this desktop, from scripts, hooks and SSH sessions. It talks to the running
// nod-desktop, and can only ask: nothing it does answers a request or changes a rule.
//
// Standard output gets the answer and nothing else, so that a script can use it as it is:
//
//	db=$(nod ask "Which database?" --option SQLite --option Postgres) || exit
//	nod confirm "Deploy now?" && ./deploy
//
// Errors go to standard error in one line: what was wanted, why it failed, what to do. The exit status is
// 0 only for an answer that says yes: see [exitHelp].
package main

import (
	"context"
	"os"
	"os/signal"

	"nod/ipc/client/waiting"
)

func main() { os.Exit(run()) }

// run does what the command line says and returns the exit status. A signal hangs up, which withdraws what
// was asked; a second one ends the program on the spot.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), waiting.EndedBy()...)
	defer stop()
	context.AfterFunc(ctx, stop)
	c := newConsole(os.Stdin, os.Stdout, os.Stderr)
	cmd, err := newRoot(c).ExecuteContextC(ctx)
	return c.conclude(ctx, cmd, err)
}
