package main

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"nod/ipc/client"
	"nod/ownfile/ownlog"
	"nod/version"
)

// hookLog logs a hook's calls if that is turned on. Errors of the log do not affect the hook.
type hookLog struct {
	*slog.Logger
	begun time.Time
	file  io.Closer // nil: not logging
}

// newHookLog returns the log of a hook's call. It never writes to standard error, which belongs to the agent.
func newHookLog(debug bool, agent, event string) *hookLog {
	l := &hookLog{Logger: slog.New(slog.DiscardHandler), begun: time.Now()}
	defer func() { slog.SetDefault(l.Logger) }()
	level, err := ownlog.Level("")
	if !debug && (err != nil || level > slog.LevelDebug) {
		return l
	}
	file, err := ownlog.OpenShared(ownlog.Hooks())
	if err != nil {
		return l
	}
	l.file = file
	l.Logger = slog.New(slog.NewJSONHandler(file, &slog.HandlerOptions{Level: slog.LevelDebug})).With(
		"agent", agent, "pid", os.Getpid())
	l.Debug("called", "event", event, "nod", version.Number(), "caller", os.Getppid())
	return l
}

const maxUnread = 64 << 10

func (l *hookLog) text(b []byte) slog.Value {
	if l.file == nil {
		return slog.Value{}
	}
	if len(b) <= client.MaxPayload && json.Valid(b) {
		return slog.AnyValue(json.RawMessage(b))
	}
	return slog.StringValue(string(b[:min(len(b), maxUnread)]))
}

func (l *hookLog) end(reply []byte, err error) {
	if l.file == nil {
		return
	}
	status := exitYes
	if v, ok := errors.AsType[*verdict](err); ok {
		status = v.status
	}
	attrs := []any{"status", int(status), "took", time.Since(l.begun).String()}
	if len(reply) > 0 {
		attrs = append(attrs, "reply", l.text(reply))
	}
	if err != nil && err.Error() != "" {
		attrs = append(attrs, "err", err.Error())
	}
	l.Debug("ends", attrs...)
	_ = l.file.Close() // nothing more can be done about a log
}
