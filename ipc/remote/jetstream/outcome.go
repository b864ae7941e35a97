package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	js "github.com/nats-io/nats.go/jetstream"

	"nod/interact"
	"nod/ipc/remote"
)

// matter is what both ends know of one request.
type matter struct {
	machine remote.Key
	id      interact.ID
	digest  string
	desks   []remote.Key
}

func (m matter) key() string { return m.machine.Sign + "." + string(m.id) }

// outcome is what the bucket has of a request: an envelope for everybody who may read it, by the key that signs.
type outcome map[string]json.RawMessage

// settle writes how a request ended, unless it has ended, and returns what counts and by whom.
func (h *hub) settle(ctx context.Context, m matter, a interact.Answer) (interact.Answer, remote.Key, error) {
	me := h.identity.Key()
	value, err := h.seal(m, a)
	if err != nil {
		return interact.Answer{}, remote.Key{}, err
	}
	_, err = h.outcomes.Create(ctx, m.key(), value)
	for try := 0; errors.Is(err, js.ErrKeyExists) || errors.Is(err, js.ErrKeyRevisionMismatch); try++ {
		var entry js.KeyValueEntry
		if entry, err = h.outcomes.Get(ctx, m.key()); errors.Is(err, js.ErrKeyNotFound) {
			err = pause(ctx, try) // this server has not heard of it yet
			if err == nil {
				err = js.ErrKeyExists
			}
			continue
		} else if err != nil {
			break
		}
		first, by, bad := h.read(m, entry.Value())
		if bad == nil {
			return first, by, nil
		}
		h.log.Warn("what stands for the outcome of a request is none, and is replaced", "id", m.id, "err", bad)
		_, err = h.outcomes.Update(ctx, m.key(), value, entry.Revision())
		if errors.Is(err, js.ErrKeyRevisionMismatch) && pause(ctx, try) != nil {
			break
		}
	}
	if isLost(err) {
		h.reopen(ctx)
	}
	if err != nil {
		return interact.Answer{}, remote.Key{}, fmt.Errorf("%w: write the outcome: %w", remote.ErrDown, err)
	}
	return a, me, nil
}

// pause waits a little longer with every try. The error is ctx's.
func pause(ctx context.Context, try int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(10 * time.Millisecond << min(try, 6))):
		return nil
	}
}

func (h *hub) seal(m matter, a interact.Answer) ([]byte, error) {
	kind := remote.KindAnswer
	if h.identity.Key() == m.machine {
		kind = remote.KindEnd
	}
	all := outcome{}
	for _, reader := range append([]remote.Key{m.machine}, m.desks...) {
		message, err := h.identity.Seal(reader, kind, remote.Answer{ID: m.id, Digest: m.digest, Answer: a})
		if err != nil {
			return nil, err
		}
		all[reader.Sign] = message
	}
	return json.Marshal(all)
}

// ended looks how a request ended. ok is false while it has not.
func (h *hub) ended(ctx context.Context, m matter) (a interact.Answer, by remote.Key, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	entry, err := h.outcomes.Get(ctx, m.key())
	if err != nil {
		return a, by, false
	}
	a, by, err = h.read(m, entry.Value())
	return a, by, err == nil
}

// read takes for the outcome of a request only what is one. The error wraps [remote.ErrForged].
func (h *hub) read(m matter, value []byte) (interact.Answer, remote.Key, error) {
	var all outcome
	if err := json.Unmarshal(value, &all); err != nil {
		return interact.Answer{}, remote.Key{}, fmt.Errorf("%w: %w", remote.ErrForged, err)
	}
	envelope, err := h.identity.Open(all[h.me()], append(slices.Clone(m.desks), m.machine)...)
	if err != nil {
		return interact.Answer{}, remote.Key{}, err
	}
	kind := remote.KindAnswer
	if envelope.From == m.machine {
		kind = remote.KindEnd
	}
	var a remote.Answer
	if err := expect(envelope, kind, &a); err != nil {
		return interact.Answer{}, remote.Key{}, err
	}
	if a.ID != m.id || a.Digest != m.digest {
		return interact.Answer{}, remote.Key{}, fmt.Errorf("%w: it is about another request", remote.ErrForged)
	}
	return a.Answer, envelope.From, nil
}
