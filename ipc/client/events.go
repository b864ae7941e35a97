package client

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"iter"
	"mime"
	"strings"

	"nod/api"
)

// Event is what happened to a request of the caller's own.
type Event struct {
	ID      string // what [Client.Events] goes on after
	Type    api.EventType
	Request api.RequestReply // zero for an [api.EventReset]
}

// Events yields events of the caller's own requests, until ctx ends or nod-desktop quits, which is no error. It
// continues after the event with ID after; if that is empty it begins with the pending requests. It continues with the
// next nod-desktop if this one dies. A slow reader misses only outdated events: of a request that has ended it gets the
// end only.
func (c *Client) Events(ctx context.Context, after string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		err := c.reach(ctx, true, func(at *server) error {
			for {
				s := stream{after: after, yield: yield}
				err := s.read(ctx, at)
				hasRead := s.after != after
				after = s.after
				if _, isLost := errors.AsType[*LostError](err); !isLost || !hasRead || !at.isAlive(ctx) {
					return err
				} // else nod-desktop lives, and did not want to wait for this reader
			}
		})
		if err != nil && err != errEnough {
			yield(Event{}, err)
		}
	}
}

// errEnough says that nobody wants more events.
var errEnough = errors.New("enough")

// stream is one connection's part of the events.
type stream struct {
	after string // id of the last event
	yield func(Event, error) bool
	next  struct{ id, kind, data string } // the event that is being read
}

// read reads the stream to its end, which without an error is nod-desktop's.
func (s *stream) read(ctx context.Context, at *server) error {
	resp, err := at.send(ctx, request{
		method: get, path: "/v1/events", accept: "text/event-stream", lastEvent: s.after,
	})
	if err != nil {
		return err
	}
	defer resp.Close()
	media, _, _ := mime.ParseMediaType(resp.header.Get("Content-Type"))
	if resp.status != statusOK || media != "text/event-stream" {
		text, err := resp.read(ctx)
		if err != nil {
			return err
		}
		return cmp.Or(answered(resp, text), badReply("%s, want text/event-stream", media))
	}
	lines := bufio.NewScanner(resp.body)
	lines.Buffer(nil, maxReply)
	for lines.Scan() {
		if err := s.take(lines.Text()); err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return badReply("an event longer than %d bytes", maxReply)
	case err != nil:
		return reasonOf(ctx, &LostError{Err: err})
	}
	return nil
}

// take takes one line in. The last of an event is empty.
func (s *stream) take(line string) error {
	if line == "" {
		return s.dispatch()
	}
	field, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch field {
	case "id":
		s.next.id = value
	case "event":
		s.next.kind = value
	case "data":
		s.next.data += value + "\n"
	}
	return nil
}

// dispatch yields the event that was read. An event without data only sets the position; unknown types are skipped.
func (s *stream) dispatch() error {
	e := Event{ID: cmp.Or(s.next.id, s.after), Type: api.EventType(s.next.kind)}
	data := []byte(s.next.data)
	s.next = struct{ id, kind, data string }{}
	switch e.Type {
	case api.EventReset:
	case api.EventPending, api.EventSettled:
		var err error
		if e.Request, err = parse[api.RequestReply](data); err != nil {
			return err
		}
		if (e.Type == api.EventPending) != (e.Request.Status == api.Pending) {
			return badReply("event %q about a request that is %q", e.Type, e.Request.Status)
		}
	default:
		s.after = e.ID
		return nil
	}
	s.after = e.ID
	if !s.yield(e, nil) {
		return errEnough
	}
	return nil
}
