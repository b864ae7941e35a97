package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"

	"nod/ownfile"
)

const (
	maxSettings = 1 << 20 // bytes of one file with settings

	// runKeys end the names of settings with a command, or with words of one.
	runKeys = commandKeys + " powershell notify helper refresh export"
)

// agentSettings match the files of a project in which agents and editors are told what to run by themselves.
var agentSettings = []string{
	".mcp.json", "opencode.json*", ".*/settings*.json", ".*/hooks*.json", ".*/mcp*.json", ".*/tasks.json",
	".*/devcontainer.json", ".*/config.toml", ".*/hooks/*.json",
}

// agentsRun returns the files of a project that settings of agents name in commands. It fails if the system kept it
// from reading some.
func agentsRun(project string) (files []string, failed error) {
	for _, pattern := range agentSettings {
		paths, err := ownfile.Glob(project, pattern)
		failed = errors.Join(failed, err)
		for _, path := range paths {
			text, err := ownfile.ReadBehind(path, maxSettings)
			if ownfile.SaysNothing(err) {
				failed = errors.Join(failed, err)
			}
			settings, _ := ReadSettings(path, text)
			files = append(files, filesRun(project, settings, false)...)
		}
	}
	return files, failed
}

// maxNested is how many brackets, or in TOML dots, settings may hold: reading a million, one inside the other, would
// end nod.
const maxNested = 10_000

var errNested = fmt.Errorf("it has more than %d brackets or dots", maxNested)

// ParseSettings reads settings in JSON, with comments and trailing commas.
func ParseSettings(text []byte) (hujson.Value, error) {
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxNested {
		return hujson.Value{}, errNested
	}
	return hujson.Parse(text)
}

// ReadSettings returns the values in a file of settings: TOML if its name ends in .toml, else JSON as [ParseSettings]
// reads it. If it fails, it returns what it has read.
func ReadSettings(name string, text []byte) (settings map[string]any, err error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // a byte order mark
	if filepath.Ext(name) != ".toml" {
		value, err := ParseSettings(text)
		if err != nil {
			return nil, err
		}
		value.Standardize()
		err = json.Unmarshal(value.Pack(), &settings)
		return settings, err
	}
	if bytes.Count(text, []byte(".")) > maxNested {
		return nil, errNested
	}
	err = toml.Unmarshal(text, &settings)
	return settings, err
}

// filesRun returns the files of a project in a value of settings, which isRun says is part of a command.
func filesRun(project string, value any, isRun bool) (files []string) {
	switch v := value.(type) {
	case map[string]any:
		for key, value := range v {
			files = append(files, filesRun(project, value, isRun || runKeys.Has(lastWord(key)))...)
		}
	case []any:
		for _, value := range v {
			files = append(files, filesRun(project, value, isRun)...)
		}
	case string:
		if !isRun {
			break
		}
		for word := range strings.FieldsFuncSeq(v, isBetweenPaths) {
			_, behind, _ := strings.Cut(word, "/") // of a variable that holds the project's folder
			paths := []string{filepath.Join(project, word), filepath.Join(project, behind)}
			if filepath.IsAbs(word) {
				paths = append(paths, word)
			}
			for _, path := range paths {
				info, err := os.Stat(path)
				if ownfile.SaysNothing(err) || err == nil && info.Mode().IsRegular() {
					real, _ := filepath.EvalSymlinks(path)
					files = append(files, path, cmp.Or(real, path))
				}
			}
		}
	}
	return files
}
