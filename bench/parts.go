//go:build linux

package main

import (
	"debug/buildinfo"
	"debug/elf"
	"debug/gosym"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nod/bench/report"
)

const partsHow = "What the programs are made of: the machine code of each Go module, as far as the table of " +
	"functions says (C code, data and that table itself are in the size of the file only). The eight largest of " +
	"each program, beside all its Go code."

// parts measures what the programs are made of.
func (b *bench) parts() (figures []report.Figure, err error) {
	for _, name := range programs {
		modules, err := codeOf(b.program(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var all float64
		for bytes := range maps.Values(modules) {
			all += bytes
		}
		largest := slices.SortedFunc(maps.Keys(modules), func(x, y string) int { return int(modules[y] - modules[x]) })
		const most = 8
		for _, module := range largest[:min(most, len(largest))] {
			f := report.Figure{Name: name + ": " + module, Unit: report.Bytes, Value: modules[module], Samples: 1}
			figures = append(figures, f.Beside("all Go code", all, 0))
		}
	}
	return figures, nil
}

// codeOf sums up the machine code of each module in a program.
func codeOf(path string) (map[string]float64, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	modules := []string{info.Main.Path}
	for _, m := range info.Deps {
		modules = append(modules, m.Path)
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, text := f.Section(".gopclntab"), f.Section(".text")
	if lines == nil || text == nil {
		return nil, fmt.Errorf("no table of functions in %s", path)
	}
	data, err := lines.Data()
	if err != nil {
		return nil, err
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return nil, err
	}
	code := map[string]float64{}
	for _, fn := range table.Funcs {
		code[moduleOf(fn.Name, modules)] += float64(fn.End - fn.Entry)
	}
	return code, nil
}

// moduleOf is the module that a function is from: the one with the longest path that the function's begins with.
func moduleOf(function string, modules []string) string {
	longest := ""
	for _, m := range modules {
		rest, found := strings.CutPrefix(function, m)
		if found && rest != "" && strings.ContainsAny(rest[:1], "./") && len(m) > len(longest) {
			longest = m
		}
	}
	switch {
	case longest != "":
		return longest
	case strings.HasPrefix(function, "main."):
		return modules[0]
	}
	return "Go's standard library"
}
