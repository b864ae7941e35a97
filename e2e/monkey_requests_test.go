//go:build linux

package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// monkeyRequest is a request of the monkey test's. All that can come back for it has its token in it.
type monkeyRequest struct {
	number  int
	token   string
	route   string
	body    map[string]any
	values  []string // what can be picked
	timeout time.Duration
}

// tokens are in what can be picked and in what is asked about, and nobody types them.
var tokens = regexp.MustCompile(`tok[0-9]{4}`)

// newMonkeyRequest makes a request from its number and the seed, and from nothing else: a replay makes the same one.
func newMonkeyRequest(seed uint64, number int) *monkeyRequest {
	random := rand.New(rand.NewPCG(seed, uint64(number)))
	r := &monkeyRequest{number: number, token: fmt.Sprintf("tok%04d", number)}
	kinds := []func(*monkeyRequest, *rand.Rand){
		(*monkeyRequest).ask, (*monkeyRequest).ask, (*monkeyRequest).text, (*monkeyRequest).confirm, (*monkeyRequest).form,
		(*monkeyRequest).command, (*monkeyRequest).command, (*monkeyRequest).edit, (*monkeyRequest).tool,
		(*monkeyRequest).notify,
	}
	kinds[random.IntN(len(kinds))](r, random)
	r.timeout = []time.Duration{1, 2, 5, 20, 60}[random.IntN(5)] * time.Second
	r.body["timeout"] = r.timeout.Seconds()
	r.body["agent"] = []string{"claude-code", "codex", "a-script"}[random.IntN(3)]
	// Sessions that recur, but not so often that nod takes the user for absent.
	r.body["session"] = fmt.Sprintf("session-%d", random.IntN(4)+number/8*4)
	return r
}

// prose is text of any length, with what is hard to draw.
func (r *monkeyRequest) prose(random *rand.Rand) string {
	words := []string{"which", "one", "**bold**", "`code`", "a\nline", "https://example.com/a?b=c", "数据库", "🙂",
		"p\u0430ypal",
		"\u202eback", "wide\u200bless", "- item\n", "# head\n", strings.Repeat("long", 30), "the", "service", "now"}
	text := "About " + r.token
	for range []int{3, 8, 40, 400}[random.IntN(4)] {
		text += " " + words[random.IntN(len(words))]
	}
	return text + "?"
}

// options are as many as fit, or so many that they are a list with a filter.
func (r *monkeyRequest) options(random *rand.Rand) []string {
	var all []string
	for i := range []int{1, 2, 4, 8, 9, 60}[random.IntN(6)] {
		all = append(all, fmt.Sprintf("%s-%d", r.token, i))
	}
	r.values = append(r.values, all...)
	return all
}

func (r *monkeyRequest) ask(random *rand.Rand) {
	r.route = "/v1/ask"
	r.body = map[string]any{"question": r.prose(random), "options": r.options(random)}
}

func (r *monkeyRequest) text(random *rand.Rand) {
	r.route = "/v1/ask"
	r.body = map[string]any{"question": r.prose(random), "placeholder": r.token, "multiline": random.IntN(2) == 0}
}

func (r *monkeyRequest) confirm(random *rand.Rand) {
	r.route = "/v1/confirm"
	r.body = map[string]any{"message": r.prose(random), "default": random.IntN(2) == 0}
}

func (r *monkeyRequest) form(random *rand.Rand) {
	r.route = "/v1/form"
	var questions []any
	for i := range []int{1, 2, 5, 12}[random.IntN(4)] {
		q := map[string]any{"id": fmt.Sprint("q", i), "question": r.prose(random), "required": random.IntN(2) == 0}
		if random.IntN(3) == 0 {
			q["input_type"], q["default"] = "text", r.token
		} else {
			var options []any
			for _, value := range r.options(random) {
				recommended := random.IntN(5) == 0
				options = append(options, map[string]any{"label": "Label " + value, "value": value, "recommended": recommended})
			}
			q["input_type"], q["options"], q["multi_select"] = "choice", options, random.IntN(2) == 0
		}
		questions = append(questions, q)
	}
	r.body = map[string]any{"title": "Set up " + r.token, "questions": questions}
}

func (r *monkeyRequest) approve(tool string, input map[string]any) {
	r.route = "/v1/approve"
	r.body = map[string]any{"tool": tool, "input": input, "description": "For " + r.token}
}

func (r *monkeyRequest) command(random *rand.Rand) {
	more := []string{" && rm -rf build", "\ncp a b", " | tail -3", "\ncurl https://example.com/x", " ; git push --force"}
	line := "make " + r.token
	for range []int{0, 2, 20, 200}[random.IntN(4)] {
		line += pick(random, more)
	}
	r.approve("Bash", map[string]any{"command": line})
}

func (r *monkeyRequest) edit(random *rand.Rand) {
	lines := strings.Repeat("a line of text\n", []int{1, 30, 300}[random.IntN(3)])
	path := "src/" + r.token + ".go"
	switch random.IntN(3) {
	case 0:
		r.approve("Edit", map[string]any{"file_path": path, "old_string": lines, "new_string": lines + r.token})
	case 1:
		r.approve("Write", map[string]any{"file_path": path, "content": r.token + "\n" + lines})
	default:
		edits := []any{
			map[string]any{"old_string": "a", "new_string": "b"},
			map[string]any{"old_string": lines, "new_string": r.token},
		}
		r.approve("MultiEdit", map[string]any{"file_path": path, "edits": edits})
	}
}

func (r *monkeyRequest) tool(random *rand.Rand) {
	switch random.IntN(3) {
	case 0:
		r.approve("WebFetch", map[string]any{"url": "https://example.com/" + r.token, "prompt": r.prose(random)})
	case 1:
		r.approve("ExitPlanMode", map[string]any{"plan": "# Plan " + r.token + "\n\n" + r.prose(random)})
	default:
		list := []any{1, 2, map[string]any{"deep": r.prose(random)}}
		r.approve("mcp__things__"+r.token, map[string]any{"list": list, "on": true})
	}
}

func (r *monkeyRequest) notify(random *rand.Rand) {
	r.route = "/v1/notify"
	r.body = map[string]any{"message": r.prose(random), "level": []string{"info", "warning", "error"}[random.IntN(3)]}
}

// monkeyReply is what any of the replies may hold.
type monkeyReply struct {
	Outcome     string
	Code        string
	Detail      string
	Answer      any
	Answers     map[string]any
	Confirmed   bool
	Defaulted   bool
	Decision    string
	By          string
	ShownSHA256 string `json:"shown_sha256"`
}

// check returns what is wrong with a reply, or "". affirmed says whether the user can have said yes to anything.
func (r *monkeyRequest) check(status int, text []byte, affirmed bool) string {
	var reply monkeyReply
	if err := json.Unmarshal(text, &reply); err != nil {
		return fmt.Sprintf("no JSON: %s", text)
	}
	for _, token := range tokens.FindAllString(string(text), -1) {
		if token != r.token {
			return fmt.Sprintf("%s got the answer to %s: %s", r.token, token, text)
		}
	}
	switch status {
	case http.StatusOK:
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return ""
	case http.StatusNotImplemented:
		if strings.Contains(reply.Detail, "away") || strings.Contains(reply.Detail, "paused") { // as the monkey had it
			return ""
		}
		fallthrough
	default:
		return fmt.Sprintf("%s got status %d: %s", r.token, status, text)
	}
	switch {
	case r.route == "/v1/approve" && reply.ShownSHA256 != "" && reply.ShownSHA256 != r.inputSHA256():
		return fmt.Sprintf("%s was shown another input: %s", r.token, text)
	case r.route == "/v1/approve" && reply.Decision == "allow" && !affirmed,
		r.route == "/v1/confirm" && reply.Confirmed && !reply.Defaulted && !affirmed:
		return fmt.Sprintf("nobody used the affirmative, but %s got %s", r.token, text)
	}
	return ""
}

func (r *monkeyRequest) inputSHA256() string {
	text, err := json.Marshal(r.body["input"])
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// wire is where nod can be asked, as its clients learn it.
type wire struct{ URL, Token string }

func (n *nod) wire() (w wire, err error) { return wireIn(n.Runtime()) }

// wireIn is that of the nod with this runtime folder.
func wireIn(runtime string) (w wire, err error) {
	text, err := os.ReadFile(filepath.Join(runtime, "nod", "endpoint.json"))
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	return w, err
}

// do makes one call and returns the status and the body of its reply.
func (w wire) do(ctx context.Context, method, route string, body any) (int, []byte, error) {
	var text bytes.Buffer
	if body != nil {
		encoder := json.NewEncoder(&text)
		if err := encoder.Encode(body); err != nil {
			return 0, nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, w.URL+route, &text)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+w.Token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	return resp.StatusCode, reply, err
}
