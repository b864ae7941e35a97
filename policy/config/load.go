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
	"time"
	"unicode/utf8"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"nod/ownfile"
	"nod/policy"
)

// maxProblems is how many mistakes in a file are told at once.
const maxProblems = 20

// A fileError says what is wrong with a file, where, and what is wanted. One file may have several: they
// are joined, in the order of their lines.
type fileError struct {
	File    string // path, or the name of an environment variable
	Line    int    // from 1; 0 when the file as a whole is meant
	Key     string // as in "policy.rules[2].effect"; empty when no key is meant
	Problem string
}

func (e *fileError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		b.WriteString(":" + strconv.Itoa(e.Line))
	}
	if e.Key != "" {
		b.WriteString(": " + e.Key)
	}
	return b.String() + ": " + e.Problem
}

// Check loads a configuration file strictly, without the environment's overrides. A file that does not
// exist is an error here.
func Check(path string) (Config, error) {
	data, err := ownfile.Read(path)
	if err != nil {
		return Config{}, err
	}
	return parse(data, path, nil)
}

// TestExamples reads a configuration and tries every example in it. Unlike [Check] it does not refuse a file
// whose examples fail; everything else that is wrong with the file is an error.
func TestExamples(path string) ([]policy.ExampleResult, error) {
	data, err := ownfile.Read(path)
	if err != nil {
		return nil, err
	}
	o, cfg, err := decode(data, path, nil)
	if err != nil {
		return nil, err
	}
	if err := o.refuseAll(cfg.problems()); err != nil {
		return nil, err
	}
	return cfg.Policy.TryExamples(policy.DefaultPlaces()), nil
}

// parse reads a configuration. Whatever it does not understand is an error, and with an error there is no
// configuration at all. Getenv may be nil.
func parse(data []byte, path string, getenv func(string) string) (Config, error) {
	o, cfg, err := decode(data, path, getenv)
	if err != nil {
		return Config{}, err
	}
	if err := o.refuseAll(cfg.allProblems()); err != nil {
		return Config{}, err
	}
	return cfg, nil
}

// parseAccepted is parse for a text that the person accepted, perhaps in an older nod. What it denies must hold even
// where its examples, which are taken out, fail by now.
func parseAccepted(data []byte, path string, getenv func(string) string) (Config, error) {
	o, cfg, err := decode(data, path, getenv)
	if err != nil {
		return Config{}, err
	}
	for i := range cfg.Policy.Rules {
		cfg.Policy.Rules[i].Examples = policy.Examples{}
	}
	return cfg, o.refuseAll(cfg.problems())
}

// decode reads a configuration of the right shape. What its values mean is still to be checked.
func decode(data []byte, path string, getenv func(string) string) (*outline, Config, error) {
	o, err := newOutline(data, path)
	if err != nil {
		return nil, Config{}, err
	}
	v, err := merge(o, getenv)
	if err != nil {
		return nil, Config{}, err
	}
	cfg := Default()
	if err := v.Unmarshal(&cfg, strictly); err != nil {
		return nil, Config{}, &fileError{File: path, Problem: err.Error()}
	}
	cfg.Policy.Normalize()
	return o, cfg, nil
}

// strictly makes viper's decoding refuse what no field takes, read durations, and put lists in the place of those that
// are the default.
func strictly(c *mapstructure.DecoderConfig) {
	c.TagName = "yaml"
	c.ErrorUnused = true
	c.ZeroFields = true
	c.WeaklyTypedInput = true // the environment knows only texts; the file's types were checked before
	c.DecodeHook = func(_, to reflect.Type, value any) (any, error) {
		if text, isText := value.(string); isText && to == reflect.TypeFor[time.Duration]() {
			return ParseDuration(text)
		}
		return value, nil
	}
}

// newOutline parses the file and checks its shape.
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
		return nil, syntaxError(err, path)
	}
	if err := decoder.Decode(&more); err == nil {
		return nil, &fileError{File: path, Line: more.Line, Problem: "a second document starts here: want one"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxError(err, path)
	}
	o.root = doc.Content[0]
	o.check(o.root, fileSchema, "")
	return o, o.err()
}

// checkEncoding refuses what is no text in UTF-8. The YAML parser would read some of it, but the seal cannot keep it;
// and of the rest the parser does not say where it is.
func checkEncoding(data []byte, path string) error {
	const want = "save it as UTF-8"
	switch start := string(data[:min(len(data), 4)]); {
	case strings.HasPrefix(start, "\xff\xfe\x00\x00"), strings.HasPrefix(start, "\x00\x00\xfe\xff"):
		return &fileError{File: path, Problem: "this is UTF-32: " + want}
	case strings.HasPrefix(start, "\xff\xfe"), strings.HasPrefix(start, "\xfe\xff"),
		len(start) > 1 && (start[0] == 0) != (start[1] == 0): // letters of Latin, without a mark of their order
		return &fileError{File: path, Problem: "this is UTF-16: " + want}
	}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if !utf8.Valid(line) {
			return &fileError{File: path, Line: i + 1, Problem: "this is not UTF-8: " + want}
		}
		if at := bytes.IndexFunc(line, isControl); at >= 0 {
			odd, _ := utf8.DecodeRune(line[at:])
			return &fileError{File: path, Line: i + 1, Problem: fmt.Sprintf("YAML allows no %U: remove it", odd)}
		}
	}
	return nil
}

// isControl reports whether YAML allows a character nowhere.
func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\r' || r >= 0x7f && r < 0xa0 && r != 0x85 || r == 0xfffe || r == 0xffff
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// syntaxError puts the line that the YAML parser names where all other errors have it.
func syntaxError(err error, path string) error {
	text := err.Error()
	m := yamlLine.FindStringSubmatch(text)
	line, _ := strconv.Atoi(m[1])
	return &fileError{File: path, Line: line, Problem: "this is not YAML: " + text[len(m[0]):]}
}

// merge puts together file and environment in a viper of its own: nothing is left over from an
// earlier load.
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
	for _, section := range fileSchema.keys {
		for _, f := range section.schema.keys {
			key, variable := section.name+"."+f.name, strings.ToUpper("nod_"+section.name+"_"+f.name)
			value := getenv(variable)
			if value == "" || section.name == "policy" || f.schema.check == nil { // policy must be readable in one place
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

// envNode is the value of an environment variable as if it stood in the file: true and false and whole numbers are
// what they are called, everything else is a text.
func envNode(value string) *yaml.Node {
	tag := "!!str"
	if value == "true" || value == "false" {
		tag = "!!bool"
	} else if _, err := strconv.Atoi(value); err == nil {
		tag = "!!int"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

// refuseAll joins the problems of the values to those that there are.
func (o *outline) refuseAll(found []*policy.FieldError) error {
	for _, e := range found {
		o.refuse(o.line(e.Key), e.Key, "%s", e.Problem)
	}
	return o.err()
}

// line finds the line of a key, or of the nearest key around it.
func (o *outline) line(key string) int {
	for key != "" {
		if line, ok := o.lines[key]; ok {
			return line
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return 0
}

// err joins the problems, the first lines first.
func (o *outline) err() error {
	slices.SortStableFunc(o.problems, func(a, b *fileError) int { return cmp.Compare(a.Line, b.Line) })
	var errs []error
	for i, p := range o.problems {
		if i == maxProblems {
			errs = append(errs, &fileError{File: o.path, Problem: fmt.Sprintf("and %d more", len(o.problems)-i)})
			break
		}
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}
