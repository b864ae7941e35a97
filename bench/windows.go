//go:build linux

package main

import (
	"os/exec"
	"time"

	"nod/bench/report"
	"nod/bench/sample"
)

const windowsHow = "From the start of the command that asks (`nod approve`, `zenity --question`, `yad " +
	"--question`) to its window on the screen with something drawn in it, on a virtual X11 desktop (Xvfb, openbox, " +
	"OpenGL in software). Ready: `nod-dialogs` runs, as it does from an agent's first sign on. Not ready: it has to " +
	"be started first, as at the very first prompt. The peers are always started; the files of all programs are in " +
	"the cache of the system."

// windows measures how soon a person sees a question.
func (b *bench) windows() (figures []report.Figure, err error) {
	for _, c := range []struct{ name, headline, config string }{
		{"question, windows ready", "from a request to its window painted", settings},
		{"question, windows not ready", "the same, windows not loaded", settings + unready},
	} {
		f, err := b.frames(c.name, c.config)
		if err != nil {
			return nil, err
		}
		f.Headline = c.headline
		figures = append(figures, f)
	}
	return figures, nil
}

func (b *bench) frames(name, config string) (f report.Figure, err error) {
	d, err := b.withNod(config)
	if err != nil {
		return f, err
	}
	defer d.close()
	peer := func(name string) sample.Subject {
		return d.frame(name, func() *exec.Cmd { return d.command(name, "--question", "--text", "make all") })
	}
	return compare(name, b.times(20), d.frame("nod", func() *exec.Cmd { return d.question("make all") }),
		peer("zenity"), peer("yad"))
}

// frame is the subject of a command's first painted window.
func (d *desk) frame(name string, ask func() *exec.Cmd) sample.Subject {
	return sample.Subject{Name: name, Measure: func() (sample.Times, error) {
		took, err := d.firstFrame(ask())
		return sample.Times{took}, err
	}}
}

// firstFrame is the time from the start of a command to its painted window, which it then closes again.
func (d *desk) firstFrame(cmd *exec.Cmd) (took time.Duration, err error) {
	begin := time.Now()
	ended, err := d.Launch(cmd)
	if err != nil {
		return 0, err
	}
	if err := d.painted(ended); err != nil {
		return 0, err
	}
	took = time.Since(begin)
	if err := kill(cmd, ended); err != nil {
		return 0, err
	}
	if err := d.cleared(); err != nil {
		return 0, err
	}
	if d.endsWindows {
		return took, d.dialogsEnded()
	}
	return took, nil
}

// showQuestion has nod ask, and leaves its window open.
func (d *desk) showQuestion() error {
	ended, err := d.Launch(d.question("make all"))
	if err != nil {
		return err
	}
	return d.painted(ended)
}
