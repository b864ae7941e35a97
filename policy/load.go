package policy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"
)

// Limits of a configuration file.
const (
	maxFile     = 1 << 20 // bytes
	maxRules    = 20_000
	maxProblems = 20 // told at once
)

// A FileError says what is wrong with a file, where, and what is wanted. One file may have several: they
// are joined, in the order of their lines.
type FileError struct {
	File    string // path, or the name of an environment variable
	Line    int    // from 1; 0 when the file as a whole is meant
	Key     string // as in "policy.rules[2].effect"; empty when no key is meant
	Problem string
}

func (e *FileError) Error() string {
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
	data, err := readFile(path)
	if err != nil {
		return Config{}, err
	}
	return parse(data, path, nil)
}

// load reads the configuration that counts: defaults, under the file if there is one, under the environment.
func load(path string, getenv func(string) string) (Config, error) {
	data, err := readFile(path)
	if errors.Is(err, os.ErrNotExist) {
		data, err = nil, nil
	}
	if err != nil {
		return Config{}, err
	}
	return parse(data, path, getenv)
}

// parse reads a configuration. Whatever it does not understand is an error, and with an error there is no
// configuration at all. Getenv may be nil.
func parse(data []byte, path string, getenv func(string) string) (Config, error) {
	o, cfg, err := decode(data, path, getenv)
	if err != nil {
		return Config{}, err
	}
	problems := cfg.problems()
	if len(problems) == 0 { // an example of a rule that is wrong itself says nothing
		problems = cfg.Policy.exampleProblems(DefaultPlaces())
	}
	for _, e := range problems {
		o.refuse(o.line(e.Key), e.Key, "%s", e.Problem)
	}
	if err := o.err(path, getenv); err != nil {
		return Config{}, err
	}
	return cfg, nil
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
	var cfg Config
	if err := v.Unmarshal(&cfg, strictly); err != nil {
		return nil, Config{}, &FileError{File: path, Problem: err.Error()}
	}
	cfg.Policy.normalize()
	return o, cfg, nil
}

// strictly makes viper's decoding refuse what no field takes, and read durations.
func strictly(c *mapstructure.DecoderConfig) {
	c.ErrorUnused = true
	c.WeaklyTypedInput = true // the environment knows only texts; the file's types were checked before
	c.DecodeHook = mapstructure.StringToTimeDurationHookFunc()
}

// newOutline parses the file and checks its shape.
func newOutline(data []byte, path string) (*outline, error) {
	o := &outline{lines: map[string]int{}}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
		return o, nil
	} else if err != nil {
		return nil, syntaxError(err, path)
	}
	if err := decoder.Decode(&more); err == nil {
		return nil, &FileError{File: path, Line: more.Line, Problem: "a second document starts here: want one"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxError(err, path)
	}
	o.root = doc.Content[0]
	o.check(o.root, fileSchema, "")
	return o, o.err(path, nil)
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// syntaxError puts the line that the YAML parser names where all other errors have it.
func syntaxError(err error, path string) error {
	text := err.Error()
	m := yamlLine.FindStringSubmatch(text)
	line, _ := strconv.Atoi(m[1])
	return &FileError{File: path, Line: line, Problem: "this is not YAML: " + text[len(m[0]):]}
}

// merge puts together defaults, file and environment in a viper of its own: nothing is left over from an
// earlier load.
func merge(o *outline, getenv func(string) string) (*viper.Viper, error) {
	v := viper.New()
	setDefaults(v)
	if o.root != nil {
		var values map[string]any
		if err := o.root.Decode(&values); err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
		if err := v.MergeConfigMap(values); err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
	}
	if getenv == nil {
		return v, nil
	}
	var problems []error
	fileSchema.overrides("", func(key string, f field) {
		value := getenv(f.env)
		if value == "" {
			return
		}
		if problem := f.schema.check(envNode(value)); problem != "" {
			problems = append(problems, &FileError{File: f.env, Key: key, Problem: problem})
			return
		}
		o.lines[key] = 0
		v.Set(key, value)
	})
	return v, errors.Join(problems...)
}

// envNode is the value of an environment variable as if it stood in the file: true and false are what they
// are called, everything else is a text.
func envNode(value string) *yaml.Node {
	tag := "!!str"
	if value == "true" || value == "false" {
		tag = "!!bool"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

func setDefaults(v *viper.Viper) {
	d := Default()
	v.SetDefault("ipc.address", d.IPC.Address)
	v.SetDefault("prompt.timeout", d.Prompt.Timeout)
	v.SetDefault("prompt.arm_after", d.Prompt.ArmAfter)
	v.SetDefault("prompt.on_top", d.Prompt.OnTop)
	v.SetDefault("notifications.prompts", d.Notifications.Prompts)
	v.SetDefault("notifications.notices", d.Notifications.Notices)
	v.SetDefault("look.theme", d.Look.Theme)
	v.SetDefault("look.language", d.Look.Language)
	v.SetDefault("policy.auto_allow", d.Policy.AutoAllow)
	v.SetDefault("policy.ask_everything", d.Policy.AskEverything)
	v.SetDefault("policy.trusted_agents", d.Policy.TrustedAgents)
	v.SetDefault("policy.rules", d.Policy.Rules)
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
func (o *outline) err(path string, getenv func(string) string) error {
	slices.SortStableFunc(o.problems, func(a, b problem) int { return cmp.Compare(a.line, b.line) })
	var errs []error
	for i, p := range o.problems {
		if i == maxProblems {
			errs = append(errs, &FileError{File: path, Problem: fmt.Sprintf("and %d more", len(o.problems)-i)})
			break
		}
		errs = append(errs, &FileError{File: source(p, path, getenv), Line: p.line, Key: p.Key, Problem: p.Problem})
	}
	return errors.Join(errs...)
}

// source names what set the value that is wrong: the environment, where it overrides the file.
func source(p problem, path string, getenv func(string) string) string {
	name := path
	fileSchema.overrides("", func(key string, f field) {
		if getenv != nil && key == p.Key && getenv(f.env) != "" {
			name = f.env
		}
	})
	return name
}
