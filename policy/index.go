package policy

import (
	"slices"

	"nod/policy/shell"
)

// An index finds the rules that may match a call without looking at the others, so that ten rules and ten
// thousand cost the same. Each rule is filed once, under the one of its matchers that it shares with the
// fewest rules; a rule that can be filed under nothing is tried on every call.
type index struct {
	byKey    map[indexKey][]int32
	kinds    [kindCount]bool
	prefixes []int   // lengths of the tool prefixes in use
	always   []int32 // rules that no key leads to
	below    []int32 // rules for a path that also match what is done to a folder above it
}

type indexKind uint8

const (
	byCommand indexKind = iota
	byPath
	byTool
	byToolPrefix
	byProgram
	byCWD
	byAgent
	byClass
	kindCount
)

type indexKey struct {
	kind indexKind
	text string
}

func newIndex(rules []compiledRule) index {
	counts := map[indexKey]int{}
	for i := range rules {
		for _, keys := range rules[i].keys() {
			for _, k := range keys {
				counts[k]++
			}
		}
	}
	ix := index{byKey: map[indexKey][]int32{}}
	for i := range rules {
		ix.file(int32(i), rarest(rules[i].keys(), counts))
		if rules[i].path != nil && !rules[i].Effect.Permits() {
			ix.below = append(ix.below, int32(i))
		}
	}
	return ix
}

// file notes the rule under all of the keys: it has several where a pattern starts in several folders.
func (ix *index) file(rule int32, keys []indexKey) {
	if len(keys) == 0 {
		ix.always = append(ix.always, rule)
		return
	}
	for _, k := range keys {
		ix.kinds[k.kind] = true
		if n := len(ix.byKey[k]); n == 0 || ix.byKey[k][n-1] != rule {
			ix.byKey[k] = append(ix.byKey[k], rule)
		}
		if k.kind == byToolPrefix && !slices.Contains(ix.prefixes, len(k.text)) {
			ix.prefixes = append(ix.prefixes, len(k.text))
		}
	}
}

func (r *compiledRule) keys() [][]indexKey {
	var ways [][]indexKey
	add := func(kind indexKind, texts ...string) {
		var way []indexKey
		for _, text := range texts {
			if text != "" {
				way = append(way, indexKey{kind, text})
			}
		}
		if len(way) > 0 {
			ways = append(ways, way)
		}
	}
	add(byCommand, r.Command)
	if r.path != nil {
		add(byPath, r.path.starts...)
	}
	if r.tool.isLiteral() {
		add(byTool, string(r.tool))
	} else {
		add(byToolPrefix, r.tool.prefix())
	}
	if r.program != nil {
		add(byProgram, r.program.starts...)
	}
	if r.cwd != nil {
		add(byCWD, r.cwd.starts...)
	}
	add(byAgent, r.Agent)
	add(byClass, string(r.Class))
	return ways
}

func rarest(ways [][]indexKey, counts map[indexKey]int) []indexKey {
	var best []indexKey
	least := 0
	for _, way := range ways {
		n := 0
		for _, k := range way {
			n = max(n, counts[k])
		}
		if best == nil || n < least {
			best, least = way, n
		}
	}
	return best
}

// find returns the strictest rule that matches and is no stricter than an effect, or nil. Candidates are tried in their
// order, which is by strictness, until one matches or none can be better.
func (c *Compiled) find(f *facts, from Effect) *compiledRule {
	best := int32(len(c.rules))
	try := func(candidates []int32) {
		for _, i := range candidates {
			if i >= best {
				return
			}
			if !c.rules[i].Effect.IsStricter(from) && c.rules[i].matches(f) {
				best = i
				return
			}
		}
	}
	try(c.index.always)
	c.index.visit(f, try)
	if int(best) == len(c.rules) {
		return nil
	}
	return &c.rules[best]
}

func (ix *index) visit(f *facts, try func([]int32)) {
	look := func(kind indexKind, text string) {
		if ix.kinds[kind] && text != "" {
			try(ix.byKey[indexKey{kind, text}])
		}
	}
	look(byTool, f.call.Tool)
	look(byAgent, f.call.Agent)
	look(byClass, string(f.class))
	for _, class := range f.lineClasses() {
		look(byClass, string(class))
	}
	look(byCommand, f.input.command)
	for _, n := range ix.prefixes {
		if n <= len(f.call.Tool) {
			look(byToolPrefix, f.call.Tool[:n])
		}
	}
	if ix.kinds[byPath] {
		for _, list := range [...][]access{f.reach(), f.mayReach()} {
			for _, a := range list {
				eachFolder(a.place, byPath, look)
				if a.kind == shell.Tree || a.kind == shell.Delete {
					try(ix.below)
				}
			}
		}
	}
	if ix.kinds[byCWD] {
		eachFolder(f.cwd(), byCWD, look)
		if f.input.folder != "" {
			eachFolder(f.folder(), byCWD, look)
		}
	}
	if ix.kinds[byProgram] {
		for _, program := range f.call.Programs {
			eachFolder(place{clean: program}, byProgram, look)
		}
	}
}

// eachFolder looks up a path and all folders above it, as text and with links followed.
func eachFolder(p place, kind indexKind, look func(indexKind, string)) {
	eachParent(fold(p.clean), kind, look)
	if p.real != p.clean {
		eachParent(fold(p.real), kind, look)
	}
}

func eachParent(path string, kind indexKind, look func(indexKind, string)) {
	for end := len(path); end > 0; end-- {
		if end == len(path) || path[end] == '/' {
			look(kind, path[:end])
		}
	}
}
