package contain

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"nod/ownfile"
	"nod/sandbox"
)

// running are the profiles whose commands may be running. Those that can change something are on disk, too, for a
// nod-desktop that starts after both this one and nod were killed.
type running struct {
	mu       sync.Mutex
	profiles map[*sandbox.Profile]bool
}

// unfinished is the folder of their files.
func (r *Runs) unfinished() string { return filepath.Join(r.cfg.Cache, "unfinished") }

func (r *running) add(p *sandbox.Profile, folder string) error {
	if !p.Write {
		return nil
	}
	p.Unfinished = filepath.Join(folder, rand.Text())
	text, err := json.Marshal(p)
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err == nil {
		err = os.WriteFile(p.Unfinished, text, 0o600)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.profiles == nil {
		r.profiles = map[*sandbox.Profile]bool{}
	}
	r.profiles[p] = true
	return err
}

func (r *running) remove(p *sandbox.Profile) {
	if p.Unfinished != "" {
		_ = os.Remove(p.Unfinished)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.profiles, p)
}

// distrust notes in p the places that commands which still run may have created.
func (r *running) distrust(p *sandbox.Profile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.profiles {
		if p.Write && other.Project == p.Project {
			p.Distrust(other)
		}
	}
}

// expelLeft moves away the guarded places that commands created which were killed together with nod and nod-desktop.
func (r *Runs) expelLeft() error {
	files, problem := os.ReadDir(r.unfinished())
	if ownfile.IsMissing(problem) {
		return nil
	}
	for _, file := range files {
		path := filepath.Join(r.unfinished(), file.Name())
		var p sandbox.Profile
		text, err := os.ReadFile(path)
		if err == nil && json.Unmarshal(text, &p) == nil {
			ended := r.expel(&p)
			p.Uncover()
			if ended.Problem != "" {
				err = errors.New(ended.Problem)
			}
		}
		problem = errors.Join(problem, err, os.Remove(path))
	}
	return problem
}
