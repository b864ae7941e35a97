package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nod/interact/history"
	"nod/interact/journal"
	"nod/policy"
	"nod/policy/config"
	"nod/policy/store"
)

// checkPolicy checks whether nod-desktop accepts the configuration and the saved approvals.
func checkPolicy(_ context.Context, e *exam) []Finding {
	var found []Finding
	if errors.Is(e.configErr, fs.ErrPermission) {
		return []Finding{failure(run("ls -ld %s %s", quote(e.configDir()), quote(e.configPath())), "it cannot be read: %s",
			oneLine(e.configErr))}
	}
	if e.configErr != nil {
		found = append(found, failure(run("${EDITOR:-vi} %s && nod policy check", quote(e.configPath())),
			"nod asks about everything: %s", oneLine(e.configErr)))
	}
	saved := filepath.Join(e.dataDir(), "grants.json")
	if err := store.CheckGrants(saved); err != nil {
		found = append(found, failure(open("Revoke all, on the page of saved approvals in nod's settings: nod settings"),
			"saved approvals don't count: %s", oneLine(err)))
	}
	if e.configErr == nil && !config.IsAccepted(e.dataDir(), e.configPath()) {
		found = append(found, warning(run("nod settings"), "another program changed %s, or the record of the policy you "+
			"accepted: new allow rules don't count until you accept them", e.configPath()))
	}
	if found == nil {
		found = []Finding{ok("%d rules, no errors", len(e.config.Policy.Rules))}
	}
	return found
}

func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; ")
}

// unusedFor is how long a rule must be unused to be reported.
const unusedFor = 30 * 24 * time.Hour

// checkRules looks for rules without effect.
func checkRules(ctx context.Context, e *exam) []Finding {
	rules := slices.DeleteFunc(slices.Clone(e.config.Policy.Rules), func(r policy.Rule) bool { return r.Disabled })
	if e.configErr != nil || len(rules) == 0 {
		return nil
	}
	var expired []string
	rules = slices.DeleteFunc(rules, func(r policy.Rule) bool {
		if r.HasExpired(e.Now()) {
			expired = append(expired, r.ID)
			return true
		}
		return false
	})
	var found []Finding
	if expired != nil {
		found = append(found, warning(run("nod settings"), "these have expired; remove them: %s", some(expired)))
	}
	if unused := e.unused(ctx, rules); unused != nil {
		found = append(found, warning(run("nod settings"), "unused for %d days: %s",
			unusedFor/(24*time.Hour), some(unused)))
	}
	if found == nil {
		found = []Finding{ok("no expired or unused rules")}
	}
	return found
}

// unused returns the rules that, by the history, have not decided anything for long. A rule without uses counts only if
// the file is old enough. Rules that ask leave no trace.
func (e *exam) unused(ctx context.Context, rules []policy.Rule) []string {
	info, err := os.Stat(e.configPath())
	if err != nil {
		return nil
	}
	long := e.Now().Add(-unusedFor)
	var unused []string
	_ = e.readHistory(func(r *journal.Reader) error { // another check reports problems of the history
		oldest, err := r.Search(ctx, history.Query{Until: long, Limit: 1})
		if err != nil || len(oldest.Lines) == 0 {
			return err // the history does not go back that far
		}
		for _, rule := range rules {
			if rule.Effect == policy.Ask {
				continue
			}
			last, err := r.Search(ctx, history.Query{Rule: rule.ID, Limit: 1})
			if err != nil {
				return err
			}
			isOld := info.ModTime().Before(long)
			if len(last.Lines) > 0 {
				isOld = last.Lines[0].Settled.Before(long)
			}
			if isOld {
				unused = append(unused, rule.ID)
			}
		}
		return nil
	})
	return unused
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
