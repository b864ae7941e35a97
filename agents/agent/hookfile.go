package agent

import (
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/tailscale/hujson"
)

// HookFile describes what nod adds to a settings file of the form that Claude Code introduced and others adopted:
// {"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", "command": …}]}]}}.
type HookFile struct {
	Agent   string // its name
	Events  []Event
	Unit    time.Duration // of the agent's time-outs
	Default time.Duration // the time-out of a hook without one
	Named   bool          // handlers carry a name
	Flat    bool          // handlers are themselves the entries of an event
	Untyped bool          // handlers have no type
	Version int           // the version that the file states; 0: none
	Async   bool          // the agent need not wait for events that decide nothing
}

// Event is one event that nod listens to.
type Event struct {
	Name    string
	Decides bool // nod's reply matters, so the agent waits
	Matches bool // its entries need a matcher: nod's matches everything
	Blocks  bool // the agent can be told to deny when the hook fails
}

// In returns the settings file of that name in an agent's folder.
func (h HookFile) In(folder func(Machine) string, name string) func(Machine) File {
	return func(m Machine) File {
		path := filepath.Join(folder(m), filepath.FromSlash(name))
		return File{Path: path, Install: h.install, Uninstall: h.uninstall, Look: h.look}
	}
}

// Decision is a reply that several agents understand.
type Decision struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
}

// install ensures one handler of nod's for every event. It updates an existing handler in place, with whatever was
// added around it, and adds a missing one after everything else.
func (h HookFile) install(before []byte, nod string) ([]byte, error) {
	d, err := parse(before)
	if err != nil {
		return nil, err
	}
	renewed, changed, err := h.renew(d, nod)
	if err != nil {
		return nil, err
	}
	if h.Version != 0 && !d.has("version") {
		d.member(d.root, "version", 1, hujson.Int(int64(h.Version)))
		changed = true
	}
	table, err := object(d.member(d.root, "hooks", 1, &hujson.Object{}), "hooks")
	if err != nil {
		return nil, err
	}
	for _, e := range h.Events {
		list, err := array(d.member(table, e.Name, 2, &hujson.Array{}), "hooks."+e.Name)
		if err != nil {
			return nil, err
		}
		if renewed[e.Name] {
			continue
		}
		if err := d.append(list, 3, h.entry(e, nod)); err != nil {
			return nil, err
		}
		changed = true
	}
	if !changed {
		return before, nil
	}
	return d.pack(), nil
}

type entry struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []handler `json:"hooks"`
}

func (h HookFile) entry(e Event, nod string) any {
	made := h.handler(e, nod)
	switch {
	case h.Flat:
		return made
	case e.Matches:
		return entry{matchesAll, []handler{made}}
	}
	return entry{"", []handler{made}}
}

const matchesAll = "*"

type handler struct {
	Name    string  `json:"name,omitempty"`
	Type    string  `json:"type,omitempty"`
	Command string  `json:"command"`
	Timeout float64 `json:"timeout,omitempty"`
	Async   bool    `json:"async,omitempty"`
	Failure string  `json:"on_failure,omitempty"`
}

var handlerNames = []string{"name", "type", "command", "timeout", "async", "on_failure"}

func (h HookFile) handler(e Event, nod string) handler {
	made := handler{
		Command: Command(nod, h.Agent), Timeout: float64(HookTimeout / h.Unit), Async: h.Async && !e.Decides,
	}
	if !h.Untyped {
		made.Type = "command"
	}
	if h.Named {
		made.Name = "nod"
	}
	if e.Blocks {
		made.Failure = "block"
	}
	return made
}

// renew updates the handlers of an earlier nod, one for each event, and removes all others of nod's. It returns the
// events that have one.
func (h HookFile) renew(d *document, nod string) (seen map[string]bool, changed bool, err error) {
	seen = map[string]bool{}
	removed := h.edit(d, nil, func(event string, v *hujson.Value) bool {
		e, known := h.event(event)
		if !known || seen[event] {
			return false
		}
		seen[event] = true
		var now handler
		fresh := h.handler(e, nod)
		if decode(*v, &now) == nil && now == fresh {
			return true
		}
		changed = true
		err = errors.Join(err, d.replace(v, h.depth(), fresh))
		return true
	})
	return seen, changed || removed, err
}

// edit removes nod's handlers that keep rejects, and what is empty without them, except for what an earlier document
// has as well. It reports whether it removed any.
func (h HookFile) edit(d, earlier *document, keep func(event string, v *hujson.Value) bool) bool {
	table, i := child[*hujson.Object](d.root, "hooks")
	if table == nil {
		return false // it has nothing of nod's
	}
	removed := false
	for n := len(table.Members) - 1; n >= 0; n-- {
		event := nameOf(table.Members[n])
		list, ok := table.Members[n].Value.Value.(*hujson.Array)
		if !ok || !h.editList(list, func(v *hujson.Value) bool { return keep(event, v) }) {
			continue
		}
		removed = true
		if len(list.Elements) == 0 && !earlier.has("hooks", event) {
			cutMember(table, n)
		}
	}
	if removed && len(table.Members) == 0 && !earlier.has("hooks") {
		cutMember(d.root, i)
	}
	return removed
}

// editList is edit for the entries of one event. An entry with more than handlers stays.
func (h HookFile) editList(list *hujson.Array, keep func(*hujson.Value) bool) (removed bool) {
	if h.Flat {
		return h.editHandlers(list, keep)
	}
	for n := len(list.Elements) - 1; n >= 0; n-- {
		entry, ok := list.Elements[n].Value.(*hujson.Object)
		if !ok {
			continue
		}
		handlers, _ := child[*hujson.Array](entry, "hooks")
		if handlers == nil || !h.editHandlers(handlers, keep) {
			continue
		}
		removed = true
		if len(handlers.Elements) == 0 && !holdsMore(entry) {
			cutElement(list, n)
		}
	}
	return removed
}

func (h HookFile) editHandlers(list *hujson.Array, keep func(*hujson.Value) bool) (removed bool) {
	for n := len(list.Elements) - 1; n >= 0; n-- {
		if v := &list.Elements[n]; isOurs(*v, h.Agent) && !keep(v) {
			cutElement(list, n)
			removed = true
		}
	}
	return removed
}

func (h HookFile) depth() int {
	if h.Flat {
		return 3
	}
	return 5
}

func (h HookFile) event(name string) (Event, bool) {
	i := slices.IndexFunc(h.Events, func(e Event) bool { return e.Name == name })
	if i < 0 {
		return Event{}, false
	}
	return h.Events[i], true
}

// uninstall removes every handler of nod's, and what is empty without it, unless it was so in the earlier file; in the
// end the file itself. What others have added stays, including comments in nod's own lines.
func (h HookFile) uninstall(now, kept []byte) ([]byte, error) {
	d, err := parse(now)
	if err != nil {
		return nil, err
	}
	was := earlier(kept)
	switch {
	case !h.edit(d, was, func(string, *hujson.Value) bool { return false }):
		return now, nil
	case h.Version != 0 && !was.has("version") && !d.has("hooks") && d.has("version"):
		cutMember(d.root, indexOf(d.root, "version"))
	}
	return d.left(kept), nil
}

func (h HookFile) look(text []byte) (Found, error) {
	d, err := parse(text)
	if err != nil {
		return Found{}, err
	}
	var f Found
	here := map[string]bool{}
	h.edit(d, nil, func(event string, v *hujson.Value) bool {
		f.Some = true
		e, known := h.event(event)
		var now handler
		if !known || decode(*v, &now) != nil {
			return true
		}
		run, ok := RunOf(now.Command, h.Agent)
		if ok && !slices.Contains(f.Runs, run) {
			f.Runs = append(f.Runs, run)
		}
		decides := !(e.Decides && now.Async) && !(e.Blocks && now.Failure != "block")
		if ok && decides {
			here[event] = true
		}
		if limit := h.limit(now); e.Decides && (f.Limit == 0 || limit < f.Limit) {
			f.Limit = limit
		}
		return true
	})
	f.All = len(here) == len(h.Events) && len(f.Runs) == 1
	return f, nil
}

func (h HookFile) limit(r handler) time.Duration {
	if r.Timeout <= 0 {
		return h.Default
	}
	return time.Duration(r.Timeout * float64(h.Unit))
}

// List is a settings file with a list whose last entry is nod's. isOurs recognizes it by its texts.
func List(path, list string, entry any, isOurs func(entry map[string]string) bool) File {
	l := listFile{list, entry, isOurs}
	return File{Path: path, Install: l.install, Uninstall: l.uninstall, Look: l.look}
}

type listFile struct {
	list    string
	entry   any
	matches func(entry map[string]string) bool
}

func (l listFile) install(before []byte, _ string) ([]byte, error) {
	found, err := l.look(before)
	if err != nil || found.Some {
		return before, err
	}
	d, err := parse(before)
	if err != nil {
		return nil, err
	}
	list, err := array(d.member(d.root, l.list, 1, &hujson.Array{}), l.list)
	if err != nil {
		return nil, err
	}
	if err := d.append(list, 2, l.entry); err != nil {
		return nil, err
	}
	return d.pack(), nil
}

// uninstall removes nod's entry, and the list if it is then empty, unless the earlier file had it.
func (l listFile) uninstall(now, kept []byte) ([]byte, error) {
	d, list, err := l.find(now)
	if err != nil || list == nil {
		return now, err
	}
	i := slices.IndexFunc(list.Elements, l.isOurs)
	if i < 0 {
		return now, nil
	}
	cutElement(list, i)
	if len(list.Elements) == 0 && !earlier(kept).has(l.list) {
		cutMember(d.root, indexOf(d.root, l.list))
	}
	return d.left(kept), nil
}

func (l listFile) look(text []byte) (Found, error) {
	_, list, err := l.find(text)
	if err != nil || list == nil {
		return Found{}, err
	}
	is := slices.ContainsFunc(list.Elements, l.isOurs)
	return Found{All: is, Some: is}, nil
}

func (l listFile) find(text []byte) (*document, *hujson.Array, error) {
	d, err := parse(text)
	if err != nil {
		return nil, nil, err
	}
	i, err := d.only(l.list)
	if err != nil || i < 0 {
		return d, nil, err
	}
	list, err := array(&d.root.Members[i].Value, l.list)
	return d, list, err
}

func (l listFile) isOurs(v hujson.Value) bool {
	var entry map[string]string
	return decode(v, &entry) == nil && l.matches(entry)
}
