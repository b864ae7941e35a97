package history

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/safetext"
	"nod/interact"
	"nod/interact/history"
	"nod/ipc/operator"
	"nod/policy"
	"nod/policy/config"
)

// actions are the buttons that make a rule for calls like the one shown. They show the rule before they save it.
type actions struct {
	win     *Window
	content fyne.CanvasObject
	buttons []*controls.Button
	card    *fyne.Container // the rule to save, or the saved one
	why     *controls.Remark
	work    controls.Worker
	entry   history.Entry
	broken  bool // the policy file cannot be changed
}

func newActions(w *Window) *actions {
	a := &actions{win: w, card: container.NewStack(), why: controls.NewRemark(widget.LowImportance),
		work: controls.Worker{Aside: w.Aside}}
	for _, one := range []struct {
		name   string
		effect policy.Effect
	}{
		{lang.L("Always ask"), policy.Ask},
		{lang.L("Always allow"), policy.Allow},
		{lang.L("Always deny"), policy.Deny},
	} {
		a.buttons = append(a.buttons, controls.NewButton(one.name, nil, func() { a.propose(one.effect) }))
	}
	row := container.NewGridWithColumns(3, a.buttons[0], a.buttons[1], a.buttons[2])
	a.content = controls.FootOf(dialogs.Padded(10, 14, dialogs.Column(8, a.card, a.why.Content, row)))
	a.content.Hide()
	return a
}

func (a *actions) set(e history.Entry) {
	a.cancel()
	a.entry = e
	dialogs.SetVisible(a.content, e.Kind == api.KindApprove)
	a.check()
}

func (a *actions) refresh(s operator.State) {
	a.broken = s.Problem != ""
	a.check()
}

func (a *actions) check() {
	isRemote := a.entry.Record.Request.Requester.IsRemote()
	for _, b := range a.buttons {
		controls.Enable(a.entry.Withheld == "" && !isRemote && !a.broken, b)
	}
	switch {
	case isRemote: // a proposal needs the files of the call
		a.why.Say(lang.L("nod offers no rule for this: its files are on another machine. You can write one in the settings."))
	case a.entry.Withheld != "":
		a.why.Say(lang.L("Without the exact input, nod can't make a rule."))
	default:
		a.why.Say("")
	}
}

type proposal struct {
	effect policy.Effect
	policy.Proposal
	grant *policy.Grant // revoked in place of adding a rule that asks; may be nil
	old   policy.Rule   // replaced by the rule
}

func (a *actions) propose(effect policy.Effect) {
	approve, _ := a.entry.Record.Request.Body.(interact.Approve)
	call, rule, now := approve.Call(a.entry.Record.Request.Requester), a.entry.Rule, a.win.now()
	a.work.Drop()
	controls.Fetch(&a.work, func(ctx context.Context) (proposal, error) {
		s, err := a.win.opts.Operator.State(ctx)
		if err != nil {
			return proposal{}, err
		}
		p := proposal{effect: effect}
		i := slices.IndexFunc(s.Grants, func(g policy.Grant) bool { return g.ID == rule })
		if effect == policy.Ask && i >= 0 {
			p.grant = &s.Grants[i]
			return p, nil
		}
		p.Proposal, err = policy.Propose(s.Config.Policy, policy.DefaultPlaces(), call, effect, now)
		if i := slices.IndexFunc(s.Config.Policy.Rules, func(r policy.Rule) bool { return r.ID == p.Changes }); i >= 0 {
			p.old = s.Config.Policy.Rules[i]
		}
		return p, err
	}, a.showProposal)
}

func (a *actions) showProposal(p proposal, err error) {
	var words []fyne.CanvasObject
	var save *controls.Button // nil: there is nothing to save
	button := func(name string, tapped func()) { save = controls.MainButton(name, theme.ConfirmIcon(), tapped) }
	switch {
	case errors.Is(err, policy.ErrRuleIsThere):
		words = []fyne.CanvasObject{
			controls.Paragraph(lang.L("A rule already covers this:"), widget.MediumImportance), ruleLine(p.Rule)}
	case errors.Is(err, policy.ErrNoRule):
		words = []fyne.CanvasObject{controls.Paragraph(
			lang.L("nod doesn't offer this rule: it can't tell what such a call may do. You can write one in the settings."),
			widget.MediumImportance)}
	case err != nil:
		words = []fyne.CanvasObject{controls.Paragraph(err.Error(), widget.DangerImportance)}
	case p.grant != nil:
		words = []fyne.CanvasObject{
			controls.Paragraph(lang.L("This saved approval will be revoked:"), widget.MediumImportance),
			controls.Exact(safetext.Line(p.grant.Shown, gistLimit), theme.SizeNameCaptionText)}
		button(lang.L("Revoke"), func() { a.revoke(p.grant.ID) })
	default:
		words = []fyne.CanvasObject{controls.Paragraph(announce(p), widget.MediumImportance), ruleLine(p.Rule)}
		if note := effectNote(p); note != "" {
			words = append(words, controls.Paragraph(note, widget.WarningImportance))
		}
		button(lang.L("Save"), func() { a.save(p) })
	}
	buttons := container.NewHBox(controls.NewButton(lang.L("Cancel"), nil, func() { a.cancel() }))
	if save != nil {
		buttons.Add(save)
	}
	a.showCard(append(words, buttons)...)
	if save != nil {
		a.win.Win.Canvas().Focus(save)
	}
}

func announce(p proposal) string {
	switch p.Changes {
	case "":
		return lang.L("This rule will be saved as {{.Rule}}:", map[string]any{"Rule": p.Rule.ID})
	case p.Rule.ID:
		return lang.L("The rule {{.Rule}} will change to:", map[string]any{"Rule": p.Changes})
	}
	return lang.L("This rule will replace {{.Old}}, as {{.Rule}}:", map[string]any{"Old": p.Changes, "Rule": p.Rule.ID})
}

func ruleLine(r policy.Rule) fyne.CanvasObject {
	return container.NewBorder(nil, nil, container.NewVBox(controls.EffectBadge(r.Effect)), nil,
		dialogs.Padded(0, 8, controls.Paragraph(controls.Stop(controls.Sentence(r)), widget.MediumImportance)))
}

func effectNote(p proposal) string {
	if p.Decision.Effect == p.effect {
		return ""
	}
	return lang.L("nod would still {{.Effect}} such a call, because of {{.Rule}}.", map[string]any{
		"Effect": doName(p.Decision.Effect), "Rule": safetext.Line(p.Decision.Rule, nameLimit)})
}

func doName(e policy.Effect) string {
	switch e {
	case policy.Allow:
		return lang.L("allow")
	case policy.Deny:
		return lang.L("deny")
	case policy.Sandbox:
		return lang.L("run in the sandbox")
	}
	return lang.L("ask about")
}

func (a *actions) save(p proposal) {
	a.act(lang.L("Saved."), func(ctx context.Context) error {
		s, err := a.win.opts.Operator.State(ctx)
		if err != nil {
			return err
		}
		_, err = operator.Change(ctx, a.win.opts.Operator, s.Config, p.put)
		return err
	})
}

// put puts the rule into a configuration. It fails if the rules are no longer what was shown.
func (p proposal) put(c *config.Config) error {
	id := cmp.Or(p.Changes, p.Rule.ID)
	i := slices.IndexFunc(c.Policy.Rules, func(r policy.Rule) bool { return r.ID == id })
	switch {
	case (i < 0) != (p.Changes == ""), i >= 0 && !c.Policy.Rules[i].Equal(p.old):
		return errors.New(lang.L("The rules have changed. Look again."))
	case i < 0:
		c.Policy.Rules = append(c.Policy.Rules, p.Rule)
	default:
		c.Policy.Rules[i] = p.Rule
	}
	return nil
}

// revoke revokes a saved approval. The foot of the window then offers to undo that.
func (a *actions) revoke(id string) {
	a.act(lang.L("Revoked."), func(ctx context.Context) error { return a.win.opts.Operator.Revoke(ctx, id) })
}

func (a *actions) act(done string, do func(context.Context) error) {
	seq := a.entry.Seq
	a.win.Act(do, func(err error) {
		if seq != a.entry.Seq { // the user looks at another entry
			a.win.Fail(err)
			return
		}
		a.showDone(done, err)
	})
}

func (a *actions) showDone(done string, err error) {
	words := controls.Paragraph(done, widget.MediumImportance)
	if err != nil {
		words = controls.Paragraph(err.Error(), widget.DangerImportance)
	}
	a.showCard(words, container.NewHBox(controls.NewButton(lang.L("Close"), nil, func() { a.cancel() })))
}

func (a *actions) showCard(parts ...fyne.CanvasObject) {
	controls.SetContent(a.card, paper(parts))
	a.resized()
}

func (a *actions) cancel() bool {
	a.work.Drop()
	was := len(a.card.Objects) > 0
	controls.SetContent(a.card)
	if was {
		a.resized()
	}
	return was
}

func (a *actions) resized() {
	a.content.Refresh()
	a.win.entries.detail.content.Refresh()
}
