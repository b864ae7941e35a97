package contain

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"nod/api"
	"nod/ownfile"
	"nod/sandbox"
)

// running holds the profiles of commands that may be running and can change files. They are also on disk, in case both
// nod-desktop and nod are killed.
type running struct {
	mu       sync.Mutex
	profiles map[*sandbox.Profile]bool
}

// unfinished returns the folder of the profiles on disk.
func (r *Runs) unfinished() string { return filepath.Join(r.cfg.Cache, "unfinished") }

// profileFile is a profile on disk.
type profileFile struct {
	*sandbox.Profile
	Nod api.Parent `json:"nod"` // the process of nod that runs the command
}

func (r *running) add(p *sandbox.Profile, nod api.Parent, folder string) error {
	if !p.Write {
		return nil
	}
	p.Unfinished = filepath.Join(folder, rand.Text())
	text, err := json.Marshal(profileFile{p, nod})
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err == nil {
		err = os.WriteFile(p.Unfinished, text, 0o600)
	}
	r.keep(p)
	return err
}

func (r *running) keep(p *sandbox.Profile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.profiles[p] = true
}

func (r *running) remove(p *sandbox.Profile) {
	if p.Unfinished != "" {
		_ = os.Remove(p.Unfinished)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.profiles, p)
}

// changes reports whether a command that may change files of the project is running. It could replace a file by a link
// between an agent's question and its edit, which would then change a file elsewhere.
func (r *running) changes(project string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.profiles {
		if sandbox.IsIn(p.Project, project) || sandbox.IsIn(project, p.Project) {
			return true
		}
	}
	return false
}

// distrust marks in p what other commands running in its project may have created.
func (r *running) distrust(p *sandbox.Profile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.profiles {
		if p.Write && other.Project == p.Project {
			p.Distrust(other)
		}
	}
}

// uses reports whether a running command has this private folder.
func (r *running) uses(private string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.profiles {
		if p.Private == private {
			return true
		}
	}
	return false
}

// unused is how long an agent's session keeps its temporary files and copies of caches after its last command began.
const unused = 7 * 24 * time.Hour

// clean deletes the private folders of old sessions. What was moved there from a project stays as long as snapshots.
func (r *Runs) clean(olderThan time.Duration) error {
	cache, err := os.OpenRoot(r.cfg.Cache)
	if err != nil {
		return nil // nothing has run yet
	}
	defer cache.Close()
	folders, err := fs.Glob(cache.FS(), "*/*")
	for _, folder := range folders {
		info, failed := cache.Lstat(folder)
		if failed != nil || !info.IsDir() || r.running.uses(filepath.Join(r.cfg.Cache, folder)) {
			continue
		}
		old := []string{folder}
		switch age := time.Since(info.ModTime()); {
		case age < unused:
			continue
		case age < olderThan:
			old = []string{folder + "/tmp", folder + "/warm"}
		}
		for _, name := range old {
			_ = fs.WalkDir(cache.FS(), name, func(path string, entry fs.DirEntry, _ error) error { // as far as it gets
				if entry != nil && entry.IsDir() {
					_ = cache.Chmod(path, 0o700) // the command may have closed it
				}
				return nil
			})
			err = errors.Join(err, cache.RemoveAll(name))
		}
	}
	return err
}

// expelUnfinished calls expel for commands that were killed together with nod and nod-desktop. Those that run on it
// keeps until they end, unless ctx ends first.
func (r *Runs) expelUnfinished(ctx context.Context) error {
	files, problem := os.ReadDir(r.unfinished())
	if ownfile.IsMissing(problem) {
		return nil
	}
	for _, file := range files {
		path := filepath.Join(r.unfinished(), file.Name())
		p := profileFile{Profile: &sandbox.Profile{}}
		text, err := os.ReadFile(path)
		switch isKnown := err == nil && json.Unmarshal(text, &p) == nil; {
		case isKnown && !r.cfg.Processes.Ended(p.Nod):
			r.running.keep(p.Profile)
			go r.expelAtEnd(ctx, p)
			continue
		case isKnown:
			err = r.expelLate(p.Profile)
		}
		problem = errors.Join(problem, err, os.Remove(path))
	}
	return problem
}

func (r *Runs) expelLate(p *sandbox.Profile) error {
	ended := r.expel(p)
	p.Uncover()
	if ended.Problem != "" {
		return errors.New(ended.Problem)
	}
	return nil
}

func (r *Runs) expelAtEnd(ctx context.Context, p profileFile) {
	if !r.cfg.Processes.AwaitEnd(ctx, p.Nod) {
		return
	}
	if _, err := os.Stat(p.Unfinished); err == nil { // else nod has moved it, and what is there now is the user's
		<-time.After(killDelay)
		_ = r.expelLate(p.Profile) // which is logged
	}
	r.running.remove(p.Profile)
}
