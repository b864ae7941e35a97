package policy

import (
	_ "embed"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// template is what a fresh file holds: the defaults, and how to write it.
//
//go:embed template.yaml
var template []byte

// errRewrite says that a file is written in a way that edit does not dare to touch.
var errRewrite = errors.New("the file is written in a way that nod cannot change without spoiling it: edit it by hand")

// edit changes a file's text so that it holds the configuration to in the place of from. All that is not
// changed stays as a person wrote it: comments, order, blank lines, quotes. The result is read again before
// anybody gets it.
func edit(data []byte, from, to Config) ([]byte, error) {
	d, err := newDocument(data)
	if err != nil {
		return nil, err
	}
	for _, c := range scalarChanges(from, to) {
		if err := d.set(c.section, c.key, c.value); err != nil {
			return nil, err
		}
	}
	if !slices.Equal(from.Agents.Strict, to.Agents.Strict) {
		if err := d.setList("agents", "strict", to.Agents.Strict); err != nil {
			return nil, err
		}
	}
	if err := d.setPolicy(from.Policy, to.Policy); err != nil {
		return nil, err
	}
	result := d.bytes()
	got, err := parse(result, "the changed file", nil)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", errRewrite, err)
	}
	if !sameConfig(got, to) {
		return nil, errRewrite
	}
	return result, nil
}

type change struct {
	section, key string
	value        any
}

func scalarChanges(from, to Config) []change {
	var changes []change
	add := func(section, key string, from, to any) {
		if from != to {
			changes = append(changes, change{section, key, to})
		}
	}
	add("ipc", "address", from.IPC.Address, to.IPC.Address)
	add("prompt", "timeout", durationText(from.Prompt.Timeout), durationText(to.Prompt.Timeout))
	add("prompt", "arm_after", durationText(from.Prompt.ArmAfter), durationText(to.Prompt.ArmAfter))
	add("prompt", "on_top", from.Prompt.OnTop, to.Prompt.OnTop)
	add("notifications", "prompts", from.Notifications.Prompts, to.Notifications.Prompts)
	add("notifications", "notices", from.Notifications.Notices, to.Notifications.Notices)
	add("look", "theme", from.Look.Theme, to.Look.Theme)
	add("look", "language", from.Look.Language, to.Look.Language)
	add("policy", "ask_everything", from.Policy.AskEverything, to.Policy.AskEverything)
	return changes
}

// durationText writes 5m rather than 5m0s.
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func sameConfig(a, b Config) bool {
	pa, pb := a.Policy, b.Policy
	a.Policy, b.Policy = Policy{}, Policy{}
	strict := slices.Equal(a.Agents.Strict, b.Agents.Strict)
	a.Agents, b.Agents = AgentsConfig{}, AgentsConfig{}
	return reflect.DeepEqual(a, b) && strict && pa.AskEverything == pb.AskEverything &&
		slices.Equal(pa.AutoAllow, pb.AutoAllow) && slices.Equal(pa.TrustedAgents, pb.TrustedAgents) &&
		slices.Equal(pa.TrustedRoots, pb.TrustedRoots) &&
		SameRules(pa.Rules, pb.Rules)
}

func (d *document) setPolicy(from, to Policy) error {
	if !slices.Equal(from.AutoAllow, to.AutoAllow) {
		if err := d.setList("policy", "auto_allow", words(to.AutoAllow)); err != nil {
			return err
		}
	}
	if !slices.Equal(from.TrustedAgents, to.TrustedAgents) {
		if err := d.setList("policy", "trusted_agents", to.TrustedAgents); err != nil {
			return err
		}
	}
	if !slices.Equal(from.TrustedRoots, to.TrustedRoots) {
		if err := d.setList("policy", "trusted_roots", to.TrustedRoots); err != nil {
			return err
		}
	}
	if SameRules(from.Rules, to.Rules) {
		return nil
	}
	return d.setRules(from.Rules, to.Rules)
}

func words[T ~string](items []T) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = string(item)
	}
	return out
}

// setList changes a list of texts. Where it is written one item a line, the lines that stay keep their
// comments.
func (d *document) setList(section, key string, items []string) error {
	list, err := d.find(section, key)
	if err != nil {
		return err
	}
	if !isBlockList(list) || len(items) == 0 {
		return d.set(section, key, items)
	}
	chunks, start, end := d.chunks(list)
	var next []chunk
	for _, item := range items {
		i := slices.IndexFunc(list.Content, func(n *yaml.Node) bool { return n.Value == item })
		if i >= 0 {
			next = append(next, chunks[i])
			continue
		}
		lines, err := render([]string{item}, indentOf(chunks[0].dash()))
		if err != nil {
			return err
		}
		next = append(next, chunk{own: lines})
	}
	d.replace(start, end, join(next))
	return nil
}

// setRules changes the list of rules. A rule that stays keeps its text to the letter, one that changes
// keeps all but the fields that change, and comments right above a rule go with it.
func (d *document) setRules(from, to []Rule) error {
	list, err := d.find("policy", "rules")
	if err != nil {
		return err
	}
	if !isBlockList(list) {
		return d.set("policy", "rules", to)
	}
	chunks, start, end := d.chunks(list)
	if len(chunks) != len(from) {
		return errRewrite
	}
	spaced := slices.ContainsFunc(chunks, func(c chunk) bool { return len(c.loose) > 0 })
	next, kept := make([]chunk, 0, len(to)), map[int]bool{}
	was := earlier(from, to)
	for _, r := range to {
		i := was(r)
		c, err := chunkFor(r, i, from, chunks)
		if err != nil {
			return err
		}
		kept[i] = true
		next = append(next, c)
	}
	for i := range from { // comments that a blank line keeps apart from a rule that goes stay where they were
		if !kept[i] && !isBlank(chunks[i].loose) {
			next = slices.Insert(next, min(i, len(next)), chunk{loose: chunks[i].loose})
		}
	}
	if spaced {
		space(next)
	}
	d.replace(start, end, join(next))
	if len(to) == 0 {
		return d.set("policy", "rules", to)
	}
	return nil
}

// space puts a blank line between rules, and none before the first.
func space(chunks []chunk) {
	for i := range chunks {
		switch {
		case i == 0 && isBlank(chunks[i].loose):
			chunks[i].loose = nil
		case i > 0 && len(chunks[i].loose) == 0:
			chunks[i].loose = []string{""}
		}
	}
}

// chunkFor writes one rule of the new list, which was the old one at i, or is new when i is negative.
func chunkFor(r Rule, i int, from []Rule, chunks []chunk) (chunk, error) {
	if i < 0 {
		lines, err := render([]Rule{r}, indentOf(chunks[0].dash()))
		return chunk{own: lines}, err
	}
	if from[i].Equal(r) {
		return chunks[i], nil
	}
	return chunks[i].withRule(from[i], r)
}

// earlier returns a function that finds a new rule in the old list: the rule with its id, or one that
// differs in nothing but an id that is gone; -1 when there is none.
func earlier(from, to []Rule) func(Rule) int {
	byID, stays := make(map[string]int, len(from)), make(map[string]bool, len(to))
	for i, r := range from {
		byID[r.ID] = i
	}
	for _, r := range to {
		stays[r.ID] = true
	}
	return func(r Rule) int {
		if i, ok := byID[r.ID]; ok {
			return i
		}
		return slices.IndexFunc(from, func(old Rule) bool {
			id := old.ID
			old.ID = r.ID
			return old.Equal(r) && !stays[id]
		})
	}
}

// withRule changes the fields of a rule's text that differ. A rule written in braces, or one whose first
// line would go, is written anew under its old comments.
func (c chunk) withRule(from, to Rule) (chunk, error) {
	sub := &document{lines: slices.Clone(c.own)}
	for _, f := range ruleFields(from, to) {
		item, err := sub.item()
		if err != nil {
			return chunk{}, err
		}
		if item.Style&yaml.FlowStyle != 0 || (f.value == nil && item.Content[0].Value == f.key) {
			return c.rewritten(to)
		}
		if f.value == nil {
			sub.remove(item, f.key)
			continue
		}
		if err := sub.setIn(item, f.key, f.value); err != nil {
			return chunk{}, err
		}
	}
	return chunk{loose: c.loose, own: sub.lines}, nil
}

func (c chunk) rewritten(r Rule) (chunk, error) {
	dash := c.dashAt()
	lines, err := render([]Rule{r}, indentOf(c.own[dash]))
	return chunk{loose: c.loose, own: append(slices.Clone(c.own[:dash]), lines...)}, err
}

// ruleFields lists the fields that differ, in the order of the struct; a nil value is one that goes.
func ruleFields(from, to Rule) []change {
	var changes []change
	a, b := reflect.ValueOf(from), reflect.ValueOf(to)
	for i := range a.NumField() {
		if reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			continue
		}
		key, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("yaml"), ",")
		c := change{key: key}
		if !b.Field(i).IsZero() {
			c.value = b.Field(i).Interface()
		}
		changes = append(changes, c)
	}
	return changes
}
