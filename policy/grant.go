package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"nod/policy/shell"
)

const (
	quarterHour = 15 * time.Minute
	restAfter   = 30 * 24 * time.Hour // a grant for always that is not used that long is asked about again
	maxShown    = 200                 // characters of the input kept for the list of grants
)

// Program returns the verified executable that stands for the caller: the nearest one that is neither nod's
// own command nor a shell. Agents start their hooks through "sh -c", so the process that connects is rarely
// the agent itself; tying a grant to /bin/sh would hand it to everybody. Empty when nothing was verified.
func (c Call) Program() string {
	for _, program := range c.Programs {
		if program != "" && !IsGoBetween(program) {
			return program
		}
	}
	return ""
}

// IsGoBetween reports whether a program is one that only starts others: nod's own command, a shell, env.
func IsGoBetween(program string) bool {
	program = strings.TrimSuffix(program, " (deleted)") // Linux says so of one that was replaced while it runs
	name := strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	switch strings.TrimSuffix(name, ".exe") {
	case "nod", "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox", "env",
		"cmd", "powershell", "pwsh", "timeout", "nohup":
		return true
	}
	return false
}

// canonical writes an input so that two that mean the same are the same bytes: keys sorted, no space.
// Numbers stay as they were written.
func canonical(raw json.RawMessage) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("read input: %w", err)
	}
	return json.Marshal(value)
}

func inputSHA256(raw json.RawMessage) (string, error) {
	text, err := canonical(raw)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// newGrant makes the grant that allows exactly this call or, byPrefix, commands that start like it. It refuses
// what a grant could never allow.
func newGrant(c Call, scope Scope, byPrefix bool, p *Compiled, now time.Time) (Grant, error) {
	prefix, err := grantable(c, scope, byPrefix, p)
	if err != nil {
		return Grant{}, err
	}
	var sum string
	show := prefix + " …"
	if !byPrefix {
		show = shown(c.Input)
		if sum, err = inputSHA256(c.Input); err != nil {
			return Grant{}, err
		}
	}
	id, err := uuid.NewV7()
	if err != nil {
		return Grant{}, fmt.Errorf("name a grant: %w", err)
	}
	g := Grant{
		ID: id.String(), Scope: scope, Agent: c.Agent, Program: c.Program(), CWD: c.CWD, Tool: c.Tool,
		InputSHA256: sum, Prefix: prefix, Shown: show, Created: now,
	}
	switch scope {
	case ThisSession:
		g.Session = c.Session
	case QuarterHour:
		g.Expires = now.Add(quarterHour)
	}
	return g, nil
}

// grantable returns the words that a grant by prefix is bound to, or says why a call can only be allowed once.
func grantable(c Call, scope Scope, byPrefix bool, p *Compiled) (prefix string, err error) {
	switch {
	case scope == Once || !slices.Contains(Scopes, scope):
		return "", fmt.Errorf("keep a grant: %q is no scope to keep", scope)
	case scope == ThisSession && c.Session == "":
		return "", errors.New("keep a grant for this session: the agent named no session")
	}
	f := newFacts(&c, p, time.Time{})
	if id, reason := f.mustAsk(); id != "" {
		return "", fmt.Errorf("keep a grant: always asked about, because %s", reason)
	}
	if !byPrefix {
		return "", nil
	}
	words := shell.Program{Argv: f.simpleCommand(), Whole: true}.Prefix()
	if words == nil {
		return "", errors.New("keep a grant: nothing narrow enough begins like this command")
	}
	return strings.Join(words, " "), nil
}

// simpleCommand returns the words of the command when the call runs one program with literal words, in the
// folder that the agent works in, and nothing else; else nil.
func (f *facts) simpleCommand() []string {
	if !f.isSimpleRead {
		f.isSimpleRead = true
		if f.line != nil && f.tool.isPosix && f.input.problem == "" && f.input.folder == "" && f.input.onlyRuns() {
			f.simple, _ = shell.Simple(f.input.command)
		}
	}
	return f.simple
}

// shown is the beginning of an input on one line.
func shown(raw json.RawMessage) string {
	var line bytes.Buffer
	if json.Compact(&line, raw) != nil {
		return ""
	}
	text := []rune(line.String())
	if len(text) <= maxShown {
		return string(text)
	}
	return string(text[:maxShown-1]) + "…"
}

// text says what a grant of that scope allows, word for word: exactly this input, or the commands that start
// with prefix.
func (c Call) text(scope Scope, prefix, home string) string {
	who := "an agent without a name"
	if c.Agent != "" {
		who = plain(c.Agent)
	}
	if program := c.Program(); program != "" {
		who += " (" + plain(program) + ")"
	} else {
		who += " (program not verified)"
	}
	where := "any folder it does not name"
	if c.CWD != "" {
		where = plain(tilde(c.CWD, home))
	}
	what := fmt.Sprintf("to use %s with exactly this input", plain(c.Tool))
	if prefix != "" {
		what = fmt.Sprintf("to run with %s any command that starts with %q", plain(c.Tool), prefix)
	}
	return fmt.Sprintf("allow %s %s in %s, %s", who, what, where, scope.until())
}

// until says how long a scope lasts, for a sentence.
func (s Scope) until() string {
	switch s {
	case ThisSession:
		return "until this session ends or nod quits"
	case QuarterHour:
		return "for 15 minutes"
	case UntilQuit:
		return "until nod quits"
	}
	return "until you revoke it"
}

// plain quotes a name that a reader could take for more than a name.
func plain(name string) string {
	odd := func(r rune) bool { return Hidden(r) || strings.ContainsRune("\n\t\"()`, ", r) }
	if strings.IndexFunc(name, odd) >= 0 {
		return strconv.QuoteToGraphic(name)
	}
	return name
}

// tilde shortens a folder below the home folder.
func tilde(folder, home string) string {
	home = filepath.Clean(home)
	if rest, ok := strings.CutPrefix(folder, home); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		return "~" + rest
	}
	return folder
}

func (g *Grant) reason() string {
	what := "exactly this"
	if g.Prefix != "" {
		what = fmt.Sprintf("commands that start with %q", g.Prefix)
	}
	when := g.Created.Local().Format("2 January 2006, 15:04")
	switch g.Scope {
	case ThisSession:
		return fmt.Sprintf("you allowed %s for this session on %s", what, when)
	case QuarterHour:
		return fmt.Sprintf("you allowed %s for 15 minutes on %s", what, when)
	case UntilQuit:
		return fmt.Sprintf("you allowed %s until nod quits on %s", what, when)
	}
	return fmt.Sprintf("you always allow %s, since %s", what, when)
}

// Rests reports whether the grant was not used for so long that the person is asked again.
func (g Grant) Rests(now time.Time) bool {
	last := g.Created
	if g.LastUsed.After(last) {
		last = g.LastUsed
	}
	return g.Scope == Always && now.Round(0).Sub(last.Round(0)) > restAfter
}

// isOver reports whether the grant has run out. A clock that was set back does not bring it to life again,
// and neither does a suspended machine keep it: both the wall clock and the monotonic one must agree.
func (g *Grant) isOver(now time.Time) bool {
	if g.Expires.IsZero() {
		return false
	}
	return !now.Before(g.Expires) || !now.Round(0).Before(g.Expires.Round(0))
}

// A grantIndex finds the grants for a call.
type grantIndex map[grantKey][]Grant

type grantKey struct{ tool, agent, program, cwd string }

func newGrantIndex(grants []Grant) grantIndex {
	if len(grants) == 0 {
		return nil
	}
	ix := grantIndex{}
	for _, g := range grants {
		k := grantKey{g.Tool, g.Agent, g.Program, g.CWD}
		ix[k] = append(ix[k], g)
	}
	return ix
}

// find returns a grant that holds now for this call, or nil.
func (ix grantIndex) find(f *facts, now time.Time) *Grant {
	if ix == nil {
		return nil
	}
	c := f.call
	candidates := ix[grantKey{c.Tool, c.Agent, c.Program(), c.CWD}]
	if len(candidates) == 0 {
		return nil
	}
	sum := ""
	for i := range candidates {
		g := &candidates[i]
		if g.Session != sessionOf(g, c) || g.isOver(now) || g.Rests(now) {
			continue
		}
		if g.Prefix != "" {
			if startsWith(f.simpleCommand(), g.Prefix) {
				return g
			}
			continue
		}
		if sum == "" {
			var err error
			if sum, err = inputSHA256(c.Input); err != nil {
				return nil
			}
		}
		if g.InputSHA256 == sum {
			return g
		}
	}
	return nil
}

// startsWith reports whether a command's words start with those of a prefix.
func startsWith(words []string, prefix string) bool {
	first := strings.Split(prefix, " ")
	return len(words) >= len(first) && slices.Equal(words[:len(first)], first)
}

// sessionOf is the session that a grant asks for: the call's own, when the grant is tied to one.
func sessionOf(g *Grant, c *Call) string {
	if g.Scope == ThisSession {
		return c.Session
	}
	return ""
}
