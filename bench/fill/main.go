// Command fill writes the figures of a report into the documents that quote them: see [report.Report.Fill].
//
//	fill REPORT.json DOCUMENT.md...
package main

import (
	"fmt"
	"os"

	"nod/bench/report"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fill:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: fill REPORT.json DOCUMENT.md [DOCUMENT.md ...]")
	}
	r, err := report.Read(args[0])
	if err != nil {
		return err
	}
	if r.Quick {
		return fmt.Errorf("%s is of a quick run: run make bench without QUICK", args[0])
	}
	for _, path := range args[1:] {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		filled, err := r.Fill(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.WriteFile(path, []byte(filled), 0o644); err != nil {
			return err
		}
	}
	return nil
}
