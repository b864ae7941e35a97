package dialogs

import (
	"slices"
	"time"

	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/interact"
)

var snoozes = []time.Duration{5 * time.Minute, 15 * time.Minute, time.Hour}

const (
	// answerTime is the minimum time to answer a prompt after its snooze, before its caller gives up.
	answerTime = time.Minute
	// longPatience is the waiting time of a caller above which the prompt does not say how long it waits.
	longPatience = 12 * time.Hour
)

// snoozeItems returns the lines of a menu that snooze e, under a line that says how long its caller waits.
func (w *window) snoozeItems(e *entry) []menuItem {
	patience := e.request.Until.Sub(w.p.now())
	most := (patience - answerTime).Truncate(time.Minute)
	var items []menuItem
	add := func(text string, d time.Duration) {
		items = append(items, menuItem{text: text, do: func() { w.p.snooze(e, d) }})
	}
	for _, d := range snoozes {
		if d <= most {
			add(tr("Snooze {{.Time}}", values{"Time": prompt.Spelled(d)}), d)
		}
	}
	if !slices.Contains(snoozes, most) && most >= time.Minute && most < snoozes[len(snoozes)-1] {
		add(tr("Snooze as long as it can wait ({{.Time}})", values{"Time": prompt.Spelled(most)}), most)
	}
	if len(items) > 0 && patience < longPatience {
		until := Lines(waitsUntil(e), theme.SizeNameCaptionText, widget.LowImportance)
		items[0].heading = container.New(layout.NewCustomPaddedLayout(4, 2, menuIndent, 10), Tight(until))
	}
	return items
}

func waitsUntil(e *entry) string {
	return tr("{{.Agent}} waits until {{.Time}}",
		values{"Agent": prompt.AgentOf(e.request.Requester), "Time": e.request.Until.Format("15:04")})
}

// elsewhere returns the label of the button that leaves the answer to the terminal or the agent, or "" if they cannot
// ask.
func elsewhere(r interact.Request) string {
	switch isQuestion := r.Body.Kind() != api.KindApprove; {
	case r.Silence == api.AsksInTerminal && isQuestion:
		return tr("Answer in the terminal")
	case r.Silence == api.AsksInTerminal:
		return tr("Decide in the terminal")
	case r.Silence == api.AsksItself && isQuestion:
		return tr("Answer in the agent")
	case r.Silence == api.AsksItself:
		return tr("Decide in the agent")
	}
	return ""
}
