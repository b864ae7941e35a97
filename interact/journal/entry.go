package journal

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/interact/secrets"
	"nod/policy"
)

type digest [sha256.Size]byte

func (d digest) next(head []byte) digest {
	h := sha256.New()
	h.Write(d[:])
	h.Write(head)
	h.Sum(d[:0])
	return d
}

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// head is the part of an entry that is always kept. The chain covers its JSON.
type head struct {
	Record   interact.Record `json:"record"`         // without the body
	Gist     string          `json:"gist,omitempty"` // empty when inputs are not kept
	Body     string          `json:"body"`           // hex SHA-256 of the body
	Withheld string          `json:"held,omitempty"` // [history.Secret] or [history.NotKept]
}

func (h head) line() history.Line {
	r := h.Record
	line := history.Line{
		ID: r.Request.ID, Kind: r.Request.Body.Kind(), Created: micro(r.Request.Created), Settled: micro(r.Answer.At),
		Agent: r.Request.Requester.Agent, Session: r.Request.Requester.Session, Project: r.Request.Requester.Folder(),
		Class: r.Why.Class, Gist: h.Gist, Outcome: r.Answer.Outcome, By: r.Answer.By,
		Rule: cmp.Or(r.Answer.Rule, r.Why.Rule), Machine: r.Request.Requester.Machine, Device: r.Answer.Device,
		IsAgent: r.Request.Requester.IsAgent, Sandbox: r.Answer.Confinement != policy.Confinement{},
	}
	if line.Agent == "" {
		line.Program = r.Request.Requester.Program()
	}
	if a, ok := r.Request.Body.(interact.Approve); ok {
		line.Tool, line.Class = a.Tool, cmp.Or(line.Class, a.Class)
	}
	return line
}

func micro(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()) }

type encoded struct {
	line       history.Line
	head, body []byte // body is nil when inputs are not kept
}

type body struct {
	Said  json.RawMessage `json:"said"`            // a record of what agent and user said, without the input
	Input []byte          `json:"input,omitempty"` // of an approval, byte for byte
}

// encode converts a record to an entry. It redacts secrets, including those in known.
func encode(r interact.Record, keepInputs bool, known ...string) (encoded, error) {
	rest, said := split(r)
	h := head{Record: rest}
	b, err := newBody(said)
	if err != nil {
		return encoded{}, err
	}
	if found := append(secrets.Find(b.Said, known...), secrets.Find(b.Input, known...)...); len(found) > 0 {
		h.Withheld = history.Secret
		said, err = b.redact(secrets.Redactor(found))
		keepInputs = keepInputs && err == nil // what cannot be redacted is not kept
	}
	kept, err := json.Marshal(b)
	if err != nil {
		return encoded{}, err
	}
	h.Body = interact.Digest(kept)
	if keepInputs {
		h.Gist = gist(said.Request)
	} else {
		kept, h.Withheld = nil, history.NotKept
	}
	text, err := json.Marshal(&struct {
		Record any `json:"record"`
		*head
	}{h.Record.Plain(), &h})
	return encoded{line: h.line(), head: text, body: kept}, err
}

func newBody(said interact.Record) (*body, error) {
	var b body
	if a, ok := said.Request.Body.(interact.Approve); ok {
		b.Input, a.Input = a.Input, nil
		said.Request.Body = a
	}
	var err error
	b.Said, err = json.Marshal(said.Plain())
	return &b, err
}

func (b *body) redact(marks *strings.Replacer) (said interact.Record, err error) {
	if b.Said, err = secrets.Redact(b.Said, marks); err == nil && b.Input != nil {
		b.Input, err = secrets.Redact(b.Input, marks)
	}
	if err != nil {
		return interact.Record{}, err
	}
	return b.record()
}

func (b *body) record() (said interact.Record, err error) {
	err = json.Unmarshal(b.Said, &said)
	if a, ok := said.Request.Body.(interact.Approve); ok {
		a.Input = b.Input
		said.Request.Body = a
	}
	return said, err
}

func decode(text, kept []byte) (head, error) {
	var h head
	if err := json.Unmarshal(text, &h); err != nil {
		return head{}, fmt.Errorf("read head: %w", err)
	}
	if h.Record.Request.Body == nil {
		return head{}, errors.New("read head: it has no request")
	}
	if kept == nil {
		return h, nil
	}
	return h.with(kept)
}

func (h head) with(kept []byte) (head, error) {
	var b body
	if err := json.Unmarshal(kept, &b); err != nil {
		return head{}, fmt.Errorf("read body: %w", err)
	}
	said, err := b.record()
	if err != nil {
		return head{}, fmt.Errorf("read body: %w", err)
	}
	if said.Request.Body == nil || said.Request.Body.Kind() != h.Record.Request.Body.Kind() {
		return head{}, errors.New("read body: it is of another kind of request than the head")
	}
	h.Record = join(h.Record, said)
	return h, nil
}

func split(r interact.Record) (rest, said interact.Record) {
	rest = r
	said.Request.Body, rest.Request.Body = r.Request.Body, outline(r.Request.Body)
	said.Request.Reported, rest.Request.Reported = outlineOf(r.Request.Reported), nil
	said.Why.Reason, rest.Why.Reason = r.Why.Reason, ""
	said.Answer.Reason, rest.Answer.Reason = r.Answer.Reason, ""
	said.Answer.Text, rest.Answer.Text = r.Answer.Text, ""
	said.Answer.Values, rest.Answer.Values = r.Answer.Values, nil
	said.Answer.Shown.Facts, rest.Answer.Shown.Facts = r.Answer.Shown.Facts, nil
	said.Answer.Shown.Diff, rest.Answer.Shown.Diff = r.Answer.Shown.Diff, ""
	return rest, said
}

func join(r, said interact.Record) interact.Record {
	r.Request.Body, r.Request.Reported, r.Why.Reason = said.Request.Body, said.Request.Reported, said.Why.Reason
	r.Answer.Reason, r.Answer.Text, r.Answer.Values = said.Answer.Reason, said.Answer.Text, said.Answer.Values
	r.Answer.Shown.Facts, r.Answer.Shown.Diff = said.Answer.Shown.Facts, said.Answer.Shown.Diff
	return r
}

// outlineOf returns what an entry keeps of a relay's report. [interact.Shown] has what was shown of the files.
func outlineOf(r *interact.Reported) *interact.Reported {
	if r == nil {
		return nil
	}
	return &interact.Reported{Why: r.Why, Risks: r.Risks}
}

func outline(b interact.Body) interact.Body {
	switch b := b.(type) {
	case interact.Approve:
		return b.Bare()
	case api.Ask:
		return api.Ask{}
	case api.Confirm:
		return api.Confirm{}
	case api.Form:
		return api.Form{}
	case api.Notify:
		return api.Notify{}
	}
	return nil
}

const maxGist = 300

func gist(r interact.Request) string {
	text := strings.ToValidUTF8(r.Gist(), "\uFFFD")
	if len(text) <= maxGist {
		return text
	}
	return strings.ToValidUTF8(text[:maxGist], "") + "…"
}
