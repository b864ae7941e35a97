package app

import (
	"context"
	"fmt"
	"log/slog"

	"fyne.io/fyne/v2/lang"
	"github.com/fsnotify/fsnotify"

	"nod/ipc/endpoint"
)

// publishedWatch has what nod published put back whenever another program takes it away or changes it: without it no
// agent finds nod, and whoever reads something else there would ask, and believe, a program that only looks like nod.
type publishedWatch struct {
	dir     string
	restore func() (changed bool, err error)
	tell    func(sentence string) // the person
	log     *slog.Logger
}

// run watches until ctx ends.
func (w *publishedWatch) run(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", w.dir, err)
	}
	defer watcher.Close()
	w.look(watcher) // what changed before the watch began
	published := map[string]bool{w.dir: true, endpoint.Path(w.dir): true, endpoint.SocketPath(w.dir): true}
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-watcher.Events:
			if published[event.Name] {
				w.look(watcher)
			}
		case err := <-watcher.Errors: // events may be lost: look
			w.log.Warn("watch the endpoint", "dir", w.dir, "err", err)
			w.look(watcher)
		}
	}
}

// maxLooks bounds how often look begins anew while another program works against it. What that one does last is an
// event, and so another look.
const maxLooks = 10

// look has everything put back, and watches the folder that is there then: it may be a new one.
func (w *publishedWatch) look(watcher *fsnotify.Watcher) {
	touched := false
	for range maxLooks {
		watchErr := watcher.Add(w.dir) // before the look, so that nothing happens in between
		changed, err := w.restore()
		if err != nil {
			w.log.Error("what agents find nod by could not be put back", "dir", w.dir, "err", err)
			w.tell(lang.L("Another program changed the files by which agents find nod, and nod could not put them back: "+
				"{{.Problem}}", map[string]any{"Problem": err.Error()}))
			return
		}
		touched = touched || changed
		if !changed && watchErr == nil {
			break
		}
	}
	if touched {
		w.log.Warn("another program changed what agents find nod by: it was put back", "dir", w.dir)
		w.tell(lang.L("Another program changed the files by which agents find nod. nod has put them back."))
	}
}
