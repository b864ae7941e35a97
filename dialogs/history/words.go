package history

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"

	"nod/agents/registry"
	"nod/dialogs"
	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
	"nod/interact"
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

// outcomes are the outcomes of the filter, in its order.
var outcomes = []interact.Outcome{
	interact.Allowed, interact.Denied, interact.Answered, interact.Dismissed, interact.TimedOut, interact.Unavailable,
	interact.Cancelled, interact.Withdrawn,
}

func verdictOf(o interact.Outcome, by interact.By) verdict {
	byPolicy := by == interact.ByPolicy
	switch {
	case o == interact.Allowed && byPolicy:
		return verdict{lang.L("Passed"), lang.L("Passed without asking you"), theme.ColorNameSuccess}
	case o == interact.Allowed:
		return verdict{lang.L("Allowed"), lang.L("You allowed this"), theme.ColorNameSuccess}
	case o == interact.Denied && byPolicy:
		return verdict{lang.L("Denied by rule"), lang.L("Denied without asking you"), theme.ColorNameError}
	case o == interact.Denied:
		return verdict{lang.L("Denied"), lang.L("You denied this"), theme.ColorNameError}
	case o == interact.Answered && by == interact.ByTimeout:
		return verdict{lang.L("Default"), lang.L("Nobody answered in time, so the default counted"), theme.ColorNameWarning}
	case o == interact.Answered:
		return verdict{lang.L("Answered"), lang.L("You answered"), theme.ColorNamePrimary}
	}
	return undecided(o)
}

func undecided(o interact.Outcome) verdict {
	switch o {
	case interact.Dismissed:
		return verdict{lang.L("Dismissed"), lang.L("You closed the prompt without deciding"), theme.ColorNameWarning}
	case interact.TimedOut:
		return verdict{lang.L("Timed out"), lang.L("Nobody answered in time"), theme.ColorNameWarning}
	case interact.Unavailable:
		return verdict{lang.L("Not asked"), lang.L("Nobody could be asked"), theme.ColorNameWarning}
	case interact.Cancelled:
		return verdict{lang.L("Cancelled"), lang.L("The agent stopped waiting"), dialogs.ColorMuted}
	case interact.Withdrawn:
		return verdict{lang.L("Withdrawn"), lang.L("The agent took this back"), dialogs.ColorMuted}
	case "":
		return verdict{lang.L("Waiting"), lang.L("This still waits for you"), theme.ColorNamePrimary}
	}
	return verdict{safetext.Line(string(o), nameLimit), safetext.Line(string(o), nameLimit), dialogs.ColorMuted}
}

func outcomeName(o interact.Outcome) string { return verdictOf(o, "").word }

func agentName(agent string) string {
	if agent == "" {
		return lang.L("Unknown program")
	}
	return safetext.Line(registry.Title(agent), nameLimit)
}

// projectName names a folder by its last part and its location.
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

// sessionName tells the sessions of agents apart: by the agent, its folder and, if it is another one, its machine.
func sessionName(l history.Line) string {
	who := l.Requester()
	who.Title = registry.Title(l.Agent)
	name := prompt.AgentOf(who)
	if base := filepath.Base(l.Project); l.Project != "" {
		name += " · " + safetext.Line(base, nameLimit)
	}
	if l.Machine != "" {
		name += " · " + lang.L("on {{.Machine}}", map[string]any{"Machine": safetext.Line(l.Machine, nameLimit)})
	}
	return name
}

// answeredOn names the device on which the user answered; "" for this one.
func answeredOn(device string) string {
	if device == "" {
		return ""
	}
	return lang.L("answered on {{.Device}}", map[string]any{"Device": safetext.Line(device, nameLimit)})
}

func kindName(k interact.Kind) string {
	return cmp.Or(map[interact.Kind]string{
		interact.KindAsk: lang.L("Question"), interact.KindConfirm: lang.L("Confirmation"),
		interact.KindForm: lang.L("Form"), interact.KindNotify: lang.L("Notice"), interact.KindApprove: lang.L("Approval"),
	}[k], safetext.Line(string(k), nameLimit))
}

// toolName names the tool of an approval, or the kind of another request.
func toolName(l history.Line) string {
	if l.Tool != "" {
		return safetext.Line(l.Tool, nameLimit)
	}
	return kindName(l.Kind)
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

// startOfDay returns the midnight before t in local time.
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
