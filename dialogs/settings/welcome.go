package settings

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/interact"
	"nod/ipc/operator"
	"nod/policy"
)

// welcome replaces the settings until a new user has finished it.
type welcome struct {
	part
	agents    *agentList
	replay    *replayCard
	autostart *autostartRow
	try       *controls.Button // sends a test request
	answer    *controls.Remark // the result of the test request
	asking    context.CancelFunc
}

func newWelcome(w *Window) *welcome {
	p := &welcome{part: newPart(w), agents: newAgentList(w), replay: newReplayCard(w),
		autostart: newAutostartRow(w)}
	p.try = controls.NewButton(lang.L("Send a test request"), nil, p.ask)
	p.content = container.NewBorder(nil, controls.FootOf(dialogs.Padded(10, 20, container.NewHBox(
		controls.QuietButton(lang.L("All settings"), nil, func() { w.Show(false) }), layout.NewSpacer(),
		controls.MainButton(lang.L("Done"), nil, w.close)))),
		nil, nil,
		page(
			header(lang.L("Agents ask. You nod."), lang.L("nod stands between your coding agents and your computer.")),
			picture(),
			dialogs.Column(9, header(lang.L("Your agents"), lang.L("Choose which agents ask through nod. You see "+
				"every change to their settings first.")), p.agents.content),
			dialogs.Column(9, header(lang.L("How often nod would ask"), ""), p.replay.content),
			dialogs.Column(9, header(lang.L("Your first request"), ""), card(p.testRow())),
			card(p.autostart.Content, p.sandboxRow()),
		))
	p.content.Hide()
	return p
}

func picture() fyne.CanvasObject {
	arrow := func() fyne.CanvasObject {
		return container.NewCenter(widget.NewIcon(theme.NewColoredResource(theme.NavigateNextIcon(), dialogs.ColorMuted)))
	}
	asks := dialogs.Card(theme.ColorNameBackground, dialogs.Padded(8, 12, dialogs.Column(4,
		dialogs.Words(lang.L("An agent wants to run"), theme.SizeNameCaptionText, dialogs.ColorMuted),
		controls.Exact("rm -r build", theme.SizeNameText))))
	outcomes := dialogs.Column(8,
		withEffect(policy.Allow, controls.Muted(lang.L("It only reads, or you allowed it before: it runs."))),
		withEffect(policy.Ask, controls.Muted(lang.L("For everything else, you see exactly what it is and answer."))),
		withEffect(policy.Deny, controls.Muted(lang.L("Your rules forbid it: it never runs."))))
	left := dialogs.Row(8,
		container.NewCenter(dialogs.Sized(160, 0, asks)), arrow(), container.NewCenter(nodIcon(48)), arrow())
	return card(dialogs.Padded(14, 14, container.NewBorder(nil, nil, container.NewCenter(left), nil,
		container.NewBorder(nil, nil, dialogs.Row(6), nil, outcomes))))
}

func (p *welcome) testRow() fyne.CanvasObject {
	f := newSettingRow(lang.L("See what a prompt looks like"),
		lang.L("nod asks you as an agent would. Nothing runs, whatever you answer."), p.try)
	p.answer = f.Problem
	p.answer.Label.Importance = widget.MediumImportance
	return f.Content
}

func (p *welcome) sandboxRow() fyne.CanvasObject {
	return newSettingRow(lang.L("You can let a project's commands run in a sandbox, without asking"), "",
		controls.NewButton(lang.L("Show"), nil, func() {
			p.win.tabs.selectIndex(onSandbox)
			p.win.Show(false)
		})).Content
}

func (p *welcome) show(on bool) {
	if on == p.content.Visible() {
		return
	}
	dialogs.SetVisible(p.content, on)
	if on {
		p.agents.look()
		return
	}
	p.replay.stop()
	if p.asking != nil {
		p.asking()
	}
}

func (p *welcome) refresh(s operator.State) {
	p.agents.refresh(s)
	p.replay.refresh(s)
	p.autostart.refresh(s)
}

func (p *welcome) ask() {
	p.try.Disable()
	p.answer.Say(lang.L("Waiting for your answer…"))
	ctx, cancel := context.WithCancel(context.Background())
	p.asking = cancel
	p.win.Aside(func() {
		a, err := p.win.opts.Operator.TestRequest(ctx)
		dialogs.Do(func() {
			cancel()
			p.asking = nil
			p.try.Enable()
			if err != nil {
				p.answer.Complain(err)
				return
			}
			p.answer.Say(answered(a))
		})
	})
}

func answered(a interact.Answer) string {
	byRule := a.By == api.ByPolicy
	switch {
	case a.Outcome == api.Allowed && byRule:
		return lang.L("Your rules allowed it without asking you.")
	case a.Outcome == api.Denied && byRule:
		return lang.L("Your rules denied it without asking you.")
	case a.Outcome == api.Allowed:
		return lang.L("You allowed it. An agent would go on now.")
	case a.Outcome == api.Denied:
		return lang.L("You denied it. An agent would try another way, or ask why.")
	case a.Outcome == api.Unavailable:
		return lang.L("Nobody was asked: {{.Reason}}.", map[string]any{"Reason": a.Reason})
	}
	return lang.L("You did not decide, so it was not allowed.")
}
