package snapshot

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nod/ownfile"
)

// A Plan is what taking back a run would do to the project now.
type Plan struct {
	Run       Run
	Changes   []Change   // the changes to files: what the run added is removed
	Conflicts []Conflict // files that are left alone

	repository *Repository
}

// A Conflict is a file that a run changed and that is left as it is.
type Conflict struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// ownPrefix begins the names of files that are being written.
const ownPrefix = ".nod-takeback-"

// Plan works out what taking back a run would do. It skips files that are again as they were before the run.
func (r *Repository) Plan(ctx context.Context, run Run) (*Plan, error) {
	changes, err := r.ChangesOf(ctx, run)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(r.project)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	p := &Plan{Run: run, repository: r}
	for _, c := range changes {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		switch now, err := look(root, c.Path); {
		case err != nil:
			p.leave(c.Path, reason(err))
		case now == c.from, now == strange && isFolder(root, c.Path) && c.from == (entry{}):
		case now == c.to:
			p.Changes = append(p.Changes, c.reverse())
		case now == strange && isFolder(root, c.Path) && c.to == (entry{}):
			p.Changes = append(p.Changes, c.reverse()) // the folder goes first if the run made everything in it
		case now == strange:
			p.leave(c.Path, errInTheWay.Error())
		default:
			p.leave(c.Path, errChanged.Error())
		}
	}
	p.clearWay(root)
	return p, nil
}

func (c Change) reverse() Change {
	c.from, c.to, c.Added, c.Removed = c.to, c.from, c.Removed, c.Added
	switch c.Kind {
	case Added:
		c.Kind = Removed
	case Removed:
		c.Kind = Added
	}
	return c
}

func (p *Plan) leave(path, why string) { p.Conflicts = append(p.Conflicts, Conflict{path, why}) }

func isFolder(root *os.Root, file string) bool {
	folder, name, err := folderOf(root, file, false)
	if err != nil {
		return false
	}
	defer folder.Close()
	info, err := folder.Lstat(name)
	return err == nil && info.IsDir()
}

func (p *Plan) clearWay(root *os.Root) {
	goes := map[string]bool{}
	for _, c := range p.Changes {
		goes[c.Path] = c.Kind == Removed
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(c Change) bool {
		blocked := c.Kind == Added &&
			(isBlocked(root, c.Path, goes) || isFolder(root, c.Path) && staysIn(root, c.Path, goes))
		if blocked {
			p.leave(c.Path, errInTheWay.Error())
		}
		return blocked
	})
	slices.SortFunc(p.Conflicts, func(a, b Conflict) int { return strings.Compare(a.Path, b.Path) })
}

// isBlocked reports whether a file or link that stays is in the way of a folder above a file.
func isBlocked(root *os.Root, file string, goes map[string]bool) bool {
	above := path.Dir(file)
	if above == "." || isFolder(root, above) {
		return false
	}
	now, err := look(root, above)
	if err == nil && now == (entry{}) {
		return isBlocked(root, above, goes)
	}
	return !goes[above]
}

// staysIn reports whether a folder contains something that stays, even an empty folder.
func staysIn(root *os.Root, folder string, goes map[string]bool) bool {
	stays := false
	err := fs.WalkDir(root.FS(), folder, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && (entry.IsDir() || goes[file]) {
			return nil
		}
		stays = true
		return errors.Join(err, fs.SkipAll)
	})
	return stays || err != nil
}

func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

// A journal says what is being taken back. It exists from before the first file changes until the last one has.
type journal struct {
	Run     Run       `json:"run"`
	Time    time.Time `json:"time"`
	Before  ID        `json:"before"`  // the project as it was
	Scratch string    `json:"scratch"` // name of the files that are being written
	Folders []string  `json:"folders"` // where they are
}

const journalName = "takeback.json"

func (r *Repository) journal() string { return r.path(journalName) }

// Unfinished returns the run whose taking back was interrupted; taking it back again finishes it.
func (r *Repository) Unfinished() (Run, bool) {
	j, err := r.readJournal()
	return j.Run, err == nil
}

func (r *Repository) readJournal() (j journal, err error) {
	text, err := ownfile.ReadLarge(r.journal(), maxRuns)
	if err == nil {
		err = json.Unmarshal(text, &j)
	}
	return j, err
}

func (j journal) isOf(run Run) bool { return j.Run.Before == run.Before && j.Run.After == run.After }

// Digest identifies a plan: what it would do to which file, and what it leaves alone.
func (p *Plan) Digest() string {
	sum := sha256.New()
	add := func(parts ...string) {
		for _, part := range parts {
			fmt.Fprintf(sum, "%d:%s", len(part), part)
		}
	}
	add(p.repository.project, string(p.Run.Before), string(p.Run.After))
	for _, c := range p.Changes {
		add("change", c.Path, c.from.mode, c.from.blob, c.to.mode, c.to.blob)
	}
	for _, c := range p.Conflicts {
		add("leave", c.Path, c.Why)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// IsDone reports whether there is nothing to take back.
func (p *Plan) IsDone() bool {
	j, err := p.repository.readJournal()
	return len(p.Changes) == 0 && (err != nil || !j.isOf(p.Run))
}

// Apply carries out the plan, except for files that have changed since: it returns these. It is noted as a run of the
// project, which can itself be taken back. If it is killed, each file is in its old or new state, and planning and
// applying it again does the rest.
func (p *Plan) Apply(ctx context.Context) (left []Conflict, err error) {
	err = p.repository.locked(ctx, func() error {
		left, err = p.apply(ctx)
		return err
	})
	return left, err
}

func (p *Plan) apply(ctx context.Context) (left []Conflict, err error) {
	if p.IsDone() {
		return nil, nil
	}
	j, err := p.begin(ctx)
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // once begun, it is finished
	if left, err = p.restore(ctx, j.Scratch); err != nil {
		return left, err
	}
	return left, p.end(ctx, j)
}

// FinishAll finishes what was being taken back when nod was killed, in all repositories below a folder.
func FinishAll(ctx context.Context, folder string, secret func(path string) bool) (problem error) {
	journals, problem := ownfile.Glob(folder, "*/"+journalName)
	for _, journal := range journals {
		project, err := ownfile.Read(filepath.Join(filepath.Dir(journal), "project"))
		if err != nil {
			continue
		}
		r, err := Open(folder, strings.TrimSuffix(string(project), "\n"), secret)
		if err == nil {
			err = r.locked(ctx, func() error { return r.finish(ctx) })
		}
		problem = errors.Join(problem, err)
	}
	return problem
}

func (r *Repository) finish(ctx context.Context) error {
	run, isUnfinished := r.Unfinished()
	if !isUnfinished { // another process has finished it meanwhile
		return nil
	}
	p, err := r.Plan(ctx, run)
	if err == nil {
		_, err = p.apply(ctx)
	}
	return err
}

// begin takes a snapshot of the project as it is, and writes the journal. For a take-back that was killed, it keeps the
// snapshot from its start.
func (p *Plan) begin(ctx context.Context) (j journal, err error) {
	r := p.repository
	was, err := r.readJournal()
	isSame := err == nil && was.isOf(p.Run) && r.has(was.Before)
	if err == nil {
		if err := r.sweep(was); err != nil {
			return j, err
		}
	}
	j = journal{Run: p.Run, Time: time.Now(), Scratch: ownPrefix + rand.Text(), Folders: p.folders()}
	if isSame {
		j.Time, j.Before = was.Time, was.Before
	} else if j.Before, err = r.take(ctx, partial); err != nil {
		return j, err
	}
	text, err := json.Marshal(j)
	if err != nil {
		return j, err
	}
	return j, ownfile.Write(r.journal(), text, 0o600)
}

func (r *Repository) has(id ID) bool {
	_, err := os.Stat(r.ref(id))
	return id.check() == nil && err == nil
}

func (p *Plan) folders() (all []string) {
	for _, c := range p.Changes {
		all = append(all, path.Dir(c.Path))
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

func (r *Repository) sweep(j journal) error {
	if !strings.HasPrefix(j.Scratch, ownPrefix) {
		return fmt.Errorf("%s is not what nod wrote: remove it", r.journal())
	}
	root, err := os.OpenRoot(r.project)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range j.Folders {
		folder, scratch, err := folderOf(root, path.Join(name, j.Scratch), false)
		if err != nil {
			continue // then it contains none
		}
		err = remove(folder, scratch)
		folder.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// restore changes the files, starting with those to remove: they may be where others will be.
func (p *Plan) restore(ctx context.Context, scratch string) (left []Conflict, err error) {
	root, err := os.OpenRoot(p.repository.project)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	contents, err := p.repository.store.blobs(ctx)
	if err != nil {
		return nil, err
	}
	defer contents.close()
	for _, goes := range []bool{true, false} {
		for _, c := range p.Changes {
			if goes != (c.Kind == Removed) {
				continue
			}
			err := step(root, c, scratch, contents)
			if contents.failed != nil {
				return left, contents.failed
			}
			if err != nil {
				left = append(left, Conflict{c.Path, reason(err)})
			}
		}
	}
	return left, nil
}

func step(root *os.Root, c Change, scratch string, contents *blobs) error {
	if c.Kind != Removed {
		return put(root, c.Path, scratch, c.from, c.to, contents)
	}
	now, err := look(root, c.Path)
	if err == nil && now != c.from {
		err = errChanged
	}
	if err != nil {
		return err
	}
	return clear(root, c.Path)
}

// end notes what was done, unless a take-back noted that just before it was killed.
func (p *Plan) end(ctx context.Context, j journal) error {
	r := p.repository
	runs, err := r.noted()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(runs, func(run Run) bool { return run.Time.Equal(j.Time) }) {
		return os.Remove(r.journal())
	}
	after, err := r.take(ctx, partial)
	if err != nil {
		return err
	}
	if after == j.Before { // all is left alone: nothing was taken back, and the run stays the newest of its request
		return os.Remove(r.journal())
	}
	run := Run{
		Time: j.Time, Ended: time.Now(), Agent: "nod", Command: fmt.Sprintf("nod undo %d", p.Run.Number),
		Entry: p.Run.Entry, Before: j.Before, After: after,
	}
	if p.Run.Undoes == 0 { // otherwise all is as if nothing had been taken back
		run.Undoes = p.Run.Number
	}
	_, err = r.note(ctx, run)
	return errors.Join(err, os.Remove(r.journal()))
}
