package tree

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// Module is a Go module that is linked into a program.
type Module struct {
	Path, Version, Sum string
	Dir                string // its sources
}

// Modules returns what is linked into any of the programs beside nod itself, sorted by path.
func Modules(root string, programs []string) ([]Module, error) {
	linked := map[string]Module{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, fmt.Errorf("what is linked into %s: %w", program, err)
		}
		for _, m := range info.Deps {
			if m.Replace != nil && !build.IsLocalImport(m.Replace.Path) { // a part of it that is here goes by its own name
				m = m.Replace
			}
			linked[m.Path] = Module{Path: m.Path, Version: m.Version, Sum: m.Sum}
		}
	}
	dirs, err := moduleDirs(root)
	if err != nil {
		return nil, err
	}
	var all []Module
	for _, m := range linked {
		m.Dir = dirs[m.Path+"@"+m.Version]
		if m.Dir == "" {
			return nil, fmt.Errorf("the sources of %s@%s are not here: run go mod download", m.Path, m.Version)
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// moduleDirs says where the sources of the modules are that nod can be built from.
func moduleDirs(root string) (map[string]string, error) {
	list := exec.Command("go", "list", "-m", "-json=Path,Version,Dir,Replace", "all")
	list.Dir = root
	out, err := output(list)
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct {
			Path, Version, Dir string
			Replace            *struct{ Path, Version, Dir string }
		}
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return dirs, nil
		} else if err != nil {
			return nil, err
		}
		dirs[m.Path+"@"+m.Version] = m.Dir
		if m.Replace != nil {
			dirs[m.Replace.Path+"@"+m.Replace.Version] = m.Replace.Dir
		}
	}
}

// licenceFile matches what licences ask to be passed on.
var licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice|copyright|patents|ofl)([-._].*)?$`)

// skipped matches the folders whose files are not linked into anything.
var skipped = regexp.MustCompile(`^(\..+|testdata|tests?|fuzz|cmd|_?examples?|docs?|vendor)$`)

// Licences returns the texts of a module that its licence asks to be passed on, by file. Some are below: those of
// fonts, of C sources.
func (m Module) Licences() (map[string][]byte, error) {
	texts := map[string][]byte{}
	err := filepath.WalkDir(m.Dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && skipped.MatchString(d.Name()) {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || !licenceFile.MatchString(d.Name()) || strings.HasSuffix(d.Name(), ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(m.Dir, path)
		texts[filepath.ToSlash(name)] = bytes.TrimSpace(text)
		return err
	})
	if err == nil && len(texts) == 0 {
		err = fmt.Errorf("%s has no licence", m.Path)
	}
	return texts, err
}

// addLicences adds nod's own licence and, in one file, those of all that is linked into the programs.
func (t *Tree) addLicences(root, dir string, programs []string) error {
	modules, err := Modules(root, programs)
	if err != nil {
		return err
	}
	text, err := thirdParty(modules)
	if err != nil {
		return err
	}
	t.add(dir+"THIRD-PARTY", text, 0o644)
	return t.copy(filepath.Join(root, "LICENSE"), dir+"LICENSE", 0o644)
}

// thirdParty is every licence once, below the names of all that it is for.
func thirdParty(modules []Module) ([]byte, error) {
	goroot, err := output(exec.Command("go", "env", "GOROOT"))
	if err != nil {
		return nil, err
	}
	std := Module{Path: "Go", Version: runtime.Version(), Dir: strings.TrimSpace(string(goroot))}
	modules = append([]Module{std}, modules...)
	var texts []string // in the order in which they turn up
	users := map[string][]string{}
	for _, m := range modules {
		licences, err := m.Licences()
		if err != nil {
			return nil, err
		}
		for _, file := range slices.Sorted(maps.Keys(licences)) {
			text := string(licences[file])
			if users[text] == nil {
				texts = append(texts, text)
			}
			users[text] = append(users[text], fmt.Sprintf("%s %s: %s", m.Path, m.Version, file))
		}
	}
	var b bytes.Buffer
	b.WriteString("nod is linked with the modules below. Each line names a file of a module; its text follows.\n")
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("-", 80), strings.Join(users[text], "\n"), text)
	}
	return b.Bytes(), nil
}
