package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
)

// A description may declare tools in TypeScript, which a model calls from a program that it writes.
var (
	calledInCode = regexp.MustCompile(`(?s)declare const tools: \{ (\w+)\(args: \{(.*?)\}\): Promise`)
	textInCode   = regexp.MustCompile(`declare const tools: \{ (\w+)\(input: string\)`)
	fieldInCode  = regexp.MustCompile(`(?m)^  (\w+)\??:`)
)

// inCode adds the tools that a description declares, with one field for what takes a text.
func inCode(all map[string][]string, description string) {
	for _, match := range calledInCode.FindAllStringSubmatch(description, -1) {
		found := map[string]bool{}
		for _, field := range fieldInCode.FindAllStringSubmatch(match[2], -1) {
			found[field[1]] = true
		}
		if !strings.HasPrefix(match[1], "mcp__") {
			add(all, strings.Replace(match[1], "__", "", 1), found)
		}
	}
	for _, match := range textInCode.FindAllStringSubmatch(description, -1) {
		add(all, match[1], map[string]bool{})
	}
}

// Of the types that Claude Code's package declares, those of inputs are named after tools, but for these.
var namedOtherwise = map[string]string{
	"FileEdit": "Edit", "FileRead": "Read", "FileWrite": "Write", "ListMcpResources": "ListMcpResourcesTool",
	"ReadMcpResource": "ReadMcpResourceTool", "ReadMcpResourceDir": "ReadMcpResourceDirTool",
	"ProposeSkills": "propose_skills", "Mcp": "", // those of servers
}

func toolOf(declared string) string {
	if other, ok := namedOtherwise[declared]; ok {
		return other
	}
	return declared
}

var (
	declaration = regexp.MustCompile(`^export interface (\w+)Input \{`)
	property    = regexp.MustCompile(`^"?([\w-]+)"?\??:( |$)`)
)

// declared adds the tools whose input a file of TypeScript declares: some are offered only to who has a subscription.
func declared(all map[string][]string, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var d *declares
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		head := declaration.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "*"), strings.HasPrefix(line, "/*"):
			continue
		case head != nil:
			d = &declares{tool: toolOf(head[1]), fields: map[string]bool{}, isOver: strings.HasSuffix(line, "{}")}
		case d != nil:
			d.read(line)
		}
		if d != nil && d.isOver {
			if d.tool != "" {
				add(all, d.tool, leaves(d.fields))
			}
			d = nil
		}
	}
	return nil
}

// declares is the declaration of a tool's input, as far as it was read.
type declares struct {
	tool   string
	fields map[string]bool
	within []string // the fields around the line; empty for a list or a choice
	open   string   // the field whose type goes on
	isOver bool
}

func (d *declares) read(line string) {
	if p := property.FindStringSubmatch(line); p != nil {
		d.open = p[1]
		d.fields[path(append(d.within, d.open))] = true
	}
	goesOn := !strings.HasSuffix(line, ";")
	if !goesOn {
		d.open = ""
	}
	if strings.HasSuffix(line, "{") || strings.HasSuffix(line, "[") {
		d.within, d.open = append(d.within, d.open), ""
	}
	last := len(d.within) - 1
	switch closes := strings.HasPrefix(line, "}") || strings.HasPrefix(line, "]"); {
	case closes && last < 0:
		d.isOver = true
	case closes && goesOn: // a choice follows, or more of the list
		d.within, d.open = d.within[:last], d.within[last]
	case closes:
		d.within = d.within[:last]
	}
}

// path joins the names of fields that lie in each other, without the lists and choices between them.
func path(names []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" }), ".")
}

// leaves are the fields without those that hold others.
func leaves(found map[string]bool) map[string]bool {
	all := map[string]bool{}
	for name := range found {
		holds := false
		for other := range found {
			holds = holds || strings.HasPrefix(other, name+".")
		}
		if !holds {
			all[name] = true
		}
	}
	return all
}
