package settings

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/prompt"
	"nod/ipc/operator"
	"nod/policy/config"
)

type historyPage struct {
	part
	settings settingList
	size     *savedEntry
}

func newHistoryPage(w *Window) *historyPage {
	const day = 24 * time.Hour
	p := &historyPage{part: newPart(w)}
	p.size = newSavedEntry(w, lang.L("Limit"), lang.L("MB on disk. The oldest entries are deleted first."),
		func(c *config.Config) string { return strconv.Itoa(c.History.MaxSize) }, setMaxSize)
	p.content = page(
		p.settings.section(lang.L("Storage"),
			lang.L("Every request and its outcome, on this computer. Suspected secrets are removed when a request ends."),
			newDuration(w, lang.L("Keep for"), lang.L("For example, 90 days."), day, 36500*day,
				func(c *config.Config) *time.Duration { return &c.History.Keep }),
			p.size,
			newSwitch(w, lang.L("Keep the exact inputs"),
				lang.L("Commands, contents and addresses, character by character. When off, nod keeps only a summary and a "+
					"digest."),
				func(c *config.Config) *bool { return &c.History.KeepInputs })),
		p.body,
	)
	return p
}

func (p *historyPage) refresh(s operator.State) {
	p.settings.refresh(s)
	if p.drawn.changed(s.Journal) {
		controls.SetContent(p.body, p.kept(s.Journal)...)
	}
}

func (p *historyPage) kept(j operator.Journal) []fyne.CanvasObject {
	if j.Path == "" {
		return nil
	}
	rows := []fyne.CanvasObject{factRow(lang.L("File"), j.Path, folderButton(j.Path, p.win.open))}
	if j.Bytes > 0 {
		rows = append(rows, factRow(lang.L("Entries"), lang.L("{{.Count}} in {{.Size}} MB",
			map[string]any{"Count": prompt.Number(int(j.Entries)), "Size": fmt.Sprintf("%.1f", float64(j.Bytes)/1e6)})))
	}
	if j.Head.Seq > 0 {
		rows = append(rows, factRow(lang.L("Hash of the last entry"), j.Head.Hash))
	}
	if j.Problem != "" {
		problem := dialogs.Padded(10, 14, controls.Paragraph(j.Problem, widget.DangerImportance))
		rows = append([]fyne.CanvasObject{problem}, rows...)
	}
	return []fyne.CanvasObject{section(lang.L("Stored so far"), lang.L("Each entry seals the ones before "+
		"it. Keep the last hash somewhere else: nod history verify then detects any change to earlier entries."), rows...)}
}

func setMaxSize(c *config.Config, typed string) error {
	n, err := strconv.Atoi(strings.TrimSpace(typed))
	if c.History.MaxSize = n; err != nil || n < 10 || n > 100000 {
		return errors.New(lang.L("A number from 10 to 100000."))
	}
	return nil
}
