package app

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/fsnotify/fsnotify"

	"nod/ipc/endpoint"
)

// keeper keeps the published endpoint as nod wrote it: whoever reads another one would hand its questions to, and
// take its answers from, a program that only looks like nod.
type keeper struct {
	dir  string
	own  endpoint.Endpoint
	tell func(sentence string) // the person
	log  *slog.Logger
}

// watch puts the endpoint back whenever another program changes it, until ctx ends.
func (k *keeper) watch(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the endpoint: %w", err)
	}
	defer watcher.Close()
	if err := watcher.Add(k.dir); err != nil {
		return fmt.Errorf("watch the endpoint: %w", err)
	}
	k.look(ctx) // what changed before the watch began
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-watcher.Events:
			if event.Name == endpoint.Path(k.dir) {
				k.look(ctx)
			}
		case err := <-watcher.Errors: // events may be lost: look
			k.log.Warn("watch the endpoint", "err", err)
			k.look(ctx)
		}
	}
}

func (k *keeper) look(ctx context.Context) {
	now, err := endpoint.Read(k.dir)
	if err == nil && now == k.own || ctx.Err() != nil { // at the end nod takes it away itself
		return
	}
	k.log.Warn("another program changed the endpoint", "dir", k.dir, "err", err)
	if err := endpoint.Write(k.dir, k.own); err != nil {
		k.log.Error("the endpoint could not be put back", "err", err)
		k.tell("Another program changed the file by which agents find nod, and nod could not put it back: " + err.Error())
		return
	}
	k.tell("Another program changed the file by which agents find nod. nod has put it back.")
}
