package remote

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	strict "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/google/uuid"
	"github.com/nats-io/nkeys"
	"github.com/tyler-smith/go-bip39/wordlists"

	"nod/ownfile"
)

// Kind says what the body of an [Envelope] is. A message of one kind is never taken for one of another.
type Kind string

// The kinds of message, with the type of their bodies.
const (
	KindHello   Kind = "hello"   // [Hello], of a machine
	KindRequest Kind = "request" // [Request], of a machine
	KindRecords Kind = "records" // a list of [interact.Record], of a machine
	KindEnd     Kind = "end"     // [Answer], of a machine: how it ended a request
	KindAnswer  Kind = "answer"  // [Answer], of a desk
	KindPolicy  Kind = "policy"  // [Policy], of a desk
	KindForget  Kind = "forget"  // nothing, of a desk: approvals that were kept hold no longer
)

// An Envelope is a message that was opened: its sender has signed it, for this receiver and no other.
type Envelope struct {
	From Key
	ID   string // a UUID: no two messages have the same
	Kind Kind
	Sent time.Time // as the sender's clock has it
	body json.RawMessage
}

// Decode reads the body. What the type does not know is an error: it may be what the message is about.
func (e Envelope) Decode(into any) error {
	if err := strict.Unmarshal(e.body, into, jsonv1.DefaultOptionsV1(), strict.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("read the message %q: %w", e.Kind, err)
	}
	return nil
}

// letter is what a sender signs.
type letter struct {
	From Key             `json:"from"`
	To   string          `json:"to"` // the key by which the receiver signs
	ID   string          `json:"id"`
	Kind Kind            `json:"kind"`
	Sent time.Time       `json:"sent"`
	Body json.RawMessage `json:"body"`
}

// signed is what is sealed: the letter byte for byte, and the signature under it.
type signed struct {
	Letter    []byte `json:"letter"`
	Signature []byte `json:"signature"`
}

// sealed is what is sent. Who may have sent it stands outside, because it takes that key to open it.
type sealed struct {
	From string `json:"from"` // an xkey
	Box  []byte `json:"box"`
}

// signContext is signed before each letter, so that no signature of nod's counts for anything else.
const signContext = "nod message 1\n"

// maxEnvelope is how long an envelope is at most, in bytes: a request's input of 1 MB, what was reported of it, and
// what encoding adds twice.
const maxEnvelope = 8 << 20

// Identity is the private keys of a desk or a relay. It is safe for concurrent use.
type Identity struct {
	// Now is the clock by which messages are dated. nil: time.Now. Set it before use.
	Now func() time.Time

	key        Key
	sign, seal nkeys.KeyPair
}

// NewIdentity makes keys that nobody has.
func NewIdentity() (*Identity, error) {
	sign, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	seal, err := nkeys.CreateCurveKeys()
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return newIdentity(sign, seal)
}

func newIdentity(sign, seal nkeys.KeyPair) (*Identity, error) {
	i := &Identity{sign: sign, seal: seal}
	var err, sealErr error
	i.key.Sign, err = sign.PublicKey()
	i.key.Seal, sealErr = seal.PublicKey()
	return i, errors.Join(err, sealErr)
}

// identityFile is what the file holds: seeds as nkeys writes them.
type identityFile struct {
	Version int    `json:"version"`
	Sign    string `json:"sign"`
	Seal    string `json:"seal"`
}

const (
	identityVersion = 1
	maxIdentity     = 4 << 10 // bytes of the file
)

// LoadIdentity reads the keys at path, or makes them there, for nobody else to read. A file that is damaged is an
// error: keys are never replaced unasked.
func LoadIdentity(path string) (*Identity, error) {
	text, err := ownfile.ReadSecret(path, maxIdentity)
	if errors.Is(err, fs.ErrNotExist) {
		return createIdentity(path)
	}
	var file identityFile
	if err == nil {
		err = strict.Unmarshal(text, &file, strict.RejectUnknownMembers(true))
	}
	if err == nil && file.Version != identityVersion {
		err = fmt.Errorf("version %d: want %d", file.Version, identityVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("read the keys in %s: %w", path, err)
	}
	sign, err := seedOf(file.Sign, nkeys.PrefixByteUser)
	if err != nil {
		return nil, fmt.Errorf("read the keys in %s: sign: %w", path, err)
	}
	seal, err := seedOf(file.Seal, nkeys.PrefixByteCurve)
	if err != nil {
		return nil, fmt.Errorf("read the keys in %s: seal: %w", path, err)
	}
	return newIdentity(sign, seal)
}

func seedOf(seed string, want nkeys.PrefixByte) (nkeys.KeyPair, error) {
	prefix, _, err := nkeys.DecodeSeed([]byte(seed))
	if err != nil {
		return nil, errors.New("not a seed") // nkeys' own words might show it
	}
	if prefix != want {
		return nil, fmt.Errorf("a seed of another kind: want %s", want)
	}
	if want == nkeys.PrefixByteCurve {
		return nkeys.FromCurveSeed([]byte(seed))
	}
	return nkeys.FromSeed([]byte(seed))
}

func createIdentity(path string) (*Identity, error) {
	i, err := NewIdentity()
	if err != nil {
		return nil, err
	}
	sign, err := i.sign.Seed()
	if err != nil {
		return nil, err
	}
	seal, err := i.seal.Seed()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(identityFile{identityVersion, string(sign), string(seal)})
	if err != nil {
		return nil, err
	}
	if err := ownfile.Write(path, append(text, '\n'), 0o600); err != nil {
		return nil, fmt.Errorf("keep the keys: %w", err)
	}
	return i, nil
}

// Key is the public part.
func (i *Identity) Key() Key { return i.key }

// Seal makes a message that only the owner of to can read.
func (i *Identity) Seal(to Key, kind Kind, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("seal %q: %w", kind, err)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("seal %q: %w", kind, err)
	}
	sent := time.Now()
	if i.Now != nil {
		sent = i.Now()
	}
	l, err := json.Marshal(letter{From: i.key, To: to.Sign, ID: id.String(), Kind: kind, Sent: sent, Body: text})
	if err != nil {
		return nil, fmt.Errorf("seal %q: %w", kind, err)
	}
	signature, err := i.sign.Sign(append([]byte(signContext), l...))
	if err != nil {
		return nil, fmt.Errorf("sign %q: %w", kind, err)
	}
	inner, err := json.Marshal(signed{l, signature})
	if err != nil {
		return nil, fmt.Errorf("seal %q: %w", kind, err)
	}
	box, err := i.seal.Seal(inner, to.Seal)
	if err != nil {
		return nil, fmt.Errorf("seal %q for %s: %w", kind, to.Sign, err)
	}
	return json.Marshal(sealed{i.key.Seal, box})
}

// Open opens a message for this identity that one of from has sent; without any from, whoever it says has. The error
// wraps [ErrForged].
func (i *Identity) Open(message []byte, from ...Key) (Envelope, error) {
	if len(message) > maxEnvelope {
		return Envelope{}, fmt.Errorf("%w: it has %d bytes", ErrForged, len(message))
	}
	var out sealed
	if err := decode(message, &out); err != nil {
		return Envelope{}, err
	}
	isFrom := func(k Key) bool { return k.Seal == out.From }
	if len(from) > 0 && !slices.ContainsFunc(from, isFrom) {
		return Envelope{}, fmt.Errorf("%w: it comes from somebody else", ErrForged)
	}
	inner, err := i.seal.Open(out.Box, out.From)
	if err != nil {
		return Envelope{}, fmt.Errorf("%w: it does not open", ErrForged)
	}
	var in signed
	if err := decode(inner, &in); err != nil {
		return Envelope{}, err
	}
	var l letter
	if err := decode(in.Letter, &l); err != nil {
		return Envelope{}, err
	}
	switch {
	case l.To != i.key.Sign:
		return Envelope{}, fmt.Errorf("%w: it is for somebody else", ErrForged)
	case l.From.Seal != out.From, len(from) > 0 && !slices.Contains(from, l.From):
		return Envelope{}, fmt.Errorf("%w: it comes from somebody else", ErrForged)
	case l.From.verify(append([]byte(signContext), in.Letter...), in.Signature) != nil:
		return Envelope{}, fmt.Errorf("%w: its signature is wrong", ErrForged)
	}
	return Envelope{From: l.From, ID: l.ID, Kind: l.Kind, Sent: l.Sent, body: l.Body}, nil
}

// decode reads one layer of a message, in which nothing may be unknown or stand twice.
func decode(text []byte, into any) error {
	if err := strict.Unmarshal(text, into, strict.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%w: %w", ErrForged, err)
	}
	return nil
}

// verify reports whether k has signed text.
func (k Key) verify(text, signature []byte) error {
	if !nkeys.IsValidPublicUserKey(k.Sign) {
		return errors.New("not a public key")
	}
	public, err := nkeys.FromPublicKey(k.Sign)
	if err != nil {
		return err
	}
	return public.Verify(text, signature)
}

// keyLength is how many characters nkeys writes a public key with. It reads over line breaks, with which one key would
// be spelled in many ways, each as long as whoever claims it wants.
const keyLength = 56

// Check says what is wrong with the public key of a machine or a desk.
func (k Key) Check() error {
	if len(k.Sign) != keyLength || len(k.Seal) != keyLength ||
		!nkeys.IsValidPublicUserKey(k.Sign) || !nkeys.IsValidPublicCurveKey(k.Seal) {
		return errors.New("not the public key of a nod: want one as nod relay prints it, or as the settings show it")
	}
	return nil
}

// String is the key as people copy it: one word that [ParseKey] reads.
func (k Key) String() string {
	if k.Seal == "" {
		return k.Sign
	}
	return k.Sign + "." + k.Seal
}

// ParseKey reads what [Key.String] writes for a machine or a desk.
func ParseKey(text string) (Key, error) {
	var k Key
	k.Sign, k.Seal, _ = strings.Cut(text, ".")
	return k, k.Check()
}

// fingerprintWords are enough that nobody can make a second key with the same ones: each stands for 11 bits.
const fingerprintWords = 6

// Fingerprint is the key in words that two people can compare, of the English list of BIP 39. They stand for the first
// 66 bits of the SHA-256 of its text.
func (k Key) Fingerprint() string {
	sum := sha256.Sum256([]byte(k.String()))
	words, bits, held := make([]string, 0, fingerprintWords), 0, 0
	rest := bytes.NewReader(sum[:])
	for len(words) < fingerprintWords {
		next, _ := rest.ReadByte() // of 32 bytes it takes nine
		held, bits = held<<8|int(next), bits+8
		if bits >= 11 {
			bits -= 11
			words = append(words, wordlists.English[held>>bits&0x7ff])
			held &= 1<<bits - 1
		}
	}
	return strings.Join(words, " ")
}
