//go:build linux

package main

import (
	"os"

	"nod/bench/report"
)

const sizesHow = "The files of the programs as `make build` makes them, beside Go programs that do nothing and " +
	"that only serve HTTP, built with the same flags (`-trimpath -ldflags \"-s -w\"`, without cgo)."

// sizes measures the files of the programs.
func (b *bench) sizes() (figures []report.Figure, err error) {
	empty, err := size(b.peer(emptyPeer))
	if err != nil {
		return nil, err
	}
	server, err := size(b.peer(serverPeer))
	if err != nil {
		return nil, err
	}
	all := report.Figure{Name: "all programs", Headline: "size of nod's programs", Unit: report.Bytes, Samples: 1}
	for _, name := range programs {
		bytes, err := size(b.program(name))
		if err != nil {
			return nil, err
		}
		f := report.Figure{Name: name, Unit: report.Bytes, Value: bytes, Samples: 1}
		figures = append(figures, f.Beside("an empty Go program", empty, 0).Beside("an empty Go server", server, 0))
		all.Value += bytes
	}
	return append(figures, all), nil
}

// programs are nod's.
var programs = []string{"nod", "nod-cli", "nod-desktop", "nod-dialogs"}

func size(path string) (float64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return float64(info.Size()), nil
}
