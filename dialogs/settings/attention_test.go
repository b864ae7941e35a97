package settings

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2/test"

	"nod/interact"
	"nod/policy/config"
)

func TestAttentionIsSaved(t *testing.T) {
	w, o := few(t)
	o.state.Contacts = map[string]interact.Contact{"codex": {}}
	w.tabs.selectIndex(onAttention)
	p := w.attention
	p.appear.pick.SetSelectedIndex(2)
	p.hours.SetText("22:00")
	p.hours.OnSubmitted("22:00")
	if shownBy(p.hours.Problem) == "" {
		t.Error("nothing is said to be wrong")
	}
	p.hours.SetText(" 22:00-07:00")
	p.hours.OnSubmitted(" 22:00-07:00")
	test.Tap(p.days.rows["sat"].check)
	test.Tap(p.mutes["codex"].check)
	n := o.config().Notifications
	if o.config().Prompt.Appear != config.AppearInTray ||
		!slices.Equal(n.QuietDays, []string{"sat"}) || !slices.Equal(n.Muted, []string{"codex"}) ||
		n.QuietHours != "22:00-07:00" {
		t.Errorf("saved %+v, %+v", o.config().Prompt, n)
	}
}
