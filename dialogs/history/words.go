package history

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// What is said of texts of agents, in characters.
const (
	nameLimit = 40
	pathLimit = 60
	gistLimit = 160
	textLimit = 2000
)

// verdict is what came of a request: in a word, in a sentence, and its colour, which never stands alone.
type verdict struct {
	word, sentence string
	color          fyne.ThemeColorName
}

// outcomes are those that a person can look for, in the order of the list.
var outcomes = []interact.Outcome{
	interact.Allowed, interact.Denied, interact.Answered, interact.Dismissed, interact.TimedOut, interact.Unavailable,
	interact.Cancelled, interact.Withdrawn,
}

// verdictOf says what came of a request, and by whom.
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

// undecided says why nobody decided.
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

// outcomeName is an outcome to look for.
func outcomeName(o interact.Outcome) string { return verdictOf(o, "").word }

// agentName is what a person knows an agent by, which may be its own claim.
func agentName(agent string) string {
	if agent == "" {
		return lang.L("Unknown program")
	}
	return safetext.Line(registry.Title(agent), nameLimit)
}

// projectName is a folder by its last part, and where that is.
func projectName(folder string) string {
	if folder == "" {
		return lang.L("No folder")
	}
	short := home(folder)
	base := filepath.Base(short)
	if base == short {
		return safetext.Line(short, pathLimit)
	}
	return safetext.Line(fmt.Sprintf("%s (%s)", base, filepath.Dir(short)), pathLimit)
}

// home writes ~ for the home folder.
func home(path string) string {
	dir, err := os.UserHomeDir()
	if err != nil || dir == "" || dir == "/" {
		return path
	}
	if rest, inside := strings.CutPrefix(path, dir); inside && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

// sessionName tells the sessions of agents apart as people do: by the agent, the folder that it works in, and the
// machine when that is another one.
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

// answeredOn says on which device the person answered; "" where they did so here.
func answeredOn(device string) string {
	if device == "" {
		return ""
	}
	return lang.L("answered on {{.Device}}", map[string]any{"Device": safetext.Line(device, nameLimit)})
}

// kindName is what a request wants.
func kindName(k interact.Kind) string {
	return cmp.Or(map[interact.Kind]string{
		interact.KindAsk: lang.L("Question"), interact.KindConfirm: lang.L("Confirmation"),
		interact.KindForm: lang.L("Form"), interact.KindNotify: lang.L("Notice"), interact.KindApprove: lang.L("Approval"),
	}[k], safetext.Line(string(k), nameLimit))
}

// toolName is the tool of an approval, else the kind of the request.
func toolName(l history.Line) string {
	if l.Tool != "" {
		return safetext.Line(l.Tool, nameLimit)
	}
	return kindName(l.Kind)
}

// dayName is a day as a person speaks of it.
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

// startOfDay is the midnight before t, where this computer is.
func startOfDay(t time.Time) time.Time {
	t = t.Local()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.Local)
}

// duration writes a time that something took.
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
