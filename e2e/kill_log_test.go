//go:build linux

package e2e

import (
	"os"
	"regexp"

	"nod/interact"
)

var settledLine = regexp.MustCompile(`msg=settled id=(\S+) kind=\S+ outcome=(\S+) by=(\S*) rule=(\S*)`)

func logRecords(path string) (all []interact.Record) {
	text, _ := os.ReadFile(path)
	for _, m := range settledLine.FindAllStringSubmatch(string(text), -1) {
		var r interact.Record
		r.Request.ID, r.Answer.Outcome, r.Answer.By, r.Answer.Rule = interact.ID(m[1]), interact.Outcome(m[2]), interact.By(m[3]), m[4]
		all = append(all, r)
	}
	return
}
