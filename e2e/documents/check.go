package documents

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"

	"nod/policy/config"
)

// A Problem is what is wrong in a line of a document.
type Problem struct {
	Path string
	Line int
	Err  error
}

func (p Problem) Error() string { return fmt.Sprintf("%s:%d: %v", p.Path, p.Line, p.Err) }

// Unwrap returns what is wrong.
func (p Problem) Unwrap() error { return p.Err }

// Check returns what is wrong with the documents of the repository in the folder root, as far as the text tells.
func Check(root string, documents []Document) []Problem {
	c := checker{root: root, documents: map[string]Document{}}
	for _, d := range documents {
		c.documents[d.Path] = d
	}
	for _, d := range documents {
		c.outline(d)
		for _, b := range d.Blocks {
			c.report(d.Path, b.Line, c.block(b))
		}
		for _, l := range d.Links {
			c.report(d.Path, l.Line, c.link(d, l))
		}
		c.targets(d)
		c.tests(d)
	}
	c.reachable()
	return c.problems
}

type checker struct {
	root      string
	documents map[string]Document
	problems  []Problem
	sources   []byte // of all tests; nil: not read yet
}

func (c *checker) report(path string, line int, err error) {
	if err != nil {
		c.problems = append(c.problems, Problem{path, line, err})
	}
}

func (c *checker) outline(d Document) {
	if len(d.Titles) != 1 && !strings.HasPrefix(d.Path, ".github/") {
		c.report(d.Path, 1, fmt.Errorf("%d headings of the first level, want one", len(d.Titles)))
	}
	for _, line := range d.Indented {
		c.report(d.Path, line, errors.New("indented code: put it between fences, with its language"))
	}
	for _, tag := range d.Tags {
		if !slices.Contains(tags, tag.Text) {
			c.report(d.Path, tag.Line, fmt.Errorf("HTML <%s>: write it as Markdown", tag.Text))
		}
	}
}

// tags are what of HTML there is no Markdown for. None hides code from the tests.
var tags = []string{"a", "br", "details", "img", "picture", "source", "summary"}

// block checks a fenced block by its language.
func (c *checker) block(b Block) error {
	if strings.TrimSpace(b.Text) == "" {
		return errors.New("an empty block")
	}
	check, known := map[string]func(Block) error{
		"sh": checkScript, "console": checkTranscript, "yaml": checkYAML, "json": checkJSON, "jsonc": checkJSONC,
		"toml": checkTOML, "go": c.checkGo, "js": checkText, "text": checkText,
	}[b.Language]
	if !known {
		return fmt.Errorf("block of language %q: want sh, console, yaml, json, jsonc, toml, go, js or text", b.Language)
	}
	return check(b)
}

// only returns an error unless all options of a block are among those that its language has.
func only(b Block, allowed ...string) error {
	for _, option := range b.Options {
		if !slices.Contains(allowed, option) {
			return fmt.Errorf("%s has no option %q: want %s", b.Language, option, strings.Join(allowed, ", "))
		}
	}
	return nil
}

func checkText(b Block) error { return only(b) }

func checkScript(b Block) error {
	var allowed []string
	for _, r := range runners[1:] {
		allowed = append(allowed, "run="+string(r))
	}
	for line := range strings.Lines(b.Text) {
		if strings.HasPrefix(line, "$ ") {
			return errors.New("a prompt in a block of sh: leave it out, or make it a console")
		}
	}
	commands, _ := parseCommands(b.Text) // what cannot be parsed is reported with all commands
	if b.Runner() == Here && slices.ContainsFunc(commands, func(c Command) bool { return c.Words[0] == "make" }) {
		return errors.New("make in a block that the test of the documents runs: say run=make")
	}
	return only(b, allowed...)
}

func checkTranscript(b Block) error {
	if steps := b.Steps(); steps[0].Command == "" {
		return errors.New(`a console begins with "$ " and a command`)
	}
	return only(b)
}

// checkYAML reads a part of config.yaml as strictly as nod does, and tries the examples in it.
func checkYAML(b Block) error {
	if slices.Contains(b.Options, "other") {
		var v any
		return errors.Join(only(b, "other"), yaml.Unmarshal([]byte(b.Text), &v))
	}
	dir, err := os.MkdirTemp("", "nod-documents-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(b.Text), 0o600); err != nil {
		return err
	}
	if _, err := config.Check(file); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), file, "config.yaml"))
	}
	return only(b, "other")
}

func checkJSON(b Block) error {
	var v any
	return errors.Join(only(b), json.Unmarshal([]byte(b.Text), &v))
}

func checkJSONC(b Block) error {
	_, err := hujson.Parse([]byte(b.Text))
	return errors.Join(only(b), err)
}

func checkTOML(b Block) error {
	var v any
	return errors.Join(only(b), toml.Unmarshal([]byte(b.Text), &v))
}

// hosts are where links may lead. No test asks whether a page is still there, so each is somebody's decision.
var hosts = []string{
	"go.dev", "pkg.go.dev", "github.com", "www.apache.org",
	"agentclientprotocol.com", "modelcontextprotocol.io", "www.jsonrpc.org", "www.openapis.org", "swagger.io",
	"zed.dev", "docs.nats.io",
	"code.claude.com", "docs.anthropic.com", "docs.claude.com", "developers.openai.com", "geminicli.com", "opencode.ai",
	"qwenlm.github.io", "docs.github.com", "ampcode.com", "cursor.com", "docs.cursor.com", "code.visualstudio.com",
	"docs.cline.bot", "docs.letta.com", "moonshotai.github.io", "www.kimi.com", "charm.land", "block.github.io",
	"goose-docs.ai", "nodejs.org", "semver.org", "keepachangelog.com", "cyclonedx.org", "spdx.dev",
	"reproducible-builds.org", "nfpm.goreleaser.com", "www.freedesktop.org", "specifications.freedesktop.org",
	"extensions.gnome.org", "wiki.debian.org", "json-schema.org", "www.rfc-editor.org", "html.spec.whatwg.org",
}

// link checks where a link leads, without asking the web.
func (c *checker) link(d Document, l Link) error {
	if l.Image && strings.TrimSpace(l.Text) == "" {
		return fmt.Errorf("picture %s does not say in words what it shows", l.Target)
	}
	u, err := url.Parse(l.Target)
	switch {
	case err != nil:
		return err
	case u.Scheme == "mailto":
		return nil
	case u.Scheme != "" || u.Host != "":
		if u.Scheme != "https" || !slices.Contains(hosts, u.Host) {
			return fmt.Errorf("link to %s: want https and one of the hosts in e2e/documents/check.go", l.Target)
		}
		return nil
	}
	target, inside := c.resolve(d, u.Path)
	if !inside {
		return fmt.Errorf("link to %s leaves the repository", l.Target)
	}
	if _, err := os.Stat(filepath.Join(c.root, target)); err != nil {
		return fmt.Errorf("link to %s: there is no %s", l.Target, target)
	}
	page, isDocument := c.documents[target]
	if u.Fragment != "" && (!isDocument || !slices.Contains(page.Anchors, u.Fragment)) {
		return fmt.Errorf("link to %s: %s has no heading for #%s", l.Target, target, u.Fragment)
	}
	return nil
}

// resolve returns the path of what a relative link in a document leads to. No path is the document itself.
func (c *checker) resolve(d Document, relative string) (target string, inside bool) {
	if relative == "" {
		return d.Path, true
	}
	target = path.Join(path.Dir(d.Path), relative)
	return target, target != ".." && !strings.HasPrefix(target, "../") && !path.IsAbs(relative)
}

// start is the document that people see first.
const start = "README.md"

// reachable reports documents to which no way of links leads from the README. What a public forge shows by itself,
// in .github, needs none.
func (c *checker) reachable() {
	seen := map[string]bool{start: true}
	for next := []string{start}; len(next) > 0; next = next[1:] {
		d := c.documents[next[0]]
		for _, l := range d.Links {
			u, err := url.Parse(l.Target)
			if err != nil || u.Scheme != "" {
				continue
			}
			if target, _ := c.resolve(d, u.Path); !seen[target] && c.documents[target].Path != "" {
				seen[target] = true
				next = append(next, target)
			}
		}
	}
	for path := range c.documents {
		if !seen[path] && !strings.HasPrefix(path, ".github/") {
			c.report(path, 1, fmt.Errorf("no way of links leads here from %s", start))
		}
	}
}

var makeTarget = regexp.MustCompile(`(?m)^([a-z][a-z0-9 -]*):[^=]`)

// targets checks what follows make: a target, or a variable that the Makefile knows.
func (c *checker) targets(d Document) {
	commands, problems := d.Commands("make")
	c.problems = append(c.problems, problems...)
	makefile, err := os.ReadFile(filepath.Join(c.root, "Makefile"))
	if err != nil {
		c.report(d.Path, 1, err)
		return
	}
	var known []string
	for _, line := range makeTarget.FindAllSubmatch(makefile, -1) {
		known = append(known, strings.Fields(string(line[1]))...)
	}
	for _, command := range commands {
		if command.Words[0] != "make" {
			continue
		}
		for _, word := range command.Words[1:] {
			name, _, sets := strings.Cut(word, "=")
			switch {
			case strings.HasPrefix(word, "-") || word == "…":
			case sets && bytes.Contains(makefile, []byte(name)):
			case !sets && slices.Contains(known, word):
			default:
				c.report(d.Path, command.Line, fmt.Errorf("make %s: the Makefile has no %s", word, name))
			}
		}
	}
}

var testName = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)[A-Z]\w*$`)

// tests checks that the tests which a document names exist.
func (c *checker) tests(d Document) {
	for _, s := range d.Spans {
		if !testName.MatchString(s.Text) {
			continue
		}
		if c.sources == nil {
			c.sources = c.testSources()
		}
		if !bytes.Contains(c.sources, []byte("\nfunc "+s.Text+"(")) {
			c.report(d.Path, s.Line, fmt.Errorf("there is no test %s", s.Text))
		}
	}
}

// testSources are all files with tests, one after the other.
func (c *checker) testSources() []byte {
	var all bytes.Buffer
	err := filepath.WalkDir(c.root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != c.root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		all.WriteByte('\n')
		all.Write(source)
		return err
	})
	if err != nil {
		c.report(".", 0, err)
	}
	return all.Bytes()
}
