package asking

import (
	"time"

	"nod/interact"
	"nod/policy/config"
)

// waitsInTray reports whether a prompt is shown in the tray only, until the user asks for it.
func waitsInTray(c config.Config, r interact.Request) bool {
	return c.Prompt.Appear == config.AppearInTray || isQuiet(c, r)
}

// isQuiet reports whether a request should draw no attention now.
func isQuiet(c config.Config, r interact.Request) bool {
	return c.Notifications.Quiet(time.Now()) || c.Notifications.Mutes(r.Requester.Agent)
}

// wantsNotice reports whether to show an agent's notice now.
func (p *Prompter) wantsNotice(r interact.Request) bool {
	c := p.store.Config()
	return c.Notifications.Notices && !isQuiet(c, r) && !p.presence.hides(r)
}

// wantsAnnouncement reports whether to announce a pending request now.
func (p *Prompter) wantsAnnouncement(r interact.Request) bool {
	c := p.store.Config()
	return c.Notifications.Prompts && !isQuiet(c, r) && !p.presence.paused().On
}

// sound reports whether notifications make a sound.
func (p *Prompter) sound() bool { return p.store.Config().Notifications.Sound }
