package config

import (
	_ "embed"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"nod/policy"
)

// template is the content of a fresh file: the defaults, with explanations.
//
//go:embed template.yaml
var template []byte

var errRewrite = errors.New("nod can't safely change this file: edit it by hand")

// edit changes a file's text from configuration from to configuration to. Everything else stays as the user wrote it:
// comments, order, blank lines, quotes. It reads the result again to check it.
func edit(data []byte, from, to Config) ([]byte, error) {
	d, err := newDocument(data)
	if err != nil {
		return nil, err
	}
	for _, section := range diff(from, to) {
		for _, c := range diff(section.from, section.to) {
			if err := d.apply(section.key, c); err != nil {
				return nil, err
			}
		}
	}
	result := []byte(strings.Join(d.lines, d.eol) + d.eol)
	got, err := parse(result, "the changed file", nil)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", errRewrite, err)
	}
	if !got.equal(to) {
		return nil, errRewrite
	}
	return result, nil
}

type change struct {
	key      string
	field    int
	from, to any
}

// diff lists the fields that differ, in the order of the struct. Empty and nil lists are equal.
func diff(from, to any) []change {
	var found []change
	a, b := reflect.ValueOf(from), reflect.ValueOf(to)
	for i := range a.NumField() {
		x, y := a.Field(i), b.Field(i)
		isNone := x.Kind() == reflect.Slice && x.Len() == 0 && y.Len() == 0
		isSame := x.Kind() == reflect.Struct && len(diff(x.Interface(), y.Interface())) == 0
		if !isNone && !isSame && !reflect.DeepEqual(x.Interface(), y.Interface()) {
			found = append(found, change{yamlKey(a.Type().Field(i)), i, x.Interface(), y.Interface()})
		}
	}
	return found
}

func (d *document) apply(section string, c change) error {
	switch to := c.to.(type) {
	case time.Duration:
		return d.set(section, c.key, FormatDuration(to))
	case []string:
		return setValues(d, section, c.key, c.from.([]string), to)
	case []policy.Class:
		return setValues(d, section, c.key, c.from.([]policy.Class), to)
	case []Machine:
		return setValues(d, section, c.key, c.from.([]Machine), to)
	case []policy.Rule:
		from := c.from.([]policy.Rule)
		return setItems(d, section, c.key, from, to, earlier(from, to), chunk.withRule)
	}
	if reflect.TypeOf(c.to).Kind() == reflect.Struct {
		return d.setFields(section, c)
	}
	return d.set(section, c.key, c.to)
}

func (d *document) setFields(section string, c change) error {
	for _, f := range diff(c.from, c.to) {
		m, err := d.find(section, c.key)
		if err != nil {
			return err
		}
		if m == nil || m.Kind != yaml.MappingNode || m.Style&yaml.FlowStyle != 0 || len(m.Content) == 0 {
			return d.set(section, c.key, c.to)
		}
		f.key = c.key + "." + f.key
		if err := d.apply(section, f); err != nil {
			return err
		}
	}
	return nil
}

const day = 24 * time.Hour

// ParseDuration reads a time as [time.ParseDuration] does, and also days, such as 90d.
func ParseDuration(s string) (time.Duration, error) {
	if number, isDays := strings.CutSuffix(s, "d"); isDays {
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("%q is not a number of days: %w", s, err)
		}
		return time.Duration(n) * day, nil
	}
	return time.ParseDuration(s)
}

// FormatDuration writes 5m rather than 5m0s, and uses days from two days on.
func FormatDuration(d time.Duration) string {
	if d > day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func setValues[T comparable](d *document, section, key string, from, to []T) error {
	was := func(item T) int { return slices.Index(from, item) }
	return setItems(d, section, key, from, to, was, func(c chunk, _, _ T) (chunk, error) { return c, nil })
}

// setItems changes a list. was returns the old index of a new item, or -1. Items in block style keep their text and the
// comments right above them; rewrite changes the text of an item.
func setItems[T any](d *document, section, key string, from, to []T, was func(T) int,
	rewrite func(c chunk, from, to T) (chunk, error),
) error {
	list, err := d.find(section, key)
	if err != nil {
		return err
	}
	if !isBlockList(list) {
		return d.set(section, key, to)
	}
	chunks, start, end := d.chunks(list)
	if len(chunks) != len(from) {
		return errRewrite
	}
	isClose := func(c chunk) bool { return len(c.loose) == 0 }
	spaced := len(chunks) > 1 && !slices.ContainsFunc(chunks[1:], isClose)
	next, kept := make([]chunk, 0, len(to)), map[int]bool{}
	for _, item := range to {
		var c chunk
		i := was(item)
		if i >= 0 {
			kept[i] = true
			c, err = rewrite(chunks[i], from[i], item)
		} else {
			c.own, err = render([]T{item}, indentOf(chunks[0].own[chunks[0].dashAt()]))
		}
		if err != nil {
			return err
		}
		next = append(next, c)
	}
	for i := range from { // a removed item's loose comments stay in place
		if !kept[i] && !isBlank(chunks[i].loose) {
			next = slices.Insert(next, min(i, len(next)), chunk{loose: chunks[i].loose})
		}
	}
	if spaced {
		space(next)
	}
	var lines []string
	for _, c := range next {
		lines = append(append(lines, c.loose...), c.own...)
	}
	d.replace(start, end, lines)
	if len(to) == 0 {
		return d.set(section, key, to)
	}
	return nil
}

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

// earlier returns a function that finds the old index of a new rule: the rule with the same id, or an equal one whose
// id is gone; -1 if there is none.
func earlier(from, to []policy.Rule) func(policy.Rule) int {
	byID, stays := make(map[string]int, len(from)), make(map[string]bool, len(to))
	for i, r := range from {
		byID[r.ID] = i
	}
	for _, r := range to {
		stays[r.ID] = true
	}
	return func(r policy.Rule) int {
		if i, ok := byID[r.ID]; ok {
			return i
		}
		return slices.IndexFunc(from, func(old policy.Rule) bool {
			id := old.ID
			old.ID = r.ID
			return old.Equal(r) && !stays[id]
		})
	}
}

// withRule changes the differing fields of a rule's text. It writes a rule in braces, or one that would lose its first
// line, anew under its old comments.
func (c chunk) withRule(from, to policy.Rule) (chunk, error) {
	sub := &document{lines: slices.Clone(c.own)}
	for _, f := range diff(from, to) {
		list, err := sub.root()
		if err != nil {
			return chunk{}, err
		}
		if !isBlockList(list) || len(list.Content) != 1 || list.Content[0].Kind != yaml.MappingNode {
			return chunk{}, errRewrite
		}
		item := list.Content[0]
		isGone := reflect.ValueOf(f.to).IsZero()
		if item.Style&yaml.FlowStyle != 0 || isGone && item.Content[0].Value == f.key {
			return c.rewritten(to)
		}
		if isGone {
			name, _ := entry(item, f.key)
			start, end := sub.span(name)
			sub.replace(start, end, nil)
		} else if err := sub.setIn(item, f.key, f.to); err != nil {
			return chunk{}, err
		}
	}
	return chunk{loose: c.loose, own: sub.lines}, nil
}

func (c chunk) rewritten(r policy.Rule) (chunk, error) {
	dash := c.dashAt()
	lines, err := render([]policy.Rule{r}, indentOf(c.own[dash]))
	return chunk{loose: c.loose, own: append(slices.Clone(c.own[:dash]), lines...)}, err
}
