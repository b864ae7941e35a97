// Package device is the HTTPS server at which the user's own devices, such as a phone, show what is pending and answer
// it. nod-desktop runs it only while an address for it is set; the agents' port and socket serve none of it.
//
// # The protocol
//
// The origin is https://ADDRESS:PORT, an IP address of this machine. The server has a certificate of its own, which the
// user compares by its SHA-256. There are no cookies and no other origins. A request is refused, with status 421, when
// its Host is another, and with 403 when Sec-Fetch-Site or Origin says that another page sends it.
//
// GET of / and of the other files of the page, those of package page, needs no key. The Content-Security-Policy permits
// no inline script and no inline style, and wants trusted types: the page may make one policy, named "nod", for the
// address of sw.js. GET /nod.crt returns a certificate that makes a phone trust the server's: see [authority].
//
// All else is JSON, with Content-Type: application/json. What fails has a status of 400 or more and a [failure].
// Base64url is without padding; times are milliseconds.
//
// A device's key is ECDSA on P-256, made in the browser as one that cannot be exported. Its public half, as WebCrypto
// exports it "raw" (65 bytes) in base64url, is its name here: KEY. Each request but GET /nonce carries
//
//	Authorization: Nod key=KEY, nonce=NONCE, sig=SIGNATURE
//
// where SIGNATURE is in base64url what WebCrypto's sign gives (ECDSA with SHA-256, 64 bytes) for this text in UTF-8,
// five lines parted by "\n", none after the last:
//
//	nod-device-1
//	METHOD HOST
//	PATH                    with the query, as in /prompts?after=abc
//	DIGEST                  of the body, hex SHA-256; of nothing when there is none
//	NONCE
//
// A nonce counts once, for two minutes. GET /nonce returns {"nonce":NONCE}, and each reply to a signed request has one
// in the header Nod-Nonce: the next request needs no trip of its own.
//
// POST /pair takes a [pairing], signed with the key that it is about, and returns [paired]. The secret is that of an
// invitation, which the user's camera reads as https://ADDRESS:PORT/#pair=SECRET&fp=SHA256. It counts for five minutes
// and for the first device that shows it. That device is paired once the user has compared the words at the desk with
// those in the reply: until then, ask again. 403 with the code "invitation": it does not count, whatever the reason.
//
// GET /prompts?after=CURSOR returns the [prompts] that are pending and not put off, oldest first. With the cursor of
// the last reply it waits for something else to say, 25 seconds at most; without one it returns at once. 401 with the
// code "unpaired": the user has revoked the device, also in the midst of waiting.
//
// GET /prompts/ID returns the text of the [View] of one, which the desk makes: see pageView in package asking. Its
// digest is the hex SHA-256 of the bytes of this very reply. Fetch it anew when the revision in [prompts] is another.
//
// POST /answer takes an [answer] and returns 204 once the journal has it. Codes: "gone" (410) when the prompt is not
// pending any more, "changed" (409) when digest or revision are not those of the view as it is now, so look again;
// "early" (425) before the view has been here for its arm_ms, or when the page has not had its end in view; "forbidden"
// (403) when the device may not answer this; "invalid" (422) when it is no answer to what is asked, with the id of the
// question in a form.
//
// POST /push takes a [Subscription], or {} for none, and returns 204. "forbidden" when nothing is pushed, or that
// service is not known.
//
// "nonce" (401) means: fetch a nonce, sign again; "busy" (429, with Retry-After) means: later.
package device

import (
	"time"

	"nod/api"
	"nod/interact"
	"nod/ipc/remote"
)

// About describes the nod-desktop that asks.
type About struct {
	Name     string `json:"name"` // of the machine
	Version  string `json:"version"`
	Language string `json:"language"` // of what nod says, as in "en" or "zh-CN"
}

// Headline is a prompt in the list of pending prompts.
type Headline struct {
	ID       interact.ID `json:"id"`
	Revision string      `json:"revision"` // is another when the view is
	Kind     api.Kind    `json:"kind"`
	Agent    string      `json:"agent"`   // who asks, spelled out
	Summary  string      `json:"summary"` // what about, spelled out
	AgeMS    int64       `json:"age_ms"`
	LeftMS   int64       `json:"left_ms"` // until the caller stops waiting
}

// View is a prompt as a page shows it, and what the server must know about it to accept an answer.
type View struct {
	Text []byte // the reply to GET /prompts/ID

	Revision    string
	Kind        api.Kind
	ArmAfter    time.Duration // how long a device must show it before it can allow
	Suggestions []int         // of the buttons that say yes; none when the device may not
	Refuses     bool          // there is a button that says no
	Limit       string        // what the device may not do, and why
	Facts       []string      // what nod worked out, in words
}

// Subscription is a PushSubscription as returned by its toJSON.
type Subscription struct {
	Endpoint string `json:"endpoint,omitempty"`
	Keys     struct {
		P256DH string `json:"p256dh"`
		Auth   string `json:"auth"`
	} `json:"keys,omitzero"`
}

// pairing is a device's request to be paired.
type pairing struct {
	Secret string `json:"secret"`          // of the invitation
	Key    string `json:"key"`             // as in Authorization
	Waits  bool   `json:"waits,omitempty"` // for what the user decides, 25 seconds at most; else for nothing
}

// paired is the state of a pairing.
type paired struct {
	Words  string `json:"words"`            // of the device's key, to compare with those at the desk
	Device *self  `json:"device,omitempty"` // once they have
}

// self is the user's name for a device, and what it may do.
type self struct {
	Name string     `json:"name"`
	May  remote.May `json:"may"`
}

// prompts is what is pending.
type prompts struct {
	Cursor  string     `json:"cursor"`
	Desk    About      `json:"desk"`
	Device  self       `json:"device"`
	Push    string     `json:"push,omitempty"` // the key of applicationServerKey, in base64url; empty: no Web Push
	Prompts []Headline `json:"prompts"`
}

// answer is what the user did with a prompt.
type answer struct {
	ID       interact.ID `json:"id"`
	Revision string      `json:"revision"` // of the view
	Digest   string      `json:"digest"`   // hex SHA-256 of the bytes of the view
	Seen     bool        `json:"seen"`     // the end of what must be read has been in view

	// Outcome is allowed or denied for an approval, else answered or dismissed (decline to answer). No other counts.
	Outcome    api.Outcome          `json:"outcome"`
	Reason     string               `json:"reason,omitempty"`     // with denied
	Suggestion int                  `json:"suggestion,omitempty"` // with allowed: of the button
	Text       string               `json:"text,omitempty"`       // to a question
	Confirmed  bool                 `json:"confirmed,omitempty"`  // to a confirmation: the yes, else the no
	Values     map[string]api.Value `json:"values,omitempty"`     // of a form: a list for a choice, else a text
}

// failure says why a request failed.
type failure struct {
	Code     string `json:"code"`
	Message  string `json:"message"` // for the user: the key of a sentence of the page, or one in the desk's language
	Question string `json:"question,omitempty"`
	WaitMS   int64  `json:"wait_ms,omitempty"` // with "early": after how long it will do
}
