package contain

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"nod/ipc/operator"
	"nod/policy"
	"nod/sandbox/snapshot"
)

// maxFiles is how many changed files the user is shown.
const maxFiles = 100

func firstFiles[T any](all []T) []T { return all[:min(len(all), maxFiles)] }

// Finish completes the take-backs and the runs that were under way when nod-desktop was killed. Commands that still run
// count as running until they end.
func (r *Runs) Finish(ctx context.Context) error {
	return errors.Join(r.expelUnfinished(ctx), snapshot.FinishAll(ctx, r.cfg.Snapshots, policy.IsSecret))
}

// runOf returns the newest run of an entry's request, and its repository, which is nil if there is none.
func (r *Runs) runOf(ctx context.Context, seq int64) (*snapshot.Repository, snapshot.Run, error) {
	entry, err := r.cfg.Entry(ctx, seq)
	if err != nil {
		return nil, snapshot.Run{}, err
	}
	of := entry.Record
	who := of.Request.Requester
	folder := cmp.Or(of.Answer.Confinement.Project, who.Folder())
	if folder == "" || of.Request.ID == "" || who.IsRemote() {
		return nil, snapshot.Run{}, nil
	}
	for {
		project := snapshot.Find(r.cfg.Snapshots, folder)
		if project == "" {
			return nil, snapshot.Run{}, nil
		}
		repository, err := snapshot.Open(r.cfg.Snapshots, project, policy.IsSecret)
		if err != nil {
			return nil, snapshot.Run{}, err
		}
		run, err := repository.RunOf(ctx, string(of.Request.ID))
		if err != nil || run.Number > 0 {
			return repository, run, err
		}
		folder = filepath.Dir(project) // it may be in another project
	}
}

// Changed implements a part of [operator.Operator].
func (r *Runs) Changed(ctx context.Context, seq int64) (operator.Changed, error) {
	repository, run, err := r.runOf(ctx, seq)
	if err != nil || repository == nil || run.Problem != "" {
		return operator.Changed{Run: run}, err
	}
	files, err := repository.ChangesOf(ctx, run)
	return operator.Changed{Run: run, Files: firstFiles(files)}, err
}

// Diff implements a part of [operator.Operator].
func (r *Runs) Diff(ctx context.Context, seq int64, path string) (operator.Diff, error) {
	repository, run, err := r.runOf(ctx, seq)
	if err != nil || repository == nil {
		return operator.Diff{}, err
	}
	text, cut, err := repository.Diff(ctx, run.Before, run.After, path)
	return operator.Diff{Text: []byte(text), Cut: cut}, err
}

// PlanTakeBack implements a part of [operator.Operator].
func (r *Runs) PlanTakeBack(ctx context.Context, seq int64) (operator.TakeBack, error) {
	p, err := r.plan(ctx, seq)
	if err != nil {
		return operator.TakeBack{}, err
	}
	return operator.TakeBack{
		Digest: p.Digest(), Files: firstFiles(p.Changes), Conflicts: firstFiles(p.Conflicts),
		Count: len(p.Changes), Left: len(p.Conflicts),
	}, nil
}

// TakeBack implements a part of [operator.Operator].
func (r *Runs) TakeBack(ctx context.Context, seq int64, digest string) ([]snapshot.Conflict, error) {
	p, err := r.plan(ctx, seq)
	if err != nil {
		return nil, err
	}
	if p.Digest() != digest {
		return nil, operator.ErrChanged
	}
	left, err := p.Apply(ctx)
	return firstFiles(left), err
}

// plan returns a plan for taking back the changes of an entry now.
func (r *Runs) plan(ctx context.Context, seq int64) (*snapshot.Plan, error) {
	repository, run, err := r.runOf(ctx, seq)
	switch {
	case err != nil:
		return nil, err
	case repository == nil:
		return nil, errors.New("nod no longer keeps its changes")
	case run.Problem != "":
		return nil, errors.New(run.Problem)
	}
	return repository.Plan(ctx, run)
}
