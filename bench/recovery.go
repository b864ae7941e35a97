//go:build linux

package main

import (
	"time"

	"nod/bench/report"
	"nod/bench/sample"
)

const recoveryHow = "From `kill -9` of nod-desktop, while a prompt waits, to the same prompt painted by the next " +
	"one, which is started at once; the caller waits on. Beside it stands what cannot be saved: the start of " +
	"nod-desktop, and of its windows for a first prompt."

// recovery measures how soon a prompt is back after a crash.
func (b *bench) recovery() ([]report.Figure, error) {
	d, err := b.withNod(settings + unready)
	if err != nil {
		return nil, err
	}
	defer d.close()
	least, err := d.startAndAsk(b.times(10))
	if err != nil {
		return nil, err
	}
	if err := d.startNod(); err != nil {
		return nil, err
	}
	if err := d.showQuestion(); err != nil {
		return nil, err
	}
	back, err := sample.InTurns(b.times(10), sample.Subject{Name: "nod", Measure: d.killed})
	if err != nil {
		return nil, err
	}
	f := report.Figure{
		Name: "kill -9 to the prompt on the screen", Unit: report.Seconds, Value: back[0].Median(), P99: back[0].P99(),
		Samples: len(back[0]),
	}
	return []report.Figure{f.Beside("start and a first prompt", least, 0)}, nil
}

// startAndAsk is the median time of a start to ready and of a first prompt, together.
func (d *desk) startAndAsk(times int) (float64, error) {
	if err := d.endNod(); err != nil {
		return 0, err
	}
	all, err := sample.InTurns(times, sample.Subject{Name: "start and ask", Measure: func() (sample.Times, error) {
		begin := time.Now()
		if err := d.startNod(); err != nil {
			return nil, err
		}
		ready := time.Since(begin)
		frame, err := d.firstFrame(d.question("make all"))
		if err != nil {
			return nil, err
		}
		return sample.Times{ready + frame}, d.endNod()
	}})
	if err != nil {
		return 0, err
	}
	return all[0].Median(), nil
}

// killed is the time from the death of nod-desktop to the prompt's return.
func (d *desk) killed() (sample.Times, error) {
	gone := d.dialogs()
	begin := time.Now()
	if err := kill(d.nod, d.ended); err != nil {
		return nil, err
	}
	if err := d.startNod(); err != nil {
		return nil, err
	}
	if err := d.painted(d.ended, gone); err != nil {
		return nil, err
	}
	return sample.Times{time.Since(begin)}, nil
}
