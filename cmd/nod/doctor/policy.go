package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nod/agents/registry"
	"nod/interact/journal"
	"nod/policy/config"
)

func checkPolicy(_ context.Context, e *exam) []Finding {
	var found []Finding
	if errors.Is(e.configErr, fs.ErrPermission) {
		return []Finding{failure(run("ls -ld %s %s", quote(e.configDir()), quote(e.configPath())), "it cannot be read: %s",
			oneLine(e.configErr))}
	}
	if e.configErr != nil {
		found = append(found, failure(run("${EDITOR:-vi} %s && nod policy check", quote(e.configPath())),
			"nod asks about everything, and denies everything while it isn't running: %s", oneLine(e.configErr)))
	}
	saved := filepath.Join(e.dataDir(), "grants.json")
	if err := config.CheckGrants(saved); err != nil {
		found = append(found, failure(open("Revoke all, on the page of saved approvals in nod's settings: nod settings"),
			"saved approvals don't count: %s", oneLine(err)))
	}
	if e.configErr == nil && !config.IsAccepted(e.dataDir(), e.configPath()) {
		found = append(found, warning(run("nod settings"), "another program changed %s, or the record of the policy you "+
			"accepted: new allow rules don't count until you accept them", e.configPath()))
	}
	for _, name := range e.config.Agents.Strict {
		if _, err := registry.Find(registry.All(), name); err != nil {
			found = append(found, warning(run("${EDITOR:-vi} %s", quote(e.configPath())),
				"agents.strict has %q, which counts for nod acp only: %v", name, err))
		}
	}
	if found == nil {
		found = []Finding{ok("%d rules, no errors", len(e.config.Policy.Rules))}
	}
	return found
}

func oneLine(err error) string { return inOneLine(err.Error()) }

func inOneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), "; ")
}

// readHistory calls do with a reader of the history. The error is fs.ErrNotExist if there is no history.
func (e *exam) readHistory(do func(*journal.Reader) error) error {
	if _, err := os.Stat(e.historyPath()); err != nil {
		return err
	}
	r, err := journal.OpenReader(e.historyPath())
	if err != nil {
		return err
	}
	return errors.Join(do(r), r.Close())
}
