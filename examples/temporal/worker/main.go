// Worker runs the workflow of nod/examples/temporal/toolcall and starts one, against a Temporal server:
//
//	worker -temporal localhost:7233 -cwd "$PWD" -note "what to write"
//
// It writes the note into notes.txt in that folder when the person allows it. Stop or kill it while they think and
// start it again with the same -id: the workflow goes on. nod knows whose request is whose by the program's path, so
// build it first.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"

	temporal "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"nod/examples/temporal/toolcall"
	"nod/ipc/client"
)

const taskQueue = "nod-tool-calls"

func main() {
	address := flag.String("temporal", temporal.DefaultHostPort, "`address` of the Temporal server")
	namespace := flag.String("namespace", temporal.DefaultNamespace, "`namespace` of the workflow")
	id := flag.String("id", "note", "`id` of the workflow")
	cwd := flag.String("cwd", "", "`folder` to write in; default: the current one")
	note := flag.String("note", "", "`text` to write")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	server := temporal.Options{
		HostPort: *address, Namespace: *namespace, Logger: log.NewStructuredLogger(slog.Default()),
	}
	if err := run(ctx, server, *id, *cwd, *note); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, server temporal.Options, id, cwd, note string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	cwd = cmp.Or(cwd, here)
	n, err := client.Discover()
	if err != nil {
		return fmt.Errorf("%w: %s", err, client.Hint)
	}
	t, err := temporal.Dial(server)
	if err != nil {
		return fmt.Errorf("connect to Temporal: %w", err)
	}
	defer t.Close()
	f := toolcall.NewForwarder(n, t, slog.Default())
	defer f.Close()
	if err := f.Recover(ctx); err != nil {
		return err
	}
	w := worker.New(t, taskQueue, worker.Options{})
	w.RegisterWorkflow(toolcall.Workflow)
	w.RegisterActivity(toolcall.NewActivities(n, f, map[string]toolcall.Tool{"write_note": writeNote(cwd)}))
	if err := w.Start(); err != nil {
		return err
	}
	defer w.Stop()
	input, err := json.Marshal(map[string]string{"text": note})
	if err != nil {
		return err
	}
	call := toolcall.Call{Tool: "write_note", Input: input, CWD: cwd}
	options := temporal.StartWorkflowOptions{ID: id, TaskQueue: taskQueue}
	started, err := t.ExecuteWorkflow(ctx, options, toolcall.Workflow, call)
	if err != nil {
		return err
	}
	var result string
	if err := started.Get(ctx, &result); err != nil {
		return err
	}
	fmt.Println(result)
	return nil
}

// writeNote returns the tool that appends to notes.txt in a folder.
func writeNote(dir string) toolcall.Tool {
	return func(_ context.Context, input json.RawMessage) (string, error) {
		var in struct{ Text string }
		if err := json.Unmarshal(input, &in); err != nil {
			return "", err
		}
		f, err := os.OpenFile(filepath.Join(dir, "notes.txt"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		defer f.Close()
		if _, err := fmt.Fprintln(f, in.Text); err != nil {
			return "", err
		}
		return "done", nil
	}
}
