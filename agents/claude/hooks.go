package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/mod/semver"

	"nod/api"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

// Payload is what nod reads of Claude Code's hook payloads (https://code.claude.com/docs/en/hooks), whose form other
// agents have adopted. Other fields are ignored.
type Payload struct {
	SessionID      string            `json:"session_id"`
	CWD            string            `json:"cwd"`
	AgentID        string            `json:"agent_id"` // of a subagent
	AgentType      string            `json:"agent_type"`
	PermissionMode string            `json:"permission_mode"`
	ToolName       string            `json:"tool_name"`
	ToolInput      json.RawMessage   `json:"tool_input"`
	ToolUseID      string            `json:"tool_use_id"`
	CommandName    string            `json:"command_name"` // of the skill whose text holds a command
	Suggestions    []json.RawMessage `json:"permission_suggestions"`

	Message          string `json:"message"`
	NotificationType string `json:"notification_type"`
	Reason           string `json:"reason"`

	MCPServer string          `json:"mcp_server_name"`
	Mode      string          `json:"mode"`
	URL       string          `json:"url"`
	Schema    json.RawMessage `json:"requested_schema"`
}

type questions struct {
	Questions []hooks.Question `json:"questions"`
}

const (
	askUserQuestion = "AskUserQuestion"
	exitPlanMode    = "ExitPlanMode"
)

// Step returns what a call of Claude Code's hooks means.
func (p Payload) Step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{
		Session: p.SessionID, CWD: p.CWD, Subagent: interact.Subagent{ID: p.AgentID, Type: p.AgentType}, Call: p.Call,
		Silence: p.silence(c),
	}
	switch c.Event {
	case "PermissionRequest":
		s.Again = true
		return p.permissionRequest(s, c)
	case "PreToolUse":
		return p.preToolUse(s, c)
	case "PreSkillShellCommand":
		return p.skillCommand(s), nil
	case "PostToolUse", "PostToolUseFailure":
		s.Over, s.Run, s.Ran = p.SameCall, p.ToolUseID, p.Approve()
	case "PermissionDenied":
		return p.appeal(s), nil
	case "Stop":
		s.Finished()
		s.Over = p.sameThread
	case "UserPromptSubmit", "SubagentStop":
		s.Over = p.sameThread
	case "SessionEnd":
		s.Over = hooks.Everything
	case "Notification":
		p.notification(&s)
	case "Elicitation":
		return p.elicitation(s)
	}
	return s, nil
}

// silence returns what Claude Code does without a decision when it is about to ask.
func (p Payload) silence(c hooks.Call) api.Silence {
	if c.Headless || p.PermissionMode == "dontAsk" {
		return api.TakesNo
	}
	return api.AsksInTerminal
}

// permissionRequest comes when Claude Code asks in the terminal. The first answer to either prompt counts.
func (p Payload) permissionRequest(s hooks.Step, c hooks.Call) (hooks.Step, error) {
	if p.ToolName == askUserQuestion {
		return p.question(s, permission)
	}
	a := p.Approve()
	if p.ToolName == exitPlanMode {
		p.Suggestions = append(slices.Clip(p.Suggestions), askForEdits, letEditsPass)
	}
	for _, raw := range p.Suggestions {
		a.Suggestions = append(a.Suggestions, suggestion(raw))
	}
	s.Ask, s.Otherwise = a, p.mayAsk(c.Nod)
	p.contain(&s, c)
	s.Reply = func(a interact.Answer) (any, error) {
		if a.Outcome != api.Allowed {
			return nil, nil
		}
		d := Decision{Behavior: "allow"}
		if a.Suggestion > 0 {
			d.UpdatedPermissions = []json.RawMessage{p.Suggestions[a.Suggestion-1]}
		}
		if p.ToolName == exitPlanMode {
			d.UpdatedInput = p.ToolInput
		}
		return permission(d), nil
	}
	return s, nil
}

// appeal comes when the classifier of the mode auto has refused a call or could not be reached, which the reason says.
// Claude Code waits for the reply. After a refusal, "retry" tells the model that it may try the same call again.
func (p Payload) appeal(s hooks.Step) hooks.Step {
	s.Over = p.SameCall
	if p.PermissionMode != "auto" || p.ToolName == "" {
		return s
	}
	call := p.Approve()
	call.Refused, call.Description = true, hooks.Cut(p.Reason, interact.MaxText)
	s.Ask, s.Appeals, s.Silence = call, true, api.TakesNo
	s.Futile = func() string {
		if changesProtected(p.policyCall()) {
			return refusedByClassifier
		}
		return ""
	}
	s.Reply = func(a interact.Answer) (any, error) {
		if a.Outcome != api.Allowed || a.By != api.ByHuman {
			return nil, nil
		}
		return output{struct {
			Event string `json:"hookEventName"`
			Retry bool   `json:"retry"`
		}{"PermissionDenied", true}}, nil
	}
	return s
}

// The modes in which Claude Code can carry out a plan. It suggests none itself, but takes them as it takes its
// suggestions; without one it goes back to the mode that it was in before it planned.
var (
	askForEdits  = json.RawMessage(`{"type":"setMode","mode":"default","destination":"session"}`)
	letEditsPass = json.RawMessage(`{"type":"setMode","mode":"acceptEdits","destination":"session"}`)
)

// preToolUse comes before any prompt, and alone if there is none. The user is asked here only if no PermissionRequest
// follows, or if one would not help: see [askingModes].
func (p Payload) preToolUse(s hooks.Step, c hooks.Call) (hooks.Step, error) {
	switch {
	case p.ToolName == askUserQuestion && p.PermissionMode == "dontAsk":
		return p.question(s, preTool)
	case p.ToolName == askUserQuestion:
		return s, nil // PermissionRequest follows, with the same question
	case p.ToolName == exitPlanMode:
		return s, nil
	}
	s.Ask, s.Otherwise, s.Run = p.Approve(), p.mayAsk(c.Nod), p.ToolUseID
	p.contain(&s, c)
	quiet, unasked := p.isQuiet(c.Version), !slices.Contains(askingModes, p.PermissionMode)
	s.Quiet = quiet || unasked
	if !c.Headless || quiet || followsHeadless(c.Version) {
		s.Judge = []policy.Effect{policy.Allow, policy.Deny}
	}
	if p.followsAlways(c.Version) {
		s.Judge = []policy.Effect{policy.Deny}
	}
	s.AskNow, s.Silence = true, api.TakesNo
	s.Futile = sync.OnceValue(func() string { return p.futile(c) })
	asksLater := p.judgesProtected(c.Version) && changesProtected(p.policyCall())
	if asksLater {
		s.Judge = []policy.Effect{policy.Deny}
	}
	if asksLater || !c.Headless && !unasked {
		s.Insist = func(reason string) any { return PreTool("ask", reason) }
	}
	s.Reply = func(a interact.Answer) (any, error) {
		if a.Outcome == api.Allowed {
			return PreTool("allow", a.Reason), nil
		}
		return nil, nil
	}
	return s, nil
}

// skillCommand comes before a command in the text of a skill, which runs when the skill is loaded. It comes only for
// what the mode, Claude Code's own rules or the skill's allowed-tools let pass, and no other event comes for that.
// Claude Code obeys a refusal and nothing else.
func (p Payload) skillCommand(s hooks.Step) hooks.Step {
	call := p.Approve()
	call.Description = hooks.Cut("In the text of the skill "+p.CommandName, interact.MaxText)
	s.Ask, s.AskNow, s.Silence, s.Call = call, true, api.TakesNo, nil
	if s.Quiet = p.PermissionMode == "dontAsk" || !slices.Contains(askingModes, p.PermissionMode); s.Quiet {
		s.Judge = []policy.Effect{policy.Allow, policy.Deny}
	}
	s.Reply = func(interact.Answer) (any, error) { return nil, nil }
	return s
}

func (p Payload) contain(s *hooks.Step, c hooks.Call) {
	var input struct {
		Command string `json:"command"`
	}
	if !c.Shell || p.ToolName != "Bash" || json.Unmarshal(p.ToolInput, &input) != nil ||
		rewritten.MatchString(input.Command) {
		return
	}
	s.Command = input.Command
	if semver.Compare("v"+c.Version, "v"+tested[0]) < 0 || semver.Compare("v"+c.Version, "v"+tested[len(tested)-1]) > 0 {
		s.Release = cmp.Or(c.Version, "?")
	}
}

// rewritten matches commands that Claude Code may change: it replaces the NUL that models write for Windows by
// /dev/null. nod would not recognize the changed command, and so could not say that it runs in the sandbox.
var rewritten = regexp.MustCompile(`(?i)>[ \t]*nul([^\w./-]|$)`)

// What Claude Code does with a reply to PreToolUse, measured with 2.1.197 and 2.1.330:
//
//   - "ask" makes it ask, and PermissionRequest follows, in every mode; but in bypassPermissions, and in auto before
//     2.1.330, it writes to .git, .claude, .bashrc and the like anyway. There nod asks before it answers. What
//     becomes of an allow for those is said with [changesProtected].
//   - Headless, "ask" is "deny". PermissionRequest follows silence, for exactly the calls that need leave, in 2.1.330;
//     before, nothing follows, and silence is "deny" for those.
//   - A plan is quiet in 2.1.330: what its classifier passes runs.

// askingModes are the modes in which Claude Code obeys "ask". In any other nod asks before it answers: an unknown mode
// may be like bypassPermissions.
var askingModes = []string{"", "default", "plan", "acceptEdits", "dontAsk"}

// followsAlways reports whether PermissionRequest follows for everything that Claude Code does not allow by itself. It
// carries the call as other hooks have changed it, so nod allows there; here an allow would apply to whatever they make
// of the call.
func (p Payload) followsAlways(version string) bool {
	return followsHeadless(version) && slices.Contains([]string{"default", "plan", "acceptEdits"}, p.PermissionMode)
}

func followsHeadless(version string) bool { return semver.Compare("v"+version, "v2.1.330") >= 0 }

// isQuiet reports whether the mode may let the call pass although the user would be asked about it in another mode.
func (p Payload) isQuiet(version string) bool {
	switch p.PermissionMode {
	case "auto", "bypassPermissions", "dontAsk":
		return true
	case "plan":
		return followsHeadless(version)
	case "acceptEdits":
		return followsHeadless(version) || slices.Contains(editTools, p.ToolName)
	}
	return false
}

// question answers AskUserQuestion. An allow without answers would mean that the user has no answer.
func (p Payload) question(s hooks.Step, reply func(Decision) any) (hooks.Step, error) {
	var in questions
	if err := json.Unmarshal(p.ToolInput, &in); err != nil {
		return hooks.Step{}, err
	}
	if !areDistinct(in.Questions) {
		return s, nil
	}
	return s.Asks(in.Questions, func(picks [][]string) (any, error) {
		answers := map[string]string{}
		for i, pick := range picks {
			answers[in.Questions[i].Question] = strings.Join(pick, ", ")
		}
		input, err := with(p.ToolInput, "answers", answers)
		return reply(Decision{Behavior: "allow", UpdatedInput: input}), err
	})
}

// AsksByDenial makes the step ask the questions in the call's input, for an agent whose hooks can return answers only
// as the reason of a denial. Without answers, the question goes to the terminal.
func (p Payload) AsksByDenial(s hooks.Step, deny func(reason string) any) (hooks.Step, error) {
	var in questions
	if err := json.Unmarshal(p.ToolInput, &in); err != nil {
		return hooks.Step{}, err
	}
	return s.Asks(in.Questions, func(picks [][]string) (any, error) {
		return deny(answered(in.Questions, picks)), nil
	})
}

// answered returns a reason of a denial that tells the model the answers, if there is no other way to return them.
func answered(questions []hooks.Question, picks [][]string) string {
	lines := []string{hooks.NoRefusal}
	for i, pick := range picks {
		lines = append(lines, fmt.Sprintf("%s: %s", questions[i].Question, strings.Join(pick, ", ")))
	}
	return strings.Join(lines, "\n")
}

// areDistinct reports whether the questions' texts differ, so that answers can be told apart.
func areDistinct(questions []hooks.Question) bool {
	texts := map[string]bool{}
	for _, q := range questions {
		texts[q.Question] = true
	}
	return len(texts) == len(questions)
}

// Approve returns the request that asks about the call.
func (p Payload) Approve() interact.Approve {
	var in struct {
		Description string `json:"description"`
	}
	_ = json.Unmarshal(p.ToolInput, &in) // a tool whose description is no text has none
	return interact.Approve{
		Tool: p.ToolName, Input: p.ToolInput, Description: hooks.Cut(in.Description, interact.MaxText),
		ToolUseID: p.ToolUseID,
	}
}

// SameCall reports whether a request asks about this call, by tool and input: PermissionRequest has no id.
func (p Payload) SameCall(r interact.Request) bool {
	if !p.sameThread(r) {
		return false
	}
	switch b := r.Body.(type) {
	case interact.Approve:
		call := p.Call()
		return call != "" && Payload{ToolName: b.Tool, ToolInput: b.Input}.Call() == call
	case api.Form:
		if p.ToolName != askUserQuestion {
			return false
		}
		var in questions
		isSame := func(q hooks.Question, shown api.Question) bool { return q.Question == shown.Question }
		return json.Unmarshal(p.ToolInput, &in) == nil && slices.EqualFunc(in.Questions, b.Questions, isSame)
	}
	return false
}

// sameThread reports whether a request is from the same subagent, or from the main thread: these continue while others
// wait.
func (p Payload) sameThread(r interact.Request) bool { return r.Requester.Subagent.ID == p.AgentID }

// Call returns the same text for two deliveries of one call. The second delivery of a question may contain the answers,
// too.
func (p Payload) Call() string {
	input := jsontext.Value(bytes.Clone(p.ToolInput))
	var in struct{ Questions jsontext.Value }
	if p.ToolName == askUserQuestion && json.Unmarshal(input, &in) == nil {
		input = in.Questions
	}
	if p.ToolName == "" || input.Canonicalize(jsontext.CanonicalizeRawInts(false)) != nil {
		return ""
	}
	return p.ToolName + " " + string(input)
}

func (p Payload) notification(s *hooks.Step) {
	switch p.NotificationType {
	case "permission_prompt", "elicitation_dialog", "elicitation_url_dialog":
		return // nod's own window says so already
	case "auth_success", "elicitation_complete", "elicitation_response":
		return // nothing to do
	}
	s.Notify(p.NotificationType, p.Message)
}

func suggestion(raw json.RawMessage) string {
	var s struct {
		Type  string `json:"type"`
		Rules []struct {
			Tool    string `json:"toolName"`
			Content string `json:"ruleContent"`
		} `json:"rules"`
		Behavior    string   `json:"behavior"`
		Mode        string   `json:"mode"`
		Directories []string `json:"directories"`
		Destination string   `json:"destination"`
	}
	var exact bytes.Buffer
	if json.Unmarshal(raw, &s) != nil || json.Compact(&exact, raw) != nil {
		return string(raw)
	}
	where := map[string]string{
		"session": "this session", "localSettings": "this project, for you",
		"projectSettings": "this project, for everybody", "userSettings": "all projects",
	}[s.Destination]
	if where == "" {
		return exact.String()
	}
	switch {
	case s.Type == "addRules" && s.Behavior == "allow":
		var rules []string
		for _, r := range s.Rules {
			if r.Content == "" {
				rules = append(rules, r.Tool)
				continue
			}
			rules = append(rules, r.Tool+"("+r.Content+")")
		}
		return "allow " + strings.Join(rules, " and ") + " · " + where
	case s.Type == "setMode":
		return "switch to mode " + s.Mode + " · " + where
	case s.Type == "addDirectories":
		return "work in " + strings.Join(s.Directories, " and ") + ", too · " + where
	}
	return exact.String() // unknown: shown as it is
}

// Decision is a decision in the one form from which both of Claude Code's replies are made.
type Decision struct {
	Behavior           string            `json:"behavior"`
	Message            string            `json:"message,omitempty"`
	UpdatedInput       json.RawMessage   `json:"updatedInput,omitempty"`
	UpdatedPermissions []json.RawMessage `json:"updatedPermissions,omitempty"`
}

// Permits is the reply to PermissionRequest for an allow; there is none for any other answer.
var Permits = hooks.Allows(permission(Decision{Behavior: "allow"}))

type output struct {
	Specific any `json:"hookSpecificOutput"`
}

func permission(d Decision) any {
	return output{struct {
		Event    string   `json:"hookEventName"`
		Decision Decision `json:"decision"`
	}{"PermissionRequest", d}}
}

// PreTool returns the reply to PreToolUse: allow, ask or deny, and why.
func PreTool(behavior, reason string) any {
	return preTool(Decision{Behavior: behavior, Message: reason})
}

func preTool(d Decision) any { return before("PreToolUse", d) }

func before(event string, d Decision) any {
	return output{struct {
		Event        string          `json:"hookEventName"`
		Decision     string          `json:"permissionDecision"`
		Reason       string          `json:"permissionDecisionReason,omitempty"`
		UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
	}{event, d.Behavior, d.Message, d.UpdatedInput}}
}

func with(raw json.RawMessage, field string, value any) (json.RawMessage, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	object[field] = text
	return json.Marshal(object)
}

// Deny returns the reply with which a hook of Claude Code's form denies by itself.
func Deny(event, reason string) any {
	d := Decision{Behavior: "deny", Message: reason}
	switch event {
	case "PermissionRequest":
		return permission(d)
	case "PreToolUse", api.NoEvent: // another event ignores this
		return preTool(d)
	case "PreSkillShellCommand":
		return before(event, d)
	}
	return nil
}
