package remote

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"strconv"
	"strings"
	"time"

	strict "github.com/go-json-experiment/json"
	"github.com/nats-io/nkeys"

	"nod/ownfile"
)

// protocol names the protocol between desks and relays, with its version. TLS compares it before anything else is sent,
// so ends with different versions do not talk.
const protocol = "nod-session/3"

// Identity is the private key of a desk or a relay. It is safe for concurrent use.
type Identity struct {
	key     Key
	private ed25519.PrivateKey
	config  *tls.Config
}

// NewIdentity generates a key.
func NewIdentity() (*Identity, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return newIdentity(private)
}

// newIdentity makes the certificate in which TLS presents the key. Only the key in it counts.
func newIdentity(private ed25519.PrivateKey) (*Identity, error) {
	public := private.Public().(ed25519.PublicKey)
	text, err := nkeys.Encode(nkeys.PrefixByteUser, public)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	blank := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}
	certificate, err := x509.CreateCertificate(rand.Reader, blank, blank, public, private)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return &Identity{key: Key{Sign: string(text)}, private: private, config: &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: private}},
		NextProtos:   []string{protocol},
		ClientAuth:   tls.RequireAnyClientCert,
		// No authority vouches for keys: the caller that gets a connection compares the key with the paired ones.
		InsecureSkipVerify: true,
		// Each connection proves both keys again, with its own key exchange.
		SessionTicketsDisabled: true, DynamicRecordSizingDisabled: true,
	}}, nil
}

// Secure encrypts a connection with TLS 1.3, in which both ends prove their keys, and returns the key of the other end.
// The desk is the client, whichever end opened the connection. The error is [ErrProtocol] if the other end has another
// version. If ctx ends meanwhile, conn is closed.
func (i *Identity) Secure(ctx context.Context, conn net.Conn, isClient bool) (net.Conn, Key, error) {
	secured := tls.Server(conn, i.config)
	if isClient {
		secured = tls.Client(conn, i.config)
	}
	if err := secured.HandshakeContext(ctx); err != nil {
		if strings.Contains(err.Error(), "application protocol") { // crypto/tls has no type for its alerts
			return nil, Key{}, ErrProtocol
		}
		return nil, Key{}, fmt.Errorf("encrypt the connection: %w", err)
	}
	state := secured.ConnectionState()
	public, ok := state.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	if !ok || state.NegotiatedProtocol != protocol {
		return nil, Key{}, ErrProtocol
	}
	text, err := nkeys.Encode(nkeys.PrefixByteUser, public)
	return secured, Key{Sign: string(text)}, err
}

// Sign signs a file that this nod keeps for itself. purpose separates it from everything else that is signed with the
// key.
func (i *Identity) Sign(purpose string, text []byte) []byte {
	return ed25519.Sign(i.private, append([]byte(purpose+"\n"), text...))
}

// Verify reports whether [Identity.Sign] made the signature.
func (i *Identity) Verify(purpose string, text, signature []byte) bool {
	public := i.private.Public().(ed25519.PublicKey)
	return ed25519.Verify(public, append([]byte(purpose+"\n"), text...), signature)
}

// identityFile is the content of the file: a seed as written by nkeys.
type identityFile struct {
	Version int    `json:"version"`
	Sign    string `json:"sign"`
}

const (
	identityVersion = 2
	maxIdentity     = 4 << 10 // bytes of the file
)

// LoadIdentity reads the key at path, or creates it there, readable only by its owner. It fails for a damaged file,
// because keys are never replaced unasked.
func LoadIdentity(path string) (*Identity, error) {
	text, err := ownfile.ReadSecret(path, maxIdentity)
	if errors.Is(err, fs.ErrNotExist) {
		return createIdentity(path)
	}
	var file identityFile
	if err == nil {
		err = strict.Unmarshal(text, &file, strict.RejectUnknownMembers(true))
	}
	if err == nil && (file.Version != identityVersion) {
		err = fmt.Errorf("version %d: want %d", file.Version, identityVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key in %s: %w", path, err)
	}
	prefix, seed, err := nkeys.DecodeSeed([]byte(file.Sign))
	if err != nil || prefix != nkeys.PrefixByteUser {
		return nil, fmt.Errorf("read the key in %s: not a seed", path) // nkeys' own words might show it
	}
	return newIdentity(ed25519.NewKeyFromSeed(seed))
}

func createIdentity(path string) (*Identity, error) {
	i, err := NewIdentity()
	if err != nil {
		return nil, err
	}
	seed, err := nkeys.EncodeSeed(nkeys.PrefixByteUser, i.private.Seed())
	if err != nil {
		return nil, err
	}
	text, _ := json.Marshal(identityFile{Version: identityVersion, Sign: string(seed)}) // never fails for texts
	if err := ownfile.Write(path, append(text, '\n'), 0o600); err != nil {
		return nil, fmt.Errorf("keep the key: %w", err)
	}
	return i, nil
}

// Key returns the public key.
func (i *Identity) Key() Key { return i.key }

// keyLength is the length of a public key as nkeys writes it. nkeys ignores line breaks when it reads, so without this
// check one key could be spelled in many ways, each as long as its sender wants.
const keyLength = 56

// Check returns what is wrong with the public key of a machine or a desk.
func (k Key) Check() error {
	if len(k.Sign) != keyLength || !nkeys.IsValidPublicUserKey(k.Sign) {
		return errors.New("not the public key of a nod of this version: want one as nod relay prints it, or as the " +
			"settings show it")
	}
	return nil
}

// String returns the key as people copy it: one word that [ParseKey] reads.
func (k Key) String() string { return k.Sign }

// ParseKey reads what [Key.String] writes for a machine or a desk.
func ParseKey(text string) (Key, error) {
	k := Key{Sign: text}
	return k, k.Check()
}

// fingerprintWords is how many words a fingerprint has: enough that a second key with the same words cannot be made.
// Each word represents 11 bits.
const fingerprintWords = 6

// wordList is english.txt of https://github.com/bitcoin/bips, under the MIT license.
//
//go:embed words.txt
var wordList string

// Fingerprint returns the key as words of the English list of BIP 39, which people can compare. They represent the
// first 66 bits of the SHA-256 of its text.
func (k Key) Fingerprint() string {
	list, sum := strings.Fields(wordList), sha256.Sum256([]byte(k.String()))
	bits := fmt.Sprintf("%0*b", 8*len(sum), new(big.Int).SetBytes(sum[:]))
	var words []string
	for i := range fingerprintWords {
		word, _ := strconv.ParseUint(bits[11*i:11*(i+1)], 2, 11) // zeros and ones
		words = append(words, list[word])
	}
	return strings.Join(words, " ")
}
