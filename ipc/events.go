package ipc

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"nod/api"
	"nod/interact"
)

const (
	maxFollowing = 64               // streams of events at once
	beatEvery    = 15 * time.Second // between signs of life on a stream
)

const lastEvent = "Last-Event-ID"

// follow streams the events of the caller's requests, as server-sent events.
func follow(s *Server, r *http.Request, _ []byte) (reply, error) {
	var after int64
	if text := r.Header.Get(lastEvent); text != "" {
		var err error
		if after, err = strconv.ParseInt(text, 10, 64); err != nil || after <= 0 {
			return reply{}, &interact.ParamError{Param: lastEvent, Problem: "want the id of an event"}
		}
	}
	if s.following.Add(1) > maxFollowing {
		s.following.Add(-1)
		return reply{}, rateLimited("too many programs follow the events", 5)
	}
	return reply{stream: func(w http.ResponseWriter) {
		defer s.following.Add(-1)
		feed := s.broker.Follow(requester(r, api.Common{}), interact.EventID(after))
		defer feed.Close()
		w.Header().Set("Content-Type", "text/event-stream")
		s.stream(w, r, feed)
	}}, nil
}

// stream writes events until the caller hangs up or nod ends. It hangs up on a caller that does not read.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, feed *interact.Feed) {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for {
		if err := writeNews(w, feed); err != nil {
			s.log.Debug("write events", "err", err)
			panic(http.ErrAbortHandler)
		}
		select {
		case <-feed.News():
		case <-beat.C:
		case <-s.stopping.Done():
			_ = patient(w) // the end is written, too
			return
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		}
	}
}

// patient extends the deadline of a stream's reader.
func patient(w http.ResponseWriter) error {
	return http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
}

// writeNews writes new events, and then the last id, also as a sign of life.
func writeNews(w http.ResponseWriter, feed *interact.Feed) error {
	happened, last, reset := feed.Next()
	if reset {
		happened = slices.Insert(happened, 0, interact.Event{})
	}
	for _, e := range happened {
		text, err := textOf(e)
		if err != nil {
			return err
		}
		if err := patient(w); err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	if err := patient(w); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "id: %d\n\n", last); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// textOf encodes an event; without a request it is a reset.
func textOf(e interact.Event) ([]byte, error) {
	var b bytes.Buffer
	if e.Request.ID == "" {
		fmt.Fprintf(&b, "event: %s\ndata: {}\n\n", api.EventReset)
		return b.Bytes(), nil
	}
	body, err := became(e.Request, e.Answer)
	if err != nil {
		return nil, err
	}
	data, err := api.Encode(body)
	if err != nil {
		return nil, err
	}
	kind := api.EventSettled
	if body.Status == api.Pending {
		kind = api.EventPending
	}
	if e.ID != 0 {
		fmt.Fprintf(&b, "id: %d\n", e.ID)
	}
	fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, data)
	return b.Bytes(), nil
}
