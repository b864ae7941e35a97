package asking

import (
	"time"

	"nod/interact"
	"nod/policy/config"
)

// waitsInTray reports whether a prompt shows itself in the tray only, until the person asks for it.
func waitsInTray(c config.Config, r interact.Request) bool {
	return c.Prompt.Appear == config.AppearInTray || isQuiet(c, r)
}

// isQuiet reports whether a request draws no attention now.
func isQuiet(c config.Config, r interact.Request) bool {
	return c.Notifications.Quiet(time.Now()) || c.Notifications.Mutes(r.Requester.Agent)
}

// wantsNotice reports whether the person wants to see an agent's notice now.
func (p *Prompter) wantsNotice(r interact.Request) bool {
	c := p.store.Config()
	return c.Notifications.Notices && !isQuiet(c, r) && !p.presence.hides(r)
}

// wantsAnnouncement reports whether the person wants to be told now that a request waits.
func (p *Prompter) wantsAnnouncement(r interact.Request) bool {
	c := p.store.Config()
	return c.Notifications.Prompts && !isQuiet(c, r) && !p.presence.paused().On
}

// sound reports whether the person wants to hear notifications.
func (p *Prompter) sound() bool { return p.store.Config().Notifications.Sound }
