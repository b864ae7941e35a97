//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"nod/bench/report"
	"nod/bench/sample"
)

const startHow = "From the start of `nod-desktop --background` to the line by which it says that it can be " +
	"asked, with a journal of 0, 100,000 and 1,000,000 entries, beside a Go program that only serves HTTP on a Unix " +
	"socket."

// journalSizes are how many entries the journals have that are measured.
var journalSizes = []int{0, 100_000, 1_000_000}

// start measures how soon nod can be asked.
func (b *bench) start() (figures []report.Figure, err error) {
	for _, entries := range b.sizesOfJournals() {
		f, err := b.startWith(entries)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

func (b *bench) startWith(entries int) (f report.Figure, err error) {
	d, err := b.newDesk(settings)
	if err != nil {
		return f, err
	}
	defer d.close()
	if entries > 0 {
		path, err := b.bigJournal(entries)
		if err != nil {
			return f, err
		}
		if err := d.layJournal(path); err != nil {
			return f, err
		}
	}
	socket := filepath.Join(d.Runtime(), "bare.sock")
	return compare(fmt.Sprintf("start to ready, %s entries", thousands(entries)), b.times(20),
		sample.Subject{Name: "nod", Measure: d.timeToReady},
		sample.Subject{Name: "an empty Go server", Measure: func() (sample.Times, error) {
			begin := time.Now()
			cmd := d.command(b.peer(serverPeer), socket)
			ended, err := d.startReady(cmd, "ready")
			took := time.Since(begin)
			if err != nil {
				return nil, err
			}
			if err := kill(cmd, ended); err != nil {
				return nil, err
			}
			return sample.Times{took}, os.Remove(socket)
		}})
}

// timeToReady starts nod-desktop and kills it again.
func (d *desk) timeToReady() (sample.Times, error) {
	begin := time.Now()
	if err := d.startNod(); err != nil {
		return nil, err
	}
	took := time.Since(begin)
	return sample.Times{took}, kill(d.nod, d.ended)
}

// layJournal gives the nod of the desktop a copy of a journal.
func (d *desk) layJournal(path string) error {
	if err := os.MkdirAll(filepath.Dir(d.journalPath()), 0o700); err != nil {
		return err
	}
	for _, part := range []string{"", "-index"} {
		if err := copyFile(path+part, d.journalPath()+part); err != nil {
			return err
		}
	}
	return nil
}
