package remote

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	strict "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

func newIdentityOf(t testing.TB) *Identity {
	t.Helper()
	i, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// connection is both ends of a connection between two keys, as [Identity.Secure] makes them.
func connection(t *testing.T, desk, relay *Identity) (ends [2]net.Conn, keys [2]Key) {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { near.Close(); far.Close() })
	other := make(chan error, 1)
	go func() {
		var err error
		ends[1], keys[1], err = relay.Secure(t.Context(), far, false)
		other <- err
	}()
	var err error
	ends[0], keys[0], err = desk.Secure(t.Context(), near, true)
	if err := errors.Join(err, <-other); err != nil {
		t.Fatal(err)
	}
	return ends, keys
}

func TestEachEndLearnsTheKeyOfTheOther(t *testing.T) {
	desk, relay := newIdentityOf(t), newIdentityOf(t)
	ends, keys := connection(t, desk, relay)
	if keys != [2]Key{relay.Key(), desk.Key()} {
		t.Errorf("%v", keys)
	}
	go func() { _, _ = ends[0].Write([]byte("hello")) }()
	text := make([]byte, 5)
	if _, err := io.ReadFull(ends[1], text); err != nil || string(text) != "hello" {
		t.Errorf("%q, %v", text, err)
	}
}

// Nobody takes the place of a key that they do not have: a certificate alone is worth nothing.
func TestAStolenCertificateProvesNothing(t *testing.T) {
	desk, relay, thief := newIdentityOf(t), newIdentityOf(t), newIdentityOf(t)
	stolen := thief.config.Clone()
	stolen.Certificates[0].Certificate = relay.config.Certificates[0].Certificate
	near, far := net.Pipe()
	t.Cleanup(func() { near.Close(); far.Close() })
	go func() { _ = tls.Server(far, stolen).HandshakeContext(t.Context()); far.Close() }()
	if _, key, err := desk.Secure(t.Context(), near, true); err == nil {
		t.Errorf("it passes for %v", key)
	}
}

func TestSignatures(t *testing.T) {
	own, other := newIdentityOf(t), newIdentityOf(t)
	signature := own.Sign("a list", []byte("text"))
	for name, tt := range map[string]struct {
		by            *Identity
		purpose, text string
		want          bool
	}{
		"as signed":       {own, "a list", "text", true},
		"another key":     {other, "a list", "text", false},
		"another purpose": {own, "another list", "text", false},
		"another text":    {own, "a list", "texts", false},
	} {
		if got := tt.by.Verify(tt.purpose, []byte(tt.text), signature); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestLoadIdentity(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nod", "relay.key")
	made, err := LoadIdentity(path)
	if err != nil {
		t.Fatal(err)
	}
	read, err := LoadIdentity(path)
	if err != nil || read.Key() != made.Key() {
		t.Fatalf("read %v, %v; made %v", read, err, made.Key())
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seed := made.key.Sign
	for name, text := range map[string]string{
		"empty": "", "another version": strings.Replace(string(good), ":2,", ":3,", 1),
		"more": strings.Replace(string(good), "{", `{"x":1,`, 1), "no seed": `{"version":2,"sign":"` + seed + `"}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadIdentity(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadIdentity(path); err == nil {
		t.Error("keys that others can read are taken")
	}
}

func TestKeysAndFingerprints(t *testing.T) {
	k := newIdentityOf(t).Key()
	if back, err := ParseKey(k.String()); err != nil || back != k {
		t.Errorf("%v, %v; want %v", back, err, k)
	}
	for _, text := range []string{
		"", k.Sign + ".XKEY", k.Sign + " ", k.Sign[:9] + strings.Repeat("\r\n", 1000) + k.Sign[9:],
	} {
		if _, err := ParseKey(text); err == nil {
			t.Errorf("%q is taken for a key", text)
		}
	}
	if words := strings.Fields(k.Fingerprint()); len(words) != fingerprintWords {
		t.Errorf("fingerprint %q", words)
	}
	// The SHA-256 of "abc" begins with ba7816bf8f01cfea41: the words 1491, 1541, 1407, 240, 231 and 1961 of the list.
	if got, want := (Key{Sign: "abc"}).Fingerprint(), "risk scheme quiz bulk brother vivid"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func sentOf(t *testing.T, r interact.Request) Request {
	t.Helper()
	sent, err := NewRequest(r)
	if err != nil {
		t.Fatal(err)
	}
	return sent
}

// read reads what came, as package session does.
func read(text []byte) (r Request, err error) {
	if err = strict.Unmarshal(text, &r, jsonv1.DefaultOptionsV1(), strict.RejectUnknownMembers(true)); err == nil {
		err = r.Read()
	}
	return r, err
}

func TestDigestIsOfWhatIsAsked(t *testing.T) {
	r := interact.Request{
		ID: "1", Created: time.Now(), Body: interact.Approve{Tool: "Bash", Input: []byte(`{"command":"make"}`)},
		Reported: &interact.Reported{Why: policy.Decision{Effect: policy.Ask}},
	}
	digest := func(change func(*interact.Request)) string {
		other := r
		reported := *r.Reported
		other.Reported = &reported
		change(&other)
		return sentOf(t, other).Digest()
	}
	same := digest(func(*interact.Request) {})
	if digest(func(r *interact.Request) { r.Created, r.Requester.Machine = time.Time{}, "build-1" }) != same {
		t.Error("the digest depends on when it came, or on what the desk calls the machine")
	}
	for name, change := range map[string]func(*interact.Request){
		"id":    func(r *interact.Request) { r.ID = "2" },
		"body":  func(r *interact.Request) { r.Body = interact.Approve{Tool: "Bash", Input: []byte(`{"command":"rm"}`)} },
		"facts": func(r *interact.Request) { r.Reported.Risks = []policy.Risk{{Text: "x"}} },
		"agent": func(r *interact.Request) { r.Requester.Agent = "codex" },
	} {
		if digest(change) == same {
			t.Errorf("%s does not count", name)
		}
	}
}

// Both ends have the same digest, whatever is in a request.
func TestDigestSurvivesTheWay(t *testing.T) {
	sent := sentOf(t, interact.Request{
		ID: "1", Body: interact.Approve{Tool: "Bash", Input: []byte("{\"command\" : \"make <all> \u2028 \xff\"}")},
		Requester: interact.Requester{
			Agent: "a", CWD: "/\xff", Process: api.Process{PID: 7, Exe: "/bin/\xc3(", Parents: []api.Parent{{PID: 1}}},
		},
		Reported: &interact.Reported{Files: []interact.ReportedFile{{Path: "\xff", Text: "\xff <>&"}}},
	})
	text, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	came, err := read(text)
	if here, there := sent.Digest(), came.Digest(); err != nil || there != here {
		t.Errorf("%s here, %s there, %v", here, there, err)
	}
}

// A relay that has restarted reads its requests from a file, and sends the same bytes as before.
func TestDigestSurvivesARestart(t *testing.T) {
	before := interact.Request{
		ID: "1", Body: interact.Approve{Tool: "Edit", Input: []byte("{}")},
		Reported: &interact.Reported{Files: []interact.ReportedFile{{Path: "a", Text: "caf\xe9"}}},
	}
	text, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	var after interact.Request
	if err := json.Unmarshal(text, &after); err != nil {
		t.Fatal(err)
	}
	if old, again := sentOf(t, before).Digest(), sentOf(t, after).Digest(); again != old {
		t.Errorf("%s, and after the restart %s", old, again)
	}
}

// A desk refuses a request with anything in it that it would not show.
func TestUnknownMembersAreRefused(t *testing.T) {
	text, err := json.Marshal(sentOf(t, interact.Request{
		ID: "1", Body: interact.Approve{Tool: "Bash", Input: []byte("{}")}, Reported: &interact.Reported{},
	}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read(text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, at := range []string{`{"request":{`, `"body":{`, `"requester":{`, `{`} {
		odd := strings.Replace(string(text), at, at+`"odd":1,`, 1)
		if odd == string(text) {
			t.Fatalf("no %s in %s", at, text)
		}
		if _, err := read([]byte(strings.Replace(odd, ",}", "}", 1))); err == nil {
			t.Errorf("%s is accepted", odd)
		}
	}
}
