package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// mayImport says which of nod's own packages each package may import. What those may import it reaches as well.
// A package that is missing here fails the test, so that nobody forgets to think.
var mayImport = map[string][]string{
	"nod":                      {"nod/app", "nod/ownfile/ownprocess", "nod/version"},
	"nod/agents/agent":         {"nod/ipc/hooks", "nod/ipc/programs", "nod/policy/replay"},
	"nod/agents/claude":        {"nod/agents/agent", "nod/agents/claude/prefix", "nod/agents/jsonl"},
	"nod/agents/claude/prefix": {},
	"nod/agents/codex":         {"nod/agents/agent", "nod/agents/claude", "nod/agents/jsonl"},
	"nod/agents/jsonl":         {},
	"nod/agents/registry":      {"nod/agents/agent", "nod/agents/jsonl", "nod/ipc/peer", anyAgent},
	anyAgent:                   {"nod/agents/agent", "nod/agents/claude"},
	"nod/cmd/nod-dialogs": {
		"nod/app/desktop", "nod/dialogs/history", "nod/dialogs/settings", "nod/ownfile/ownprocess", "nod/version",
	},
	"nod/assets":     {},
	"nod/assets/gen": {},
	"nod/dialogs": {
		"nod/assets", "nod/dialogs/prompt", "nod/interact", "nod/ipc/operator", "nod/policy/basefile",
	},
	"nod/dialogs/prompt":     {"nod/assets", "nod/dialogs/safetext", "nod/interact", "nod/policy/basefile"},
	"nod/dialogs/safetext":   {"nod/policy/invisible"},
	"nod/api":                {},
	"nod/changes":            {},
	"nod/ipc/peer":           {"nod/api"},
	"nod/ipc/acp":            {"nod/api"},
	"nod/ipc":                {"nod/api", "nod/ipc/peer", "nod/ipc/endpoint", "nod/ipc/hooks", "nod/ipc/mcp"},
	"nod/ipc/client":         {"nod/api", "nod/ipc/endpoint", "nod/ipc/peer"},
	"nod/ipc/client/waiting": {"nod/ipc/client", "nod/policy/process"},
	"nod/ipc/endpoint":       {"nod/ownfile"},
	"nod/ipc/hooks":          {"nod/interact"},
	"nod/ipc/mcp":            {"nod/interact", "nod/api"},
	"nod/ipc/operator": {
		"nod/interact/history", "nod/ipc/endpoint", "nod/ipc/remote", "nod/policy/config", "nod/sandbox/snapshot",
	},
	"nod/ipc/remote":         {"nod/interact"},
	"nod/ipc/remote/book":    {"nod/ipc/remote"},
	"nod/ipc/remote/cluster": {"nod/ipc/remote/session"},
	"nod/ipc/remote/session": {"nod/ipc/remote", "nod/policy/config"},
	"nod/ipc/device":         {"nod/ipc/remote", "nod/ownfile"},
	"nod/ipc/device/page":    {},
	"nod/ipc/programs":       {"nod/ownfile"},
	"nod/interact":           {"nod/api", "nod/changes", "nod/policy"},
	"nod/interact/history":   {"nod/interact"},
	"nod/interact/journal": {
		"nod/interact/history", "nod/interact/secrets", "nod/ownfile/ownlog", "nod/policy/config",
	},
	"nod/interact/secrets": {},
	"nod/policy": {
		"nod/ownfile", "nod/policy/git", "nod/policy/invisible", "nod/policy/process", "nod/policy/shell",
	},
	"nod/policy/basefile":       {"nod/policy"},
	"nod/policy/config":         {"nod/changes", "nod/policy"},
	"nod/policy/git":            {"nod/ownfile"},
	"nod/policy/invisible":      {},
	"nod/policy/process":        {"nod/api"},
	"nod/policy/replay":         {"nod/policy"},
	"nod/policy/shell":          {"nod/policy/git", "nod/policy/invisible", "nod/policy/shell/language"},
	"nod/policy/shell/language": {},
	"nod/app/desktop":           {},
	"nod/app": {
		"nod/app/asking", "nod/app/contain", "nod/ipc", "nod/ipc/client", "nod/ownfile/ownlog", "nod/ownfile/ownprocess",
	},
	"nod/app/contain": {
		"nod/interact/history", "nod/interact/secrets", "nod/ipc", "nod/ipc/operator", "nod/sandbox",
		"nod/sandbox/expected", "nod/sandbox/snapshot",
	},
	"nod/app/asking": {
		"nod/agents/registry", "nod/app/desktop", "nod/assets", "nod/dialogs/prompt", "nod/interact/journal",
		"nod/ipc/device", "nod/ipc/device/page", "nod/ipc/operator", "nod/ipc/remote/book", "nod/ipc/remote/cluster",
		"nod/ownfile/ownprocess", "nod/policy/config",
	},
	"nod/app/relay": {
		"nod/agents/registry", "nod/ipc", "nod/ipc/client", "nod/ipc/programs", "nod/ipc/remote/session",
		"nod/ownfile/ownlog", "nod/policy/basefile", "nod/policy/config",
	},
	"nod/dialogs/controls":    {"nod/agents/registry", "nod/dialogs"},
	"nod/dialogs/dialogstest": {"nod/assets"},
	"nod/dialogs/history":     {"nod/agents/registry", "nod/dialogs/controls"},
	"nod/dialogs/settings":    {"nod/agents/registry", "nod/dialogs/controls", "nod/ipc/remote/session"},
	"nod/cmd/nod/doctor": {
		"nod/agents/registry", "nod/app/desktop", "nod/interact/journal", "nod/ipc/client", "nod/ipc/operator",
		"nod/ipc/programs", "nod/ownfile/owndata", "nod/policy/config", "nod/sandbox",
		"nod/version",
	},
	"nod/cmd/nod": {
		"nod/app/relay", "nod/cmd/nod/doctor", "nod/ipc/remote/cluster",
		"nod/agents/registry", "nod/interact/journal", "nod/ipc/acp", "nod/ipc/client", "nod/ipc/mcp", "nod/ownfile/owndata",
		"nod/ipc/client/waiting", "nod/ownfile/ownlog", "nod/ownfile/ownprocess", "nod/policy/config",
		"nod/sandbox", "nod/sandbox/boundary", "nod/sandbox/snapshot", "nod/version",
	},
	"nod/cmd/nod/front": {
		"nod/agents/claude/prefix", "nod/ipc/client/waiting", "nod/ipc/programs", "nod/policy/invisible", "nod/sandbox",
		"nod/sandbox/expected", "nod/sandbox/outside",
	},
	"nod/sandbox":            {"nod/interact/secrets", "nod/sandbox/outside"},
	"nod/sandbox/boundary":   {"nod/policy"},
	"nod/sandbox/expected":   {},
	"nod/sandbox/outside":    {},
	"nod/sandbox/snapshot":   {"nod/ownfile/ownlog", "nod/sandbox/outside"},
	"nod/ownfile":            {},
	"nod/ownfile/owndata":    {},
	"nod/ownfile/ownlog":     {"nod/ownfile"},
	"nod/ownfile/ownprocess": {},
	"nod/version":            {},
	"nod/e2e":                {},
	"nod/e2e/clustertest":    {},
	"nod/e2e/desktop":        {},
	"nod/e2e/devicetest":     {"nod/ipc/device"},
	"nod/e2e/documents":      {"nod/policy/config"},
	"nod/e2e/interacttest":   {"nod/interact"},
	"nod/e2e/ipctest":        {"nod/e2e/interacttest", "nod/ipc", "nod/ipc/client"},
	"nod/e2e/table":          {"nod/agents/registry"},
	"nod/e2e/tools":          {},
	"nod/e2e/virtual":        {"nod/e2e/desktop"},
}

// anyAgent is the package of an agent that has no rule of its own: a new one needs none.
const anyAgent = "nod/agents/..."

// mayDraw are the packages that may link what draws: Fyne's driver and widgets. Everything else runs without cgo and
// without a screen.
var mayDraw = []string{
	"nod/cmd/nod-dialogs", "nod/dialogs", "nod/dialogs/controls", "nod/dialogs/dialogstest",
	"nod/dialogs/history", "nod/dialogs/settings",
}

func TestArrowsPointDown(t *testing.T) {
	packages := listPackages(t)
	for path, allowed := range mayImport {
		if _, exists := packages[path]; !exists && path != anyAgent {
			t.Errorf("%s is named in the rules but does not exist", path)
		}
		for _, rule := range allowed {
			if _, exists := packages[rule]; !exists && !strings.HasSuffix(rule, "/...") {
				t.Errorf("%s may import %s, which does not exist", path, rule)
			}
		}
	}
	for path, deps := range packages {
		allowed, known := mayImport[path]
		if !known && strings.HasPrefix(path, "nod/agents/") {
			allowed, known = mayImport[anyAgent], true
		}
		if !known {
			t.Errorf("%s has no import rule: add it to mayImport", path)
			continue
		}
		for _, dep := range deps {
			if strings.HasPrefix(dep, "nod/") && !permits(allowed, dep) {
				t.Errorf("%s must not reach %s", path, dep)
			}
			if draws(dep) && !slices.Contains(mayDraw, path) {
				t.Errorf("%s must not reach %s", path, dep)
			}
		}
	}
}

// TestHooksLinkLittle lists what the program that agents run on every call may link beside the standard library: what a
// package makes when a program starts, an agent waits for. That program also runs commands in the sandbox.
func TestHooksLinkLittle(t *testing.T) {
	may := []string{
		"nod/agents/claude/prefix", "nod/sandbox", "nod/sandbox/expected", "nod/sandbox/outside",
		"nod/interact/secrets", "nod/policy/invisible", "github.com/pelletier/go-toml/v2",
		"nod/api", "nod/cmd/nod/front", "nod/ipc/client", "nod/ipc/client/waiting", "nod/ipc/endpoint",
		"nod/ipc/peer", "nod/ipc/programs", "nod/ownfile", "nod/policy/process",
		"github.com/adrg/xdg", "github.com/go-json-experiment/json", "github.com/gofrs/flock",
		"github.com/google/renameio/v2", "github.com/google/uuid", "golang.org/x/sys/unix", "golang.org/x/term",
	}
	never := []string{"net/http", "encoding/gob", "html/template", "text/template", "go/ast"}
	for _, dep := range listPackages(t)["nod/cmd/nod/front"] {
		root, _, _ := strings.Cut(dep, "/")
		isOurs := root == "nod" || strings.Contains(root, ".")
		isPart := func(path string) bool { return dep == path || root != "nod" && strings.HasPrefix(dep, path+"/") }
		if isOurs && !slices.ContainsFunc(may, isPart) || slices.Contains(never, dep) {
			t.Errorf("a hook must not link %s", dep)
		}
	}
}

// draws reports whether a package is a part of Fyne beyond its types and its translations.
func draws(dep string) bool {
	for _, part := range []string{"app", "widget", "canvas", "driver", "internal/driver", "internal/painter", "theme"} {
		if strings.HasPrefix(dep+"/", "fyne.io/fyne/v2/"+part+"/") {
			return true
		}
	}
	return strings.HasPrefix(dep, "github.com/go-gl/")
}

func permits(allowed []string, dep string) bool {
	return slices.ContainsFunc(allowed, func(rule string) bool {
		under, all := strings.CutSuffix(rule, "...")
		return rule == dep || all && strings.HasPrefix(dep, under) || permits(mayImport[rule], dep)
	})
}

// listPackages returns every package of the module with all that it reaches, tests left out.
func listPackages(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Deps", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := map[string][]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p struct {
			ImportPath string
			Deps       []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p.Deps
	}
	return packages
}

// TestArchitectureIsDescribed has docs/architecture.md say what every library is for, and what lives in every folder.
func TestArchitectureIsDescribed(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Require {
		name, _, _ := module.SplitPathVersion(r.Mod.Path)
		if !r.Indirect && !bytes.Contains(page, []byte(name)) {
			t.Errorf("docs/architecture.md does not say what %s is for", name)
		}
	}
	for path := range listPackages(t) {
		folder := strings.TrimPrefix(path, "nod/")
		if top, _, _ := strings.Cut(folder, "/"); path != "nod" && top != "cmd" {
			folder = top
		}
		if path != "nod" && !bytes.Contains(page, []byte("| `"+folder+"` |")) && !strings.HasPrefix(folder, "cmd/nod/") {
			t.Errorf("docs/architecture.md does not say what lives in %s", folder)
		}
	}
}
