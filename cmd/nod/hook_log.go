package main

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"nod/ownfile/ownlog"
	"nod/version"
)

// hookLog takes down what a hook does, where somebody wants to know; what cannot be written down changes nothing of
// what the hook says.
type hookLog struct {
	*slog.Logger
	begun time.Time
	file  io.Closer // nil: nothing is written down
}

// newHookLog returns the log of a hook's call. Nothing of it ever goes to standard error: that is the agent's.
func newHookLog(debug bool, agent, event string) *hookLog {
	l := &hookLog{Logger: slog.New(slog.DiscardHandler), begun: time.Now()}
	defer func() { slog.SetDefault(l.Logger) }()
	level, err := ownlog.Level("")
	if !debug && (err != nil || level > slog.LevelDebug) && !ownlog.IsWatched() {
		return l
	}
	file, err := ownlog.OpenShared(ownlog.Path(ownlog.Hooks))
	if err != nil {
		return l
	}
	l.file = file
	l.Logger = slog.New(slog.NewJSONHandler(file, &slog.HandlerOptions{Level: slog.LevelDebug})).With(
		"agent", agent, "pid", os.Getpid())
	l.Debug("called", "event", event, "nod", version.Number(), "caller", os.Getppid())
	return l
}

// maxUnread is how much is written down of what is not JSON, in bytes.
const maxUnread = 64 << 10

// text is JSON as it is, and anything else as a text.
func (l *hookLog) text(b []byte) slog.Value {
	if l.file == nil {
		return slog.Value{}
	}
	if len(b) <= maxPayload && json.Valid(b) {
		return slog.AnyValue(json.RawMessage(b))
	}
	return slog.StringValue(string(b[:min(len(b), maxUnread)]))
}

// end takes down how the hook ends.
func (l *hookLog) end(reply []byte, err error) {
	if l.file == nil {
		return
	}
	status := exitYes
	if v, ok := errors.AsType[*verdict](err); ok {
		status, err = v.status, nil
	}
	attrs := []any{"status", int(status), "took", time.Since(l.begun).String()}
	if len(reply) > 0 {
		attrs = append(attrs, "reply", l.text(reply))
	}
	if err != nil {
		attrs = append(attrs, "err", err.Error())
	}
	l.Debug("ends", attrs...)
	_ = l.file.Close() // nothing more can be done about a log
}
