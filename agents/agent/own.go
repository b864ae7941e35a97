package agent

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"nod/policy"
	"nod/policy/imports"
)

// OwnRules are the rules of an agent's own that ask or deny: it heeds them whatever nod allows.
type OwnRules struct {
	Agent  string
	Source *imports.Source
	Folder func(Machine) string

	mu    sync.Mutex
	known map[string]knownRules // by the folder of a session
}

type knownRules struct {
	files []imports.File // that were read
	rules []policy.Rule  // their ids are those in compiled
	all   *policy.Compiled
}

// maxOwn limits the files with the rules of a session, in bytes together: anybody may have written a project's, and a
// thousand rules take a second to read.
const maxOwn = 64 << 10

// maxKnown is how many folders' rules are kept. Then all are forgotten.
const maxKnown = 32

// Rule returns what the agent itself would do with a call by a rule of its own, ask or deny, and where that rule is; ""
// when no rule matches, or that is unknown. It leaves out rules for paths, of which nod has only wider ones.
func (o *OwnRules) Rule(call policy.Call) (policy.Effect, string) {
	m, err := Here()
	if err != nil {
		return "", ""
	}
	paths, err := o.Source.Paths(o.Folder(m), call.CWD)
	if err != nil || len(paths) == 0 || sizeOf(paths) > maxOwn {
		return "", ""
	}
	files, err := o.Source.Open(paths, o.Folder(m))
	if err != nil {
		return "", ""
	}
	for i := range files {
		files[i].Project = "" // the session is the project's, wherever it works
	}
	k := o.know(call.CWD, files)
	if k.all == nil {
		return "", ""
	}
	call.Agent = o.Agent
	d := policy.Decide(call, k.all, time.Now())
	i := slices.IndexFunc(k.rules, func(r policy.Rule) bool { return r.ID == d.Rule })
	if i < 0 {
		return "", ""
	}
	where, _, _ := strings.Cut(strings.TrimPrefix(k.rules[i].Note, "from "), ";")
	return k.rules[i].Effect, where
}

// sizeOf is how long files are together: thousands of links to one long file must not fill nod's memory.
func sizeOf(paths []string) (size int64) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
		}
	}
	return size
}

// know reads rules, unless the files are as they were.
func (o *OwnRules) know(folder string, files []imports.File) knownRules {
	o.mu.Lock()
	defer o.mu.Unlock()
	isSame := func(x, y imports.File) bool { return x.Path == y.Path && bytes.Equal(x.Text, y.Text) }
	if k, ok := o.known[folder]; ok && slices.EqualFunc(k.files, files, isSame) {
		return k
	}
	k := knownRules{files: files}
	if found, err := o.Source.Translate(o.Agent, files, nil); err == nil {
		var all policy.Policy
		for i, r := range found.Rules {
			if r.Effect == policy.Allow || r.Path != "" {
				continue
			}
			r.ID = fmt.Sprintf("%d-%d", map[policy.Effect]int{policy.Deny: 1, policy.Ask: 2}[r.Effect], i)
			k.rules = append(k.rules, r)
			r.Effect = policy.Deny // nothing goes before that, and of several the first id
			all.Rules = append(all.Rules, r)
		}
		k.all, _ = policy.Compile(all, policy.DefaultPlaces()) // nil: as if there were none
	}
	if o.known == nil || len(o.known) >= maxKnown {
		o.known = map[string]knownRules{}
	}
	o.known[folder] = k
	return k
}

func (o *OwnRules) askingRules(m Machine) (texts []string) {
	folder := o.Folder(m)
	files, err := o.Source.Find(folder, folder)
	if err != nil {
		return nil
	}
	for _, f := range files {
		entries, _ := o.Source.Read(f)
		for _, e := range entries {
			if e.Effect == policy.Ask {
				texts = append(texts, e.Text)
			}
		}
	}
	return texts
}

// Heeds says that an agent heeds a rule of its own whatever nod allows, and what to do.
func Heeds(title string, effect policy.Effect, where string) string {
	if effect == policy.Deny {
		return fmt.Sprintf("%s's own rule (%s) denies this even after an allow in nod, so nod did not ask: change that "+
			"rule", title, where)
	}
	return fmt.Sprintf("%s has its own rule that asks about this (%s), and here it refuses instead, even after an "+
		"allow in nod, so nod did not ask: import that rule with nod policy import, then remove it there", title, where)
}
