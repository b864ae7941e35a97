package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"nod/ownfile"
	"nod/policy"
)

const maxProblems = 20

// A fileError is one mistake in a file, with its place and what nod expects instead. Several are joined in the order of
// their lines.
type fileError struct {
	file    string // path, or the name of an environment variable
	line    int    // from 1; 0: the whole file
	key     string // as in "policy.rules[2].effect"; may be empty
	problem string
}

func (e *fileError) Error() string {
	place := e.file
	if e.line > 0 {
		place += ":" + strconv.Itoa(e.line)
	}
	if e.key != "" {
		place += ": " + e.key
	}
	return place + ": " + e.problem
}

// Check loads a configuration file strictly, without the environment's overrides. It fails if the file does not exist.
func Check(path string) (Config, error) {
	data, err := ownfile.Read(path)
	if err != nil {
		return Config{}, err
	}
	return parse(data, path, nil)
}

// TestExamples reads a configuration and tries every example in it. Unlike [Check] it accepts a file whose examples
// fail.
func TestExamples(path string) ([]policy.ExampleResult, error) {
	data, err := ownfile.Read(path)
	if err != nil {
		return nil, err
	}
	cfg, err := decode(data, path, nil, (*Config).problems)
	if err != nil {
		return nil, err
	}
	return cfg.Policy.TryExamples(policy.DefaultPlaces()), nil
}

// parse reads a configuration. It returns none if any part of the file is wrong. Getenv may be nil.
func parse(data []byte, path string, getenv func(string) string) (Config, error) {
	return decode(data, path, getenv, (*Config).allProblems)
}

// parseAccepted is parse for a text that the user accepted, perhaps in an older nod. It ignores examples: a denial must
// hold even if an example fails by now.
func parseAccepted(data []byte, path string, getenv func(string) string) (Config, error) {
	return decode(data, path, getenv, func(cfg *Config) []*policy.FieldError {
		for i := range cfg.Policy.Rules {
			cfg.Policy.Rules[i].Examples = policy.Examples{}
		}
		return cfg.problems()
	})
}

// decode reads a configuration, and refuses it if problems finds any.
func decode(
	data []byte, path string, getenv func(string) string, problems func(*Config) []*policy.FieldError,
) (Config, error) {
	o, err := newOutline(data, path)
	if err != nil {
		return Config{}, err
	}
	v, err := merge(o, getenv)
	if err != nil {
		return Config{}, err
	}
	cfg := Default()
	if err := v.Unmarshal(&cfg, strictly); err != nil {
		return Config{}, &fileError{file: path, problem: err.Error()}
	}
	cfg.Policy.Normalize()
	for _, p := range problems(&cfg) {
		o.refuse(o.line(p.Key), p.Key, "%s", p.Problem)
	}
	if err := o.err(); err != nil {
		return Config{}, err
	}
	return cfg, nil
}

// strictly makes viper refuse unknown fields, read durations, and replace default lists instead of merging them.
func strictly(c *mapstructure.DecoderConfig) {
	c.TagName = "yaml"
	c.ErrorUnused = true
	c.ZeroFields = true
	c.WeaklyTypedInput = true // environment variables are text; the file's types are checked already
	c.DecodeHook = func(_, to reflect.Type, value any) (any, error) {
		if text, isText := value.(string); isText && to == reflect.TypeFor[time.Duration]() {
			return ParseDuration(text)
		}
		return value, nil
	}
}

func newOutline(data []byte, path string) (*outline, error) {
	if err := checkEncoding(data, path); err != nil {
		return nil, err
	}
	o := &outline{path: path, lines: map[string]int{}, env: map[string]string{}}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
		return o, nil
	} else if err != nil {
		return nil, syntaxError(err, data, path)
	}
	if err := decoder.Decode(&more); err == nil {
		return nil, &fileError{file: path, line: more.Line, problem: "a second document starts here: want one"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxError(err, data, path)
	}
	o.root = doc.Content[0]
	o.check(o.root, fileSchema(), "")
	return o, o.err()
}

// checkEncoding refuses text that is not UTF-8. The YAML parser would accept some of it, which the seal cannot keep,
// and reports no line for the rest.
func checkEncoding(data []byte, path string) error {
	const want = "save it as UTF-8"
	switch start := string(data[:min(len(data), 4)]); {
	case strings.HasPrefix(start, "\xff\xfe\x00\x00"), strings.HasPrefix(start, "\x00\x00\xfe\xff"):
		return &fileError{file: path, problem: "this is UTF-32: " + want}
	case strings.HasPrefix(start, "\xff\xfe"), strings.HasPrefix(start, "\xfe\xff"),
		len(start) > 1 && (start[0] == 0) != (start[1] == 0): // UTF-16 of Latin letters without a byte order mark
		return &fileError{file: path, problem: "this is UTF-16: " + want}
	}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if !utf8.Valid(line) {
			return &fileError{file: path, line: i + 1, problem: "this is not UTF-8: " + want}
		}
		if at := bytes.IndexFunc(line, isControl); at >= 0 {
			odd, _ := utf8.DecodeRune(line[at:])
			return &fileError{file: path, line: i + 1, problem: fmt.Sprintf("YAML allows no %U: remove it", odd)}
		}
	}
	return nil
}

// isControl reports whether YAML forbids the character everywhere.
func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\r' || r >= 0x7f && r < 0xa0 && r != 0x85 || r == 0xfffe || r == 0xffff
}

var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`) })

// fromZero matches the errors whose lines the YAML parser counts from 0. Of all errors it omits the first line.
var fromZero = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(did not find expected (',' or|'-'|<|key|node)|found (duplicate|incompatible|undefined) )`)
})

// syntaxError moves the line from the YAML parser's message into a [fileError]. What is missing at the end of the file
// is missing in its last line with text.
func syntaxError(err error, data []byte, path string) error {
	text := err.Error()
	m := yamlLine().FindStringSubmatch(text)
	line, _ := strconv.Atoi(m[1])
	problem := text[len(m[0]):]
	if fromZero().MatchString(problem) || line == 0 && !strings.HasPrefix(problem, "unknown anchor ") {
		line++
	}
	line = min(line, 1+bytes.Count(bytes.TrimRight(data, " \t\r\n"), []byte("\n")))
	return &fileError{file: path, line: line, problem: "this is not YAML: " + problem}
}

// merge combines file and environment in a new viper, so that nothing of an earlier load is left.
func merge(o *outline, getenv func(string) string) (*viper.Viper, error) {
	v := viper.New()
	if o.root != nil {
		var values map[string]any
		err := o.root.Decode(&values)
		if err == nil {
			err = v.MergeConfigMap(values)
		}
		if err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
	}
	if getenv == nil {
		return v, nil
	}
	for _, section := range fileSchema().keys {
		for _, f := range section.schema.keys {
			key, variable := section.name+"."+f.name, strings.ToUpper("nod_"+section.name+"_"+f.name)
			value := getenv(variable)
			if value == "" || section.name == "policy" || f.schema.check == nil { // the policy must be readable in one place
				continue
			}
			o.lines[key], o.env[key] = 0, variable
			if problem := f.schema.check(envNode(value)); problem != "" {
				o.refuse(0, key, "%s", problem)
			}
			v.Set(key, value)
		}
	}
	return v, o.err()
}

// envNode is the YAML node of an environment variable's value: a boolean, a whole number or text.
func envNode(value string) *yaml.Node {
	tag := "!!str"
	if value == "true" || value == "false" {
		tag = "!!bool"
	} else if _, err := strconv.Atoi(value); err == nil {
		tag = "!!int"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

func (o *outline) line(key string) int {
	for key != "" {
		if line, ok := o.lines[key]; ok {
			return line
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return 0
}

func (o *outline) err() error {
	slices.SortStableFunc(o.problems, func(a, b *fileError) int { return cmp.Compare(a.line, b.line) })
	var errs []error
	for i, p := range o.problems {
		if i == maxProblems {
			errs = append(errs, &fileError{file: o.path, problem: fmt.Sprintf("and %d more", len(o.problems)-i)})
			break
		}
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}
