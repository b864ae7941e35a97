package agent

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"nod/ownfile"
	"nod/policy"
)

// OwnRules are an agent's own rules that ask or deny: it obeys them whatever nod allows.
type OwnRules struct {
	Agent   string
	Title   string // of the agent
	Folder  func(Machine) string
	Own     []string // patterns of the user's files, below the agent's folder
	Project []string // patterns of a project's files, below its folder

	// Read reads the text of one file, without running anything.
	Read func(text []byte) ([]OwnRule, error)

	mu    sync.Mutex
	known map[string]knownRules // by the files they come from
}

// An OwnRule is a statement that asks or denies.
type OwnRule struct {
	Text   string // as in the file
	Line   int
	Effect policy.Effect
	Rules  []policy.Rule // without id and effect, no wider than the statement; none if nod does not understand it
}

type knownRules struct {
	heeds map[string]heeding // by the ids of the compiled rules
	all   *policy.Compiled   // nil: none are known
}

type heeding struct {
	effect policy.Effect
	where  string // file and line
}

type ownFile struct {
	path, text string
}

// maxOwn limits the files with a session's rules, in bytes: a project's may come from anyone.
const maxOwn = 64 << 10

// maxKnown limits the sets of files whose rules are cached. Beyond it, all are dropped.
const maxKnown = 32

// Rule returns what the agent itself would do with a call by its own rules, whatever nod allows: ask or deny; and
// advice in a sentence. It returns "" if no rule matches, or that is unknown.
func (o *OwnRules) Rule(call policy.Call) (effect policy.Effect, advice string) {
	m, err := Here()
	if err != nil {
		return "", ""
	}
	paths := slices.Concat(find(o.Folder(m), o.Own), find(call.CWD, o.Project))
	slices.Sort(paths)
	paths = slices.Compact(paths)
	files, err := readOwn(paths)
	if err != nil || len(files) == 0 {
		return "", ""
	}
	k := o.know(files)
	if k.all == nil {
		return "", ""
	}
	call.Agent = o.Agent
	switch found := k.heeds[policy.Decide(call, k.all, time.Now()).Rule]; found.effect {
	case policy.Deny:
		return policy.Deny, fmt.Sprintf("%s's own rule (%s) denies this even after an allow in nod, so nod did not ask: "+
			"change that rule", o.Title, found.where)
	case policy.Ask:
		return policy.Ask, fmt.Sprintf("%s has its own rule that asks about this (%s), and here it refuses instead, even "+
			"after an allow in nod, so nod did not ask: write that rule in nod, then remove it there", o.Title, found.where)
	}
	return "", ""
}

func find(folder string, globs []string) (paths []string) {
	for _, glob := range globs {
		names, _ := fs.Glob(os.DirFS(folder), glob) // fails for bad patterns only
		for _, name := range names {
			paths = append(paths, filepath.Join(folder, filepath.FromSlash(name)))
		}
	}
	return paths
}

// readOwn reads files of at most maxOwn bytes together: thousands of links to one long file must not fill nod's memory.
func readOwn(paths []string) ([]ownFile, error) {
	var files []ownFile
	left := int64(maxOwn)
	for _, path := range paths {
		text, err := ownfile.ReadBehind(path, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(text))
		files = append(files, ownFile{path, string(text)})
	}
	return files, nil
}

func (o *OwnRules) know(files []ownFile) knownRules {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := fmt.Sprintf("%q", files)
	if k, ok := o.known[key]; ok {
		return k
	}
	k := o.compile(files)
	if o.known == nil || len(o.known) >= maxKnown {
		o.known = map[string]knownRules{}
	}
	o.known[key] = k
	return k
}

func (o *OwnRules) compile(files []ownFile) knownRules {
	k := knownRules{heeds: map[string]heeding{}}
	var all policy.Policy
	for _, f := range files {
		found, err := o.Read([]byte(f.text))
		if err != nil {
			return k
		}
		for _, own := range found {
			for _, r := range own.Rules {
				r.ID = fmt.Sprintf("%d-%d", map[policy.Effect]int{policy.Deny: 1, policy.Ask: 2}[own.Effect], len(all.Rules))
				r.Effect = policy.Deny // the strictest; among several, the first id decides
				if r.Validate() != nil {
					continue
				}
				all.Rules = append(all.Rules, r)
				k.heeds[r.ID] = heeding{own.Effect, fmt.Sprintf("%s, line %d", filepath.ToSlash(f.path), own.Line)}
			}
		}
	}
	if len(all.Rules) == 0 {
		return k
	}
	k.all, _ = policy.Compile(all, policy.DefaultPlaces()) // on error nil, as without rules
	return k
}

func (o *OwnRules) askingRules(m Machine) (texts []string) {
	files, err := readOwn(find(o.Folder(m), o.Own))
	if err != nil {
		return nil
	}
	for _, f := range files {
		found, _ := o.Read([]byte(f.text))
		for _, own := range found {
			if own.Effect == policy.Ask {
				texts = append(texts, own.Text)
			}
		}
	}
	return texts
}
