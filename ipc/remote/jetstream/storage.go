package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
)

// storage is what the cluster keeps for nod.
type storage struct {
	kept               js.JetStream
	requests           js.Stream
	outcomes, policies js.KeyValue
}

// open finds the stream and the buckets, and makes what is missing.
func (h *hub) open(ctx context.Context) (s storage, err error) {
	if s.kept, err = js.New(h.nc); err != nil {
		return s, err
	}
	if s.requests, err = h.openRequests(ctx, s.kept); err != nil {
		return s, err
	}
	if s.outcomes, err = h.openBucket(ctx, s.kept, h.outcomesConfig()); err != nil {
		return s, err
	}
	s.policies, err = h.openBucket(ctx, s.kept, h.policiesConfig())
	return s, err
}

func (h *hub) requestsConfig() js.StreamConfig {
	return js.StreamConfig{
		Name:        h.cfg.requests(),
		Description: "Requests of machines that wait for their desks",
		Subjects:    []string{h.cfg.subject(sayRequest, "*", "*")},
		MaxMsgs:     maxRequests, MaxBytes: maxBytes, MaxAge: maxAge,
		MaxMsgsPerSubject: maxWaiting, Discard: js.DiscardNew, DiscardNewPerSubject: true,
		Duplicates: duplicates, AllowDirect: true, AllowMsgTTL: true,
		RePublish: &js.RePublish{
			Source:      h.cfg.subject(sayRequest, "*", "*"),
			Destination: h.cfg.subject(sayAsked, "{{wildcard(1)}}", "{{wildcard(2)}}"),
			HeadersOnly: true,
		},
	}
}

func (h *hub) outcomesConfig() js.KeyValueConfig {
	return js.KeyValueConfig{
		Bucket:      h.cfg.outcomes(),
		Description: "How requests ended; each is written once",
		TTL:         keepOutcome,
		RePublish:   h.republish(h.cfg.outcomes(), sayOutcome),
	}
}

func (h *hub) policiesConfig() js.KeyValueConfig {
	return js.KeyValueConfig{
		Bucket:      h.cfg.policies(),
		Description: "What desks have their machines apply",
		RePublish:   h.republish(h.cfg.policies(), sayPolicy),
	}
}

// republish has the cluster tell all that listen what a bucket took in: thousands of relays need no consumer.
func (h *hub) republish(bucket, what string) *js.RePublish {
	return &js.RePublish{
		Source:      "$KV." + bucket + ".*.*",
		Destination: h.cfg.subject(what, "{{wildcard(1)}}", "{{wildcard(2)}}"),
	}
}

func (h *hub) openRequests(ctx context.Context, kept js.JetStream) (js.Stream, error) {
	cfg := h.requestsConfig()
	s, err := kept.Stream(ctx, cfg.Name)
	if errors.Is(err, js.ErrStreamNotFound) {
		err = replicate(func(n int) (err error) {
			cfg.Replicas = n
			s, err = kept.CreateStream(ctx, cfg)
			return err
		})
	}
	if err != nil {
		return nil, missing("stream", cfg.Name, err)
	}
	has := s.CachedInfo().Config
	isTold := has.RePublish != nil && has.RePublish.Destination == cfg.RePublish.Destination
	if !has.AllowMsgTTL || !has.AllowDirect || !has.DiscardNewPerSubject || !isTold {
		return nil, fmt.Errorf("stream %s is not set up for nod: it needs --allow-msg-ttl, --allow-direct, "+
			"--discard=new, --discard-per-subject and to republish %s as %s: see \"Over NATS\" in docs/machines.md",
			cfg.Name, cfg.RePublish.Source, cfg.RePublish.Destination)
	}
	return s, nil
}

func (h *hub) openBucket(ctx context.Context, kept js.JetStream, cfg js.KeyValueConfig) (js.KeyValue, error) {
	bucket, err := kept.KeyValue(ctx, cfg.Bucket)
	if errors.Is(err, js.ErrBucketNotFound) {
		err = replicate(func(n int) (err error) {
			cfg.Replicas = n
			bucket, err = kept.CreateKeyValue(ctx, cfg)
			return err
		})
	}
	if err != nil {
		return nil, missing("bucket", cfg.Bucket, err)
	}
	status, err := bucket.Status(ctx)
	if err != nil {
		return nil, missing("bucket", cfg.Bucket, err)
	}
	if has := status.Config().RePublish; has == nil || has.Destination != cfg.RePublish.Destination {
		return nil, fmt.Errorf("bucket %s is not set up for nod: it must republish %s as %s: see \"Over NATS\" in "+
			"docs/machines.md", cfg.Bucket, cfg.RePublish.Source, cfg.RePublish.Destination)
	}
	return bucket, nil
}

// replicate creates with as many replicas as the cluster has places for, and at most three.
func replicate(create func(replicas int) error) (err error) {
	for n := 3; n > 0; n-- {
		var api *js.APIError
		if err = create(n); err == nil || !errors.As(err, &api) {
			return err
		}
	}
	return err
}

// missing says what there must be, where it is not and cannot be made.
func missing(what, name string, err error) error {
	if errors.Is(err, js.ErrJetStreamNotEnabled) || errors.Is(err, js.ErrJetStreamNotEnabledForAccount) {
		return fmt.Errorf("JetStream is not on for this account of NATS, and nod needs it: %w", err)
	}
	return fmt.Errorf("the %s %s can neither be found nor made: have who runs NATS make it, and let these credentials "+
		"use it: see \"Over NATS\" in docs/machines.md: %w", what, name, err)
}

// readClock sees how far the cluster's clock is ahead, and when the stream was made.
func (h *hub) readClock(ctx context.Context) (made time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	sent := time.Now()
	info, err := h.requests.Info(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the state of %s: %w", h.cfg.requests(), err)
	}
	took := time.Since(sent)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ahead, h.trip = info.TimeStamp.Sub(sent.Add(took/2)), took
	return info.Created, nil
}

// isLost reports whether err says that the stream, or the one under a bucket, is not there any more.
func isLost(err error) bool {
	return errors.Is(err, js.ErrStreamNotFound) || errors.Is(err, js.ErrNoStreamResponse)
}
