package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
	"nod/interact/history"
	"nod/ipc/operator"
	"nod/sandbox/snapshot"
)

// changes shows what the command or the edit of an entry changed, and takes that back after showing how.
type changes struct {
	win     *Window
	page    *container.Scroll
	content *fyne.Container
	plan    *fyne.Container // what taking it back would do, or did
	work    controls.Worker // fetches what it changed
	asking  controls.Worker // fetches the plan
	seq     int64
}

func newChanges(w *Window, page *container.Scroll) *changes {
	return &changes{win: w, page: page, content: dialogs.Column(5), plan: container.NewStack(),
		work: controls.Worker{Aside: w.Aside}, asking: controls.Worker{Aside: w.Aside}}
}

// set shows what an entry changed, once that is known. Most entries have no kept changes.
func (c *changes) set(e history.Entry) {
	c.work.Drop()
	c.asking.Drop()
	c.seq = e.Seq
	c.show()
	c.propose()
	if e.Kind == api.KindApprove && e.Outcome == api.Allowed && e.Machine == "" {
		c.fetch()
	}
}

func (c *changes) fetch() {
	seq := c.seq
	controls.Fetch(&c.work, func(ctx context.Context) (operator.Changed, error) {
		return c.win.opts.Operator.Changed(ctx, seq)
	}, func(found operator.Changed, err error) {
		if err != nil {
			c.show(sectionName(lang.L("What it changed")), controls.Paragraph(err.Error(), widget.DangerImportance))
		} else if found.Run.Number > 0 {
			c.draw(found)
		}
	})
}

func (c *changes) show(parts ...fyne.CanvasObject) {
	dialogs.SetVisible(c.content, len(parts) > 0)
	controls.SetContent(c.content, parts...)
	c.page.Refresh() // whose height is another
}

func (c *changes) draw(found operator.Changed) {
	run := found.Run
	name, take := lang.L("What it changed"), lang.L("Take back…")
	if run.Undoes > 0 {
		name, take = lang.L("Taken back"), lang.L("Bring back…")
	}
	parts := []fyne.CanvasObject{sectionName(name)}
	switch {
	case run.Problem != "":
		problem := map[string]any{"Problem": safetext.Line(run.Problem, textLimit)}
		parts = append(parts, controls.Paragraph(lang.L("nod can't tell what it changed: {{.Problem}}", problem),
			widget.WarningImportance))
	case run.Files == 0:
		parts = append(parts, controls.Muted(lang.L("No files that nod tracks.")))
	default:
		button := controls.NewButton(take, theme.ContentUndoIcon(), func() { c.ask(run) })
		parts = append(parts, container.NewHBox(button), c.plan)
		for _, file := range found.Files {
			parts = append(parts, c.row(file))
		}
		parts = append(parts, more(run.Files-len(found.Files))...)
	}
	c.show(parts...)
}

func more(count int) []fyne.CanvasObject {
	if count <= 0 {
		return nil
	}
	return []fyne.CanvasObject{controls.Muted(lang.L("and {{.Count}} more", map[string]any{"Count": count}))}
}

func (c *changes) row(file snapshot.Change) fyne.CanvasObject {
	kind := map[snapshot.Kind]string{
		snapshot.Added: lang.L("Added"), snapshot.Changed: lang.L("Changed"), snapshot.Removed: lang.L("Deleted"),
	}[file.Kind]
	name := fact(kind+" "+size(file), safetext.Line(file.Path, textLimit))
	if file.Binary || file.Added+file.Removed == 0 {
		return name
	}
	below := container.NewStack()
	var button *controls.Button
	button = controls.QuietButton(lang.L("Show"), nil, func() {
		if len(below.Objects) == 0 {
			button.SetText(lang.L("Hide"))
			c.showDiff(below, file)
			return
		}
		button.SetText(lang.L("Show"))
		controls.SetContent(below)
		c.page.Refresh()
	})
	return dialogs.Column(4, controls.Besides(8, name, button), below)
}

func size(c snapshot.Change) string {
	if c.Binary {
		return lang.L("(no text)")
	}
	return fmt.Sprintf("+%d -%d", c.Added, c.Removed)
}

func (c *changes) showDiff(in *fyne.Container, file snapshot.Change) {
	seq := c.seq
	work := &controls.Worker{Aside: c.win.Aside} // of its own, which nothing else that the user wants to see takes away
	controls.Fetch(work, func(ctx context.Context) (operator.Diff, error) {
		return c.win.opts.Operator.Diff(ctx, seq, file.Path)
	}, func(d operator.Diff, err error) {
		lines := prompt.PastDiff(file.Path, string(d.Text), d.Cut)
		shown := dialogs.PastLines(lines, string(d.Text), c.page, c.win.draw)
		if err != nil {
			shown = controls.Paragraph(err.Error(), widget.DangerImportance)
		}
		controls.SetContent(in, shown)
		c.page.Refresh()
	})
}

func (c *changes) ask(run snapshot.Run) {
	seq := c.seq
	controls.Fetch(&c.asking, func(ctx context.Context) (operator.TakeBack, error) {
		return c.win.opts.Operator.PlanTakeBack(ctx, seq)
	}, func(plan operator.TakeBack, err error) { c.confirm(run, plan, err) })
}

func (c *changes) confirm(run snapshot.Run, plan operator.TakeBack, err error) {
	if err != nil {
		c.conclude(controls.Paragraph(err.Error(), widget.DangerImportance))
		return
	}
	words := []fyne.CanvasObject{controls.Paragraph(lang.L("This will happen:"), widget.MediumImportance)}
	if plan.Count == 0 {
		words[0] = controls.Paragraph(lang.L("Nothing to take back."), widget.MediumImportance)
	}
	shown := plan.Files[:min(len(plan.Files), maxPlanned)] // all are listed below
	for _, file := range shown {
		deed := map[snapshot.Kind]string{
			snapshot.Added: lang.L("Restore"), snapshot.Changed: lang.L("Change back"), snapshot.Removed: lang.L("Delete"),
		}[file.Kind]
		words = append(words, fact(deed+" "+size(file), safetext.Line(file.Path, textLimit)))
	}
	words = append(words, more(plan.Count-len(shown))...)
	words = append(words, leftAlone(plan.Conflicts, plan.Left)...)
	if run.Overlaps {
		words = append(words, controls.Paragraph(lang.L("Another command ran at the same time: its changes are "+
			"included."),
			widget.WarningImportance))
	}
	if plan.Count == 0 {
		c.conclude(words...)
		return
	}
	name := lang.L("Take back")
	if run.Undoes > 0 {
		name = lang.L("Bring back")
	}
	main := controls.MainButton(name, theme.ConfirmIcon(), func() { c.takeBack(run, plan) })
	c.propose(append(words, dialogs.Row(8, c.closing(lang.L("Cancel")), main))...)
	c.win.Win.Canvas().Focus(main)
	c.win.Reveal(main)
}

func leftAlone(conflicts []snapshot.Conflict, count int) (words []fyne.CanvasObject) {
	if count > 0 {
		words = append(words, controls.Paragraph(lang.L("These files don't change:"), widget.WarningImportance))
	}
	for _, conflict := range conflicts {
		why := cmp.Or(map[string]string{
			"it has changed since": lang.L("it has changed since"),
			"its place is taken":   lang.L("its place is taken"),
		}[conflict.Why], safetext.Line(conflict.Why, textLimit))
		words = append(words, controls.Muted(safetext.Line(conflict.Path, textLimit)+": "+why))
	}
	return append(words, more(count-len(conflicts))...)
}

func (c *changes) closing(name string) fyne.CanvasObject {
	return controls.NewButton(name, nil, func() { c.cancel() })
}

func (c *changes) propose(parts ...fyne.CanvasObject) {
	if len(parts) > 0 {
		parts = []fyne.CanvasObject{paper(parts)}
	}
	controls.SetContent(c.plan, parts...)
	c.page.Refresh()
}

// conclude shows words and a button that closes them.
func (c *changes) conclude(words ...fyne.CanvasObject) {
	c.propose(append(words, c.closing(lang.L("Close")))...)
}

// paper is a card with parts below one another.
func paper(parts []fyne.CanvasObject) fyne.CanvasObject {
	return dialogs.Card(dialogs.ColorPaper, dialogs.Padded(10, 12, dialogs.Column(8, parts...)))
}

func (c *changes) cancel() bool {
	was := len(c.plan.Objects) > 0
	c.asking.Drop()
	c.propose()
	return was
}

const maxPlanned = 8

// takeBack does what the plan says, unless something else would happen now: then it shows the new plan.
func (c *changes) takeBack(run snapshot.Run, plan operator.TakeBack) {
	seq := c.seq
	c.propose(controls.Paragraph(lang.L("Taking back…"), widget.MediumImportance))
	var left []snapshot.Conflict
	c.win.Act(func(ctx context.Context) (err error) {
		left, err = c.win.opts.Operator.TakeBack(ctx, seq, plan.Digest)
		return err
	}, func(err error) {
		if seq != c.seq { // the user looks at another entry
			c.win.Fail(err)
			return
		}
		switch {
		case errors.Is(err, operator.ErrChanged):
			c.ask(run)
			return
		case err != nil:
			c.conclude(controls.Paragraph(err.Error(), widget.DangerImportance))
		case len(left) > 0:
			c.conclude(leftAlone(left, len(left))...)
		default:
			c.propose()
		}
		c.fetch()
	})
}
