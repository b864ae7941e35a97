//go:build linux

package main

import (
	"fmt"
	"time"

	"nod/bench/report"
)

const restHow = "What a process has in memory (resident; and proportional, which counts of a page that several " +
	"processes share only a part) and does in half a minute in which nothing happens, on a virtual desktop with a " +
	"tray. `yad --notification` and a Go program with only a tray icon, the least that such a program costs, are " +
	"watched at the same time. After load: after 100 prompts and 3000 allowed calls. nod's windows stand beside " +
	"zenity and yad that show a question."

// watched is a process that is looked at while nothing happens.
type watched struct {
	name string
	pid  int

	memory
	wakeups   float64 // per minute
	processor float64 // percent of one core
}

// with adds what another process needs.
func (w watched) with(o watched) watched {
	w.resident += o.resident
	w.proportional += o.proportional
	w.wakeups += o.wakeups
	w.processor += o.processor
	return w
}

// rest measures what nod costs while nothing happens.
func (b *bench) rest() (figures []report.Figure, err error) {
	d, err := b.withNod(settings)
	if err != nil {
		return nil, err
	}
	defer d.close()
	yad := d.command("yad", "--notification", "--image=dialog-question")
	if _, err := d.Launch(yad); err != nil {
		return nil, err
	}
	tray := d.command(b.peer(trayPeer))
	if _, err := d.startReady(tray, "ready"); err != nil {
		return nil, err
	}
	icons := []watched{
		{name: "nod-desktop", pid: d.nod.Process.Pid},
		{name: "yad --notification", pid: yad.Process.Pid},
		{name: "a Go program with only a tray icon", pid: tray.Process.Pid},
	}
	if err := b.watch(icons); err != nil {
		return nil, err
	}
	figures = besides("nod-desktop at rest", icons)
	figures[1].Headline = "memory in the tray: `nod-desktop`, nod's only process there"
	figures[2].Headline = "its processor time at rest"
	more, err := d.afterLoad(icons)
	return append(figures, more...), err
}

// afterLoad measures the same after nod had much to do, its windows, too.
func (d *desk) afterLoad(icons []watched) (figures []report.Figure, err error) {
	if err := d.loadNod(); err != nil {
		return nil, err
	}
	windows := watched{name: "nod-dialogs", pid: d.dialogs()}
	icons = append(icons, windows)
	if err := d.b.watch(icons); err != nil {
		return nil, err
	}
	figures = besides("nod-desktop after load", icons[:len(icons)-1])
	figures = append(figures, besides("nod-dialogs after load, no prompt", icons[len(icons)-1:])...)
	both := []watched{icons[0].with(icons[len(icons)-1])}
	figures = append(figures, besides("both processes, windows loaded", both)...)
	figures[len(figures)-3].Headline = "memory with the windows loaded: both processes"
	open, err := d.questions()
	return append(figures, open...), err
}

// loadNod has nod show prompts and allow calls.
func (d *desk) loadNod() error {
	e, err := d.endpoint()
	if err != nil {
		return err
	}
	request := d.approval(e.URL[len("http://"):], e.Token)
	if _, err := load(e.Socket, request, 16, d.b.times(3000), true); err != nil {
		return err
	}
	for range d.b.times(100) {
		if _, err := d.firstFrame(d.question("make all")); err != nil {
			return err
		}
	}
	return nil
}

// questions measures who shows a question, each with its window open.
func (d *desk) questions() ([]report.Figure, error) {
	if err := d.showQuestion(); err != nil {
		return nil, err
	}
	all := []watched{{name: "nod-dialogs", pid: d.dialogs()}}
	for _, name := range []string{"zenity", "yad"} {
		cmd := d.command(name, "--question", "--text", "make all")
		if _, err := d.Launch(cmd); err != nil {
			return nil, err
		}
		all = append(all, watched{name: name + " --question", pid: cmd.Process.Pid})
	}
	if err := d.b.watch(all); err != nil {
		return nil, err
	}
	return besides("nod-dialogs with a prompt", all), nil
}

// watch looks at processes while nothing happens.
func (b *bench) watch(all []watched) error {
	settle, span := 10*time.Second, 30*time.Second
	if b.quick {
		settle, span = time.Second, 3*time.Second
	}
	time.Sleep(settle) // what was started or asked for comes to rest
	before := make([]work, len(all))
	for i, w := range all {
		var err error
		if before[i], err = workOf(w.pid); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	time.Sleep(span) // this is what is measured: nothing happens
	for i := range all {
		w := &all[i]
		after, err := workOf(w.pid)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		// A thread or a child that has ended took with it what it had counted.
		w.processor = 100 * max(0, (after.processor-before[i].processor).Seconds()) / span.Seconds()
		w.wakeups = max(0, float64(after.wakeups-before[i].wakeups)) / span.Minutes()
		if w.memory, err = memoryOf(w.pid); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

// besides are the figures of the first process, beside the others.
func besides(name string, all []watched) (figures []report.Figure) {
	for _, q := range []struct {
		name string
		unit report.Unit
		of   func(watched) float64
	}{
		{"resident", report.Bytes, func(w watched) float64 { return w.resident }},
		{"proportional", report.Bytes, func(w watched) float64 { return w.proportional }},
		{"processor time", report.Percent, func(w watched) float64 { return w.processor }},
		{"wake-ups", report.PerMinute, func(w watched) float64 { return w.wakeups }},
	} {
		f := report.Figure{Name: name + ", " + q.name, Unit: q.unit, Value: q.of(all[0]), Samples: 1}
		for _, peer := range all[1:] {
			f = f.Beside(peer.name, q.of(peer), 0)
		}
		figures = append(figures, f)
	}
	return figures
}
