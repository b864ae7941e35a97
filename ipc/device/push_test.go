package device_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"path/filepath"
	"testing"

	"nod/ipc/device"
)

type pushService func(*http.Request) *http.Response

func (s pushService) RoundTrip(r *http.Request) (*http.Response, error) { return s(r), nil }

// A device that subscribes anew while nod tries its old subscription, which is gone, keeps the new one.
func TestASubscriptionThatIsRenewedWhileTheOldOneIsTried(t *testing.T) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var s device.Subscription
	s.Keys.P256DH = base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes())
	s.Keys.Auth = base64.RawURLEncoding.EncodeToString(make([]byte, 16))
	var push *device.Push
	subscribe := func(path string) {
		s.Endpoint = "https://fcm.googleapis.com/" + path
		if err := push.Subscribe("phone", s); err != nil {
			t.Error(err)
		}
	}
	isRenewed := false
	gone := pushService(func(r *http.Request) *http.Response {
		if isRenewed {
			subscribe("new")
		}
		return &http.Response{StatusCode: http.StatusGone, Body: http.NoBody, Request: r}
	})
	push, err = device.OpenPush(filepath.Join(t.TempDir(), "phone.json"), gone)
	if err != nil {
		t.Fatal(err)
	}
	all := func(string) bool { return true }
	for _, isRenewed = range []bool{false, true} {
		subscribe("old")
		if err := push.Wake(t.Context(), all); err != nil {
			t.Error(err)
		}
		if push.Has("phone") != isRenewed {
			t.Errorf("renewed %v, subscribed %v", isRenewed, push.Has("phone"))
		}
	}
}
