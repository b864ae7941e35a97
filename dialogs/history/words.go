package history

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"

	"nod/agents/registry"
	"nod/api"
	"nod/dialogs"
	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
	"nod/interact/history"
)

// Limits for texts of agents, in characters.
const (
	nameLimit = 40
	pathLimit = 60
	gistLimit = 160
	textLimit = 2000
)

// verdict describes an outcome in a word, in a sentence, and by a colour, which is never used alone.
type verdict struct {
	word, sentence string
	color          fyne.ThemeColorName
}

// A result is the word that the list shows for an entry and that the filter asks for: an outcome and, if that changes
// the word, who decided.
type result string

func resultOf(o api.Outcome, by api.By) result {
	return result(strings.TrimSuffix(string(o)+" "+string(by), " "))
}

func (r result) parts() (api.Outcome, api.By) {
	o, by, _ := strings.Cut(string(r), " ")
	return api.Outcome(o), api.By(by)
}

var shownResults = []result{
	resultOf(api.Allowed, api.ByHuman), resultOf(api.Allowed, api.ByPolicy), result(history.Sandboxed),
	resultOf(api.Denied, api.ByHuman), resultOf(api.Denied, api.ByPolicy),
	resultOf(api.Answered, api.ByHuman), resultOf(api.Answered, api.ByTimeout),
	result(api.Dismissed), result(api.TimedOut), result(api.Unavailable), result(api.Cancelled),
	result(api.Withdrawn),
}

func (r result) name() string {
	if r == result(api.Denied) { // from a link
		return lang.L("Denied by you or a rule")
	}
	return verdictOf(r.parts()).word
}

// verdicts are the verdicts on results, not yet translated.
var verdicts = map[result]verdict{
	resultOf(history.Sandboxed, api.ByPolicy): {
		"In the sandbox", "Ran in the sandbox without asking you", theme.ColorNamePrimary},
	result(history.Sandboxed):           {"In the sandbox", "You ran this in the sandbox", theme.ColorNamePrimary},
	resultOf(api.Allowed, api.ByPolicy): {"Passed", "Passed without asking you", theme.ColorNameSuccess},
	result(api.Allowed):                 {"Allowed", "You allowed this", theme.ColorNameSuccess},
	resultOf(api.Denied, api.ByPolicy):  {"Denied by rule", "Denied without asking you", theme.ColorNameError},
	result(api.Denied):                  {"Denied", "You denied this", theme.ColorNameError},
	resultOf(api.Answered, api.ByTimeout): {
		"Default", "Nobody answered in time, so the default applied", theme.ColorNameWarning},
	result(api.Answered):    {"Answered", "You answered", theme.ColorNamePrimary},
	result(api.Dismissed):   {"Dismissed", "Closed without an answer", theme.ColorNameWarning},
	result(api.TimedOut):    {"Timed out", "Nobody answered in time", theme.ColorNameWarning},
	result(api.Unavailable): {"Not asked", "Nobody could be asked", theme.ColorNameWarning},
	result(api.Cancelled):   {"Cancelled", "The agent stopped waiting", dialogs.ColorMuted},
	result(api.Withdrawn):   {"Withdrawn", "The agent withdrew this", dialogs.ColorMuted},
}

func verdictOf(o api.Outcome, by api.By) verdict {
	v, isKnown := verdicts[resultOf(o, by)]
	if !isKnown {
		v, isKnown = verdicts[result(o)]
	}
	if !isKnown {
		return verdict{safetext.Line(string(o), nameLimit), safetext.Line(string(o), nameLimit), dialogs.ColorMuted}
	}
	return verdict{lang.L(v.word), lang.L(v.sentence), v.color}
}

func agentName(agent string) string {
	if agent == "" {
		return lang.L("Unknown program")
	}
	return safetext.Line(registry.Title(agent), nameLimit)
}

func projectName(folder string) string {
	if folder == "" {
		return lang.L("No folder")
	}
	short := prompt.FromHome(folder)
	base := filepath.Base(short)
	if base == short {
		return safetext.Line(short, pathLimit)
	}
	return safetext.Line(fmt.Sprintf("%s (%s)", base, filepath.Dir(short)), pathLimit)
}

func sessionName(l history.Line) string {
	who := l.Requester()
	who.Title = registry.Title(l.Agent)
	return prompt.SessionOf(who)
}

func answeredOn(device string) string {
	if device == "" {
		return ""
	}
	return lang.L("answered on {{.Device}}", map[string]any{"Device": safetext.Line(device, nameLimit)})
}

func toolName(l history.Line) string {
	if l.Tool != "" {
		return safetext.Line(l.Tool, nameLimit)
	}
	return cmp.Or(map[api.Kind]string{
		api.KindAsk: lang.L("Question"), api.KindConfirm: lang.L("Confirmation"),
		api.KindForm: lang.L("Form"), api.KindNotify: lang.L("Notice"), api.KindApprove: lang.L("Approval"),
	}[l.Kind], safetext.Line(string(l.Kind), nameLimit))
}

func dayName(t, now time.Time) string {
	t, now = startOfDay(t), startOfDay(now)
	switch t {
	case now:
		return lang.L("Today")
	case now.AddDate(0, 0, -1):
		return lang.L("Yesterday")
	}
	return t.Format(time.DateOnly)
}

func startOfDay(t time.Time) time.Time {
	t = t.Local()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.Local)
}

func duration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return lang.L("{{.N}} s", map[string]any{"N": fmt.Sprintf("%.1f", d.Seconds())})
	case d < 2*time.Minute:
		return lang.L("{{.N}} s", map[string]any{"N": int(d.Seconds())})
	case d < 2*time.Hour:
		return lang.L("{{.N}} min", map[string]any{"N": int(d.Minutes())})
	}
	return lang.L("{{.N}} h", map[string]any{"N": int(d.Hours())})
}
