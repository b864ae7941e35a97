package settings

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"

	"nod/dialogs/controls"
	"nod/policy"
)

// chooser adds those of the offered rules that the user chooses.
type chooser struct {
	add     *controls.Button
	offered []policy.Rule
	chosen  []policy.Rule // in their order
	locked  bool          // nothing can be saved
}

// newChooser returns a chooser without rules. done is called after the chosen rules were added, or could not be.
func newChooser(w *Window, done func(rules []policy.Rule, err error)) *chooser {
	c := &chooser{}
	c.add = controls.MainButton("", theme.ConfirmIcon(), func() {
		rules := c.chosen
		c.add.Disable()
		w.change(adding(rules...), func(err error) {
			if err == nil {
				c.offer(slices.DeleteFunc(c.offered, func(r policy.Rule) bool { return slices.ContainsFunc(rules, r.Equal) }))
			}
			c.count()
			done(rules, err)
		})
	})
	c.count()
	return c
}

// count shows on the button how many rules are chosen.
func (c *chooser) count() {
	c.add.SetText(lang.L("Add rules ({{.Count}})", map[string]any{"Count": len(c.chosen)}))
	controls.Enable(len(c.chosen) > 0 && !c.locked, c.add)
}

// offer replaces the rules to choose from. Those that were offered before stay chosen.
func (c *chooser) offer(rules []policy.Rule) {
	c.offered = rules
	c.keep(c.isChosen)
}

func (c *chooser) isChosen(r policy.Rule) bool { return slices.ContainsFunc(c.chosen, r.Equal) }

func (c *chooser) choose(r policy.Rule, is bool) {
	c.keep(func(o policy.Rule) bool {
		if o.Equal(r) {
			return is
		}
		return c.isChosen(o)
	})
}

// keep chooses the offered rules that are wanted.
func (c *chooser) keep(wanted func(policy.Rule) bool) {
	c.chosen = slices.DeleteFunc(slices.Clone(c.offered), func(r policy.Rule) bool { return !wanted(r) })
	c.count()
}

// row is a rule that can be chosen, with words about it.
func (c *chooser) row(r policy.Rule, words fyne.CanvasObject) fyne.CanvasObject {
	box := controls.NewCheck("", nil)
	box.Checked = c.isChosen(r)
	box.OnChanged = func(is bool) { c.choose(r, is) }
	controls.Enable(!c.locked, box)
	return badged(r.Effect, controls.Besides(8, words, box))
}
