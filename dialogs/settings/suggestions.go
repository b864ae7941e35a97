package settings

import (
	"context"
	"errors"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/agents/registry"
	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
	"nod/ipc/operator"
	"nod/policy"
	"nod/policy/config"
	"nod/policy/replay"
)

// suggestionsPage suggests rules for requests that the user always answered the same way. It never adds one on its own.
type suggestionsPage struct {
	part
	replay *replayCard
}

func newSuggestionsPage(w *Window) *suggestionsPage {
	p := &suggestionsPage{part: newPart(w), replay: newReplayCard(w)}
	p.content = page(dialogs.Column(9,
		header(lang.L("Suggestions"), lang.L("Rules for what you have always answered the same way. "+
			"Nothing is added until you choose it.")),
		p.problem.Content, p.body), p.replay.content)
	return p
}

func (p *suggestionsPage) refresh(s operator.State) {
	p.replay.refresh(s)
	editable := s.Problem == ""
	controls.Fetch(&p.work, p.win.opts.Operator.Suggest, func(found []policy.Suggestion, err error) {
		if err != nil { // keep showing the failure
			p.problem.Complain(err)
		}
		p.draw(found, editable)
	})
}

func (p *suggestionsPage) leave() {
	p.work.Drop()
	p.problem.Say("")
}

func (p *suggestionsPage) draw(found []policy.Suggestion, editable bool) {
	if !p.drawn.changed(found, editable) {
		return
	}
	controls.SetContent(p.body, listOf(found, func(s policy.Suggestion) fyne.CanvasObject {
		words := proposal(experience(s), s.Rule, callLines(s.Calls))
		return suggestedRow(p.win, s.Rule, words, editable, func(err error) {
			p.problem.Complain(err)
			p.drawn = nil
		})
	}, lang.L("No suggestions yet. When you answer similar calls the same way three times, nod suggests a rule here.")))
}

func suggestedRow(
	w *Window, r policy.Rule, words fyne.CanvasObject, editable bool, done func(error),
) fyne.CanvasObject {
	var add *controls.Button
	add = controls.NewButton(lang.L("Add"), theme.ContentAddIcon(), func() {
		add.Disable()
		w.change(func(c *config.Config) error {
			c.Policy.Rules = append(c.Policy.Rules, r)
			return nil
		}, func(err error) {
			controls.Enable(err != nil, add)
			done(err)
		})
	})
	controls.Enable(editable, add)
	return badged(r.Effect, controls.Besides(8, words, add))
}

func experience(s policy.Suggestion) string {
	n := map[string]any{"Count": len(s.Calls), "Folders": len(s.Folders)}
	switch {
	case s.Rule.Effect == policy.Deny && len(s.Folders) > 1:
		return lang.L("You denied this {{.Count}} times in {{.Folders}} folders", n)
	case s.Rule.Effect == policy.Deny:
		return lang.L("You denied this {{.Count}} times", n)
	case len(s.Folders) > 1:
		return lang.L("You allowed this {{.Count}} times in {{.Folders}} folders", n)
	}
	return lang.L("You allowed this {{.Count}} times", n)
}

func callLines(calls []policy.Call) []string {
	var lines []string
	for _, c := range calls {
		folder := lang.L("in {{.Folder}}", map[string]any{"Folder": safetext.Line(c.CWD, 60)})
		line := safetext.Line(c.Tool, 40) + "  " + safetext.Line(c.Input.String(), 2*controls.QuoteLimit) + "  " + folder
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// replayCard offers to apply the policy to past calls of agents, and shows the result with suggested rules. It reads
// transcripts only if the user agrees; the result is kept only as long as the window.
type replayCard struct {
	part
	run   func(context.Context, policy.Policy, func(part float64)) (*replay.Report, error)
	bar   *widget.ProgressBar // nil unless transcripts are being read
	found *replay.Report      // nil before the first run
	state operator.State
}

func newReplayCard(w *Window) *replayCard {
	c := &replayCard{part: newPart(w), run: replayAll}
	c.content = c.body
	c.draw()
	return c
}

// refresh adapts to the state, because no rule can be added while none can be saved.
func (c *replayCard) refresh(s operator.State) {
	was := c.state.Problem
	c.state = s
	if was != s.Problem {
		c.draw()
	}
}

func (c *replayCard) draw() {
	switch {
	case c.bar != nil:
		controls.SetContent(c.body, card(dialogs.Padded(12, 14, dialogs.Column(8,
			controls.Muted(lang.L("Reading the transcripts…")), c.bar,
			container.NewHBox(controls.NewButton(lang.L("Stop"), nil, c.stop))))))
	case c.found != nil:
		controls.SetContent(c.body, dialogs.Column(14, figures(c.found), c.problem.Content, c.rules()))
	default:
		controls.SetContent(c.body, c.propose())
	}
}

func (c *replayCard) propose() fyne.CanvasObject {
	look := controls.NewButton(lang.L("See what your agents did"), theme.SearchIcon(), c.look)
	no := controls.QuietButton(lang.L("No, thanks"), nil, c.content.Hide)
	return card(dialogs.Padded(12, 14, dialogs.Column(8,
		controls.Paragraph(lang.L("Claude Code and Codex keep transcripts on this computer. nod can read them once, count "+
			"how often it would have asked, and suggest a few rules that would have spared you most prompts. Nothing is "+
			"sent, run or kept."), widget.MediumImportance), c.problem.Content, container.NewHBox(look, no))))
}

func (c *replayCard) look() {
	c.bar = widget.NewProgressBar()
	c.problem.Say("")
	c.draw()
	bar, state := c.bar, c.state
	controls.Fetch(&c.work, func(ctx context.Context) (*replay.Report, error) {
		if state.Problem != "" {
			return nil, errors.New(state.Problem)
		}
		percent := 0
		return c.run(ctx, state.Config.Policy, func(part float64) { // called often
			if now := int(100 * part); now > percent {
				percent = now
				dialogs.Do(func() { bar.SetValue(part) })
			}
		})
	}, c.show)
}

func replayAll(ctx context.Context, p policy.Policy, progress func(part float64)) (*replay.Report, error) {
	sim, err := policy.NewSimulation(p, policy.DefaultPlaces())
	if err != nil {
		return nil, err
	}
	files, err := registry.Transcripts(nil)
	if err != nil {
		return nil, err
	}
	var size, read int64
	for _, f := range files {
		size += 2 * f.Size // for rules they are read twice
	}
	return replay.Run(ctx, files, sim, replay.Options{Suggest: true, Progress: func(n int64) {
		if read += n; size > 0 {
			progress(min(float64(read)/float64(size), 1)) // files may grow meanwhile
		}
	}})
}

func (c *replayCard) stop() {
	c.work.Drop()
	c.bar = nil
	c.draw()
}

func (c *replayCard) show(found *replay.Report, err error) {
	c.bar = nil
	c.problem.Complain(err)
	if err == nil {
		c.found = found
	}
	c.draw()
}

func figures(f *replay.Report) fyne.CanvasObject {
	if f.Calls == 0 {
		return card(emptyRow(lang.L("This computer has no transcripts of Claude Code or Codex.")))
	}
	n := map[string]any{"Files": prompt.Number(f.Files), "Calls": prompt.Number(f.Calls),
		"Asked": prompt.Number(f.Asked), "Always": prompt.Number(f.Always), "With": prompt.Number(f.Rules.Asked)}
	words := dialogs.Column(4,
		controls.Bold(lang.L("nod would have asked about {{.Asked}} of {{.Calls}} calls", n), theme.SizeNameText),
		controls.Muted(lang.L("Transcripts: {{.Files}}. Prompts with “Always” wherever it is offered: {{.Always}}.", n)))
	effect := lang.L("No rule would have spared you many of these.")
	if len(f.Rules.Rules) > 0 {
		effect = lang.L(
			"With all the rules below, it would have asked about {{.With}}. Nothing is added until you choose it.", n)
	}
	words.Add(controls.Muted(effect))
	return card(dialogs.Padded(12, 14, words))
}

func (c *replayCard) rules() fyne.CanvasObject {
	if c.found.Rules == nil || len(c.found.Rules.Rules) == 0 {
		return container.NewStack()
	}
	return listOf(c.found.Rules.Rules, func(s replay.Rule) fyne.CanvasObject {
		examples := each(s.Rule.Examples.Match, func(e string) string { return safetext.Line(e, maxExample) })
		why := lang.L("Saves {{.Count}} prompts", map[string]any{"Count": prompt.Number(s.Spares)})
		return suggestedRow(c.win, s.Rule, proposal(why, s.Rule, examples), c.state.Problem == "",
			func(err error) { c.added(s.Rule, err) })
	}, "")
}

func (c *replayCard) added(rule policy.Rule, err error) {
	c.problem.Complain(err)
	if err == nil {
		left := &c.found.Rules.Rules
		*left = slices.DeleteFunc(*left, func(s replay.Rule) bool { return s.Rule.Equal(rule) })
		c.draw()
	}
}

const maxExample = 200

// proposal explains a suggested rule: the reason, and the calls that it covers, safe to show.
func proposal(why string, r policy.Rule, covered []string) fyne.CanvasObject {
	words := dialogs.Column(6, controls.Bold(why, theme.SizeNameText),
		controls.Paragraph(controls.Sentence(r), widget.MediumImportance))
	if len(covered) > 0 {
		words.Add(controls.Muted(lang.L("Calls it would have covered:")))
		words.Add(firstLines(covered))
	}
	return words
}

const callsShown = 5

func firstLines(texts []string) fyne.CanvasObject {
	list := dialogs.Column(3)
	add := func(texts []string) {
		for _, text := range texts {
			list.Add(controls.Exact(text, theme.SizeNameCaptionText))
		}
	}
	add(texts[:min(len(texts), callsShown)])
	if len(texts) > callsShown {
		var more *controls.Button
		all := lang.L("Show all {{.Count}}", map[string]any{"Count": prompt.Number(len(texts))})
		more = controls.QuietButton(all, nil, func() {
			list.Remove(more)
			add(texts[callsShown:])
		})
		list.Add(more)
	}
	return list
}
