package device

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"maps"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"time"

	"nod/interact"
)

const (
	nonceFor   = 2 * time.Minute // validity of a nonce
	maxSpent   = 1 << 14         // used nonces to remember, all of paired devices
	signature  = 64              // bytes: r and s, 32 each
	nonceBytes = 8 + 16          // its time, and random bytes
)

// signContext begins each signed text, so that signatures are valid for nothing else.
const signContext = "nod-device-1"

var encoding = base64.RawURLEncoding.Strict()

type credentials struct{ key, nonce, signature string }

func readCredentials(h http.Header) (c credentials, ok bool) {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return c, false
	}
	rest, isNod := strings.CutPrefix(values[0], "Nod ")
	parts := strings.Split(rest, ", ")
	if !isNod || len(parts) != 3 {
		return c, false
	}
	for i, field := range []struct {
		name string
		into *string
	}{{"key=", &c.key}, {"nonce=", &c.nonce}, {"sig=", &c.signature}} {
		if *field.into, ok = strings.CutPrefix(parts[i], field.name); !ok {
			return c, false
		}
	}
	return c, true
}

func signedText(method, host, path string, body []byte, nonce string) []byte {
	return []byte(strings.Join([]string{signContext, method + " " + host, path, interact.Digest(body), nonce}, "\n"))
}

// parseKey reads a device's public key: a point on P-256.
func parseKey(key string) (*ecdsa.PublicKey, error) {
	raw, err := encoding.DecodeString(key)
	if err != nil {
		return nil, errors.New("the key is not base64url")
	}
	return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
}

// verify reports whether the owner of the key has signed text.
func (c credentials) verify(text []byte) bool {
	key, err := parseKey(c.key)
	if err != nil {
		return false
	}
	raw, err := encoding.DecodeString(c.signature)
	if err != nil || len(raw) != signature {
		return false
	}
	digest := sha256.Sum256(text)
	r, s := new(big.Int).SetBytes(raw[:signature/2]), new(big.Int).SetBytes(raw[signature/2:])
	return ecdsa.Verify(key, digest[:], r, s)
}

// nonces are valid once. Issuing one needs no memory: only used ones are kept, for as long as they would be valid.
type nonces struct {
	secret [sha256.Size]byte
	began  time.Time

	mu    sync.Mutex
	spent map[string]time.Duration // used nonces, with their times
}

func newNonces() *nonces {
	n := &nonces{began: time.Now(), spent: map[string]time.Duration{}}
	_, _ = rand.Read(n.secret[:]) // never fails
	return n
}

func (n *nonces) make() string {
	raw := make([]byte, nonceBytes, nonceBytes+sha256.Size)
	binary.BigEndian.PutUint64(raw, uint64(time.Since(n.began)))
	_, _ = rand.Read(raw[8:])
	return encoding.EncodeToString(n.seal(raw))
}

func (n *nonces) seal(raw []byte) []byte {
	mac := hmac.New(sha256.New, n.secret[:])
	mac.Write(raw)
	return mac.Sum(raw)
}

// spend uses up a nonce, and reports whether it was valid.
func (n *nonces) spend(nonce string) bool {
	raw, err := encoding.DecodeString(nonce)
	if err != nil || len(raw) != nonceBytes+sha256.Size || !hmac.Equal(raw, n.seal(raw[:nonceBytes:nonceBytes])) {
		return false
	}
	now, made := time.Since(n.began), time.Duration(binary.BigEndian.Uint64(raw))
	if now-made >= nonceFor {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, isSpent := n.spent[nonce]; isSpent {
		return false
	}
	if len(n.spent) >= maxSpent {
		maps.DeleteFunc(n.spent, func(_ string, made time.Duration) bool { return now-made >= nonceFor })
		if len(n.spent) >= maxSpent {
			return false
		}
	}
	n.spent[nonce] = made
	return true
}
