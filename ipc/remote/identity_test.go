package remote

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

func TestSealedIsOpenedByItsReceiverAlone(t *testing.T) {
	machine, desk, other := newIdentityOf(t), newIdentityOf(t), newIdentityOf(t)
	sent := Answer{ID: "7", Digest: "ab", Answer: interact.Answer{Outcome: interact.Denied, Reason: "no"}}
	message, err := desk.Seal(machine.Key(), KindAnswer, sent)
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range [][]Key{nil, {desk.Key()}, {other.Key(), desk.Key()}} {
		e, err := machine.Open(message, from...)
		if err != nil {
			t.Fatal(err)
		}
		var got Answer
		if err := e.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if e.From != desk.Key() || e.Kind != KindAnswer || got.ID != "7" || got.Answer.Reason != "no" || e.ID == "" {
			t.Errorf("opened %+v with %+v", e, got)
		}
	}
	if strings.Contains(string(message), "denied") {
		t.Error("what is sealed can be read")
	}
	if _, err := other.Open(message); !errors.Is(err, ErrForged) {
		t.Errorf("another receiver: %v", err)
	}
	if _, err := machine.Open(message, other.Key()); !errors.Is(err, ErrForged) {
		t.Errorf("another sender: %v", err)
	}
}

// Whoever changes what was signed, or seals what another has signed, is found out.
func TestForgedIsRefused(t *testing.T) {
	machine, desk, mallory := newIdentityOf(t), newIdentityOf(t), newIdentityOf(t)
	real := letter{
		From: desk.Key(), To: machine.Key().Sign, ID: "1", Kind: KindPolicy, Sent: time.Now(), Body: []byte("{}"),
	}
	send := func(by *Identity, l letter, change func(*signed)) []byte {
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := by.sign.Sign(append([]byte(signContext), text...))
		if err != nil {
			t.Fatal(err)
		}
		in := signed{text, signature}
		change(&in)
		inner, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		box, err := by.seal.Seal(inner, machine.Key().Seal)
		if err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(sealed{by.key.Seal, box})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	as := func(change func(*letter)) letter {
		l := real
		change(&l)
		return l
	}
	asIs := func(*signed) {}
	if _, err := machine.Open(send(desk, real, asIs), desk.Key()); err != nil {
		t.Fatalf("the real one: %v", err)
	}
	tests := map[string][]byte{
		"another signs":         send(mallory, real, asIs),
		"another's sealing key": send(mallory, as(func(l *letter) { l.From.Seal = mallory.key.Seal }), asIs),
		"for another":           send(desk, as(func(l *letter) { l.To = mallory.key.Sign }), asIs),
		"changed": send(desk, real, func(s *signed) {
			s.Letter = []byte(strings.Replace(string(s.Letter), "{}", "[]", 1))
		}),
		"unsigned": send(desk, real, func(s *signed) { s.Signature = nil }),
		"signed without context": send(desk, real, func(s *signed) {
			s.Signature, _ = desk.sign.Sign(s.Letter)
		}),
		"twice": []byte(`{"from":"a","from":"b","box":""}`), "more": []byte(`{"from":"a","box":"","x":1}`),
		"empty": nil, "no JSON": []byte("nod"),
	}
	for name, message := range tests {
		if e, err := machine.Open(message, desk.Key()); !errors.Is(err, ErrForged) {
			t.Errorf("%s: %+v, %v", name, e, err)
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
		"empty": "", "another version": strings.Replace(string(good), ":1,", ":2,", 1),
		"more": strings.Replace(string(good), "{", `{"x":1,`, 1), "no seed": `{"version":1,"sign":"` + seed + `","seal":"x"}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadIdentity(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
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
		"", k.Sign, k.Seal + "." + k.Sign, k.Sign + "." + k.Seal + " ",
		k.Sign + "\n." + k.Seal, k.Sign + "." + k.Seal[:9] + strings.Repeat("\r\n", 1000) + k.Seal[9:],
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

func TestDigestIsOfWhatIsAsked(t *testing.T) {
	r := Request{Request: interact.Request{
		ID: "1", Created: time.Now(), Body: interact.Approve{Tool: "Bash", Input: []byte(`{"command":"make"}`)},
		Reported: &interact.Reported{Why: policy.Decision{Effect: policy.Ask}},
	}}
	digest := func(change func(*interact.Request)) string {
		other := r
		reported := *r.Request.Reported
		other.Request.Reported = &reported
		change(&other.Request)
		d, err := other.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
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
	sent := Request{Request: interact.Request{
		ID: "1", Body: interact.Approve{Tool: "Bash", Input: []byte("{\"command\" : \"make <all> \u2028 \xff\"}")},
		Requester: interact.Requester{
			Agent: "a", CWD: "/\xff", Process: interact.Process{PID: 7, Exe: "/bin/\xc3(", Parents: []interact.Parent{{PID: 1}}},
		},
		Reported: &interact.Reported{Files: []interact.ReportedFile{{Path: "\xff", Text: "\xff <>&"}}},
	}}
	text, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	var came Request
	if err := json.Unmarshal(text, &came); err != nil {
		t.Fatal(err)
	}
	here, err := sent.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if there, err := came.Digest(); err != nil || there != here {
		t.Errorf("%s here, %s there, %v", here, there, err)
	}
}

func FuzzOpen(f *testing.F) {
	machine, desk := newIdentityOf(f), newIdentityOf(f)
	message, err := desk.Seal(machine.Key(), KindForget, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(message)
	f.Add([]byte(`{"from":"","box":""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := machine.Open(text, desk.Key())
		if err == nil && (e.Kind != KindForget || e.From != desk.Key()) {
			t.Errorf("opened %+v", e)
		}
		if err != nil && !errors.Is(err, ErrForged) {
			t.Errorf("error %v", err)
		}
	})
}
