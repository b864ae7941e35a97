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
	for _, tt := range []struct {
		entry         *savedEntry
		typed, wanted string
		of            func() string
	}{
		{p.shortcut, "ctrl+alt+n", "Ctrl+Alt+N", func() string { return o.config().Prompt.Shortcut }},
		{p.shortcut, "", "", func() string { return o.config().Prompt.Shortcut }},
		{p.hours, " 22:00-07:00", "22:00-07:00", func() string { return o.config().Notifications.QuietHours }},
	} {
		tt.entry.SetText(tt.typed)
		tt.entry.OnSubmitted(tt.typed)
		if got := tt.of(); got != tt.wanted {
			t.Errorf("typed %q: saved %q, want %q", tt.typed, got, tt.wanted)
		}
	}
	for entry, typed := range map[*savedEntry]string{p.shortcut: "Shift+N", p.hours: "22:00"} {
		entry.SetText(typed)
		entry.OnSubmitted(typed)
		if shownBy(entry.Problem) == "" {
			t.Errorf("%q: nothing is said to be wrong", typed)
		}
	}
	test.Tap(p.days["sat"].check)
	test.Tap(p.mutes["codex"].check)
	n := o.config().Notifications
	if o.config().Prompt.Appear != config.AppearInTray || o.config().Prompt.Shortcut != "" ||
		!slices.Equal(n.QuietDays, []string{"sat"}) || !slices.Equal(n.Muted, []string{"codex"}) ||
		n.QuietHours != "22:00-07:00" {
		t.Errorf("saved %+v, %+v", o.config().Prompt, n)
	}
}

// The setting of the shortcut says if another program has it.
func TestAShortcutThatIsTakenIsSaid(t *testing.T) {
	w, o := few(t)
	o.state.Shortcut = "taken"
	w.tabs.selectIndex(onAttention)
	if got := shownBy(w.attention.shortcut.Problem); got != "taken" {
		t.Errorf("says %q", got)
	}
}
