package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"nod/ownfile"
)

const (
	pushTimeout = 15 * time.Second
	pushTTL     = 5 * 60    // seconds for which a push service keeps an undelivered message
	maxPushFile = 256 << 10 // bytes
	maxPushKey  = 256       // characters of a key of a subscription
	maxEndpoint = 2048      // characters of a subscription's address
)

// pushServices are the hosts of the browsers' push services, and suffixes of such hosts. nod sends to no others.
var pushServices = []string{
	"fcm.googleapis.com", "updates.push.services.mozilla.com", ".push.services.mozilla.com", "web.push.apple.com",
	".push.apple.com", ".notify.windows.com",
}

// Push wakes devices by Web Push, with its own keys. It is safe for concurrent use.
type Push struct {
	path   string
	client *http.Client

	mu   sync.Mutex
	kept pushFile
}

type pushFile struct {
	Version int                     `json:"version"`
	Private string                  `json:"private"`
	Public  string                  `json:"public"`
	Devices map[string]Subscription `json:"devices"` // by the device's key
}

// OpenPush reads keys and subscriptions from a file that only its owner can read. Without a file it makes keys, and
// saves them with the first subscription. It sends through transport, or over the network if that is nil.
func OpenPush(path string, transport http.RoundTripper) (*Push, error) {
	p := &Push{path: path, client: &http.Client{
		Transport: transport, Timeout: pushTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	text, err := ownfile.ReadSecret(path, maxPushFile)
	if err == nil && json.Unmarshal(text, &p.kept) == nil && p.kept.Version == 1 && p.kept.Private != "" {
		return p, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the keys that wake devices: %w", err)
	}
	p.kept = pushFile{Version: 1, Devices: map[string]Subscription{}}
	if p.kept.Private, p.kept.Public, err = webpush.GenerateVAPIDKeys(); err != nil {
		return nil, fmt.Errorf("make keys to wake devices: %w", err)
	}
	return p, nil
}

// save writes the file. The caller holds p.mu.
func (p *Push) save() error {
	text, err := json.Marshal(p.kept)
	if err != nil {
		return err
	}
	return ownfile.Write(p.path, text, 0o600)
}

// Key returns the key for browsers to subscribe with.
func (p *Push) Key() string { return p.kept.Public }

// Subscribe sets where to push for a device. An empty subscription turns that off.
func (p *Push) Subscribe(key string, s Subscription) error {
	if s != (Subscription{}) && !s.isSound() {
		return Forbidden("nod doesn't know this push service.")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept.Devices == nil {
		p.kept.Devices = map[string]Subscription{}
	}
	if p.kept.Devices[key] == s {
		return nil
	}
	if delete(p.kept.Devices, key); s != (Subscription{}) {
		p.kept.Devices[key] = s
	}
	return p.save()
}

// isSound reports whether a subscription leads to a push service.
func (s Subscription) isSound() bool {
	u, err := url.Parse(s.Endpoint)
	if err != nil || u.Scheme != "https" || u.User != nil || len(s.Endpoint) > maxEndpoint || u.Port() != "" ||
		len(s.Keys.Auth) > maxPushKey || len(s.Keys.P256DH) > maxPushKey {
		return false
	}
	return slices.ContainsFunc(pushServices, func(service string) bool {
		return u.Host == service || strings.HasPrefix(service, ".") && strings.HasSuffix(u.Host, service)
	})
}

// Has reports whether a device has a subscription.
func (p *Push) Has(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, has := p.kept.Devices[key]
	return has
}

// Wake pushes to the devices for which counts returns true. It deletes the subscriptions of other devices, cancelled
// ones, and those that do not lead to a push service.
func (p *Push) Wake(ctx context.Context, counts func(key string) bool) error {
	p.mu.Lock()
	devices := maps.Clone(p.kept.Devices)
	p.mu.Unlock()
	var failed []error
	for key, s := range devices {
		if !counts(key) || !s.isSound() {
			failed = append(failed, p.drop(key, s))
			continue
		}
		isGone, err := p.wake(ctx, s)
		if isGone {
			err = p.drop(key, s)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// drop deletes a subscription, unless the device has another one by now.
func (p *Push) drop(key string, s Subscription) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept.Devices[key] != s {
		return nil
	}
	delete(p.kept.Devices, key)
	return p.save()
}

func (p *Push) wake(ctx context.Context, s Subscription) (isGone bool, err error) {
	reply, err := webpush.SendNotificationWithContext(ctx, []byte("waiting"),
		&webpush.Subscription{Endpoint: s.Endpoint, Keys: webpush.Keys{Auth: s.Keys.Auth, P256dh: s.Keys.P256DH}},
		&webpush.Options{
			HTTPClient: p.client, Subscriber: "nod@nod.invalid", Topic: "nod", TTL: pushTTL, Urgency: webpush.UrgencyHigh,
			VAPIDPublicKey: p.kept.Public, VAPIDPrivateKey: p.kept.Private,
		})
	if err != nil {
		return false, fmt.Errorf("wake a device: %w", withoutAddress(err))
	}
	defer reply.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(reply.Body, maxBody))
	if reply.StatusCode == http.StatusNotFound || reply.StatusCode == http.StatusGone {
		return true, nil
	}
	if reply.StatusCode/100 != 2 {
		return false, fmt.Errorf("wake a device: its push service replied %s", reply.Status)
	}
	return false, nil
}

func withoutAddress(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// WakeByNtfy publishes a text to an ntfy topic, with the page's address.
func (p *Push) WakeByNtfy(ctx context.Context, topic, page, text string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, topic, strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("remote.phone.push: %w", withoutAddress(err))
	}
	r.Header.Set("Title", "nod")
	r.Header.Set("Priority", "high")
	r.Header.Set("Click", page)
	reply, err := p.client.Do(r)
	if err != nil {
		return fmt.Errorf("wake devices by ntfy: %w", withoutAddress(err))
	}
	defer reply.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(reply.Body, maxBody))
	if reply.StatusCode/100 != 2 {
		return fmt.Errorf("wake devices by ntfy: the server replied %s", reply.Status)
	}
	return nil
}
