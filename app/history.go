package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"nod/interact/history"
	"nod/interact/journal"
	"nod/ipc/operator"
)

// archive is the history that the user can look through.
type archive interface {
	Search(ctx context.Context, q history.Query) (history.Page, error)
	Entry(ctx context.Context, seq int64) (history.Entry, error)
	Facets(ctx context.Context) (history.Facets, error)
	Insights(ctx context.Context, since time.Time) (history.Insights, error)
	Export(ctx context.Context, w io.Writer, q history.Query, f history.Format) (int, error)
	Head(ctx context.Context) (history.Head, error)
	Verify(ctx context.Context) error
}

// History implements [operator.Operator].
func (o operatorAPI) History(ctx context.Context, q history.Query) (history.Page, error) {
	return o.archive.Search(ctx, q)
}

// Export implements [operator.Operator].
func (o operatorAPI) Export(ctx context.Context, q history.Query, path string, f history.Format) (n int, err error) {
	if !filepath.IsAbs(path) {
		return 0, fmt.Errorf("export to %s: not a full path", path)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	n, err = o.archive.Export(ctx, file, q, f)
	if err = errors.Join(err, file.Close()); err != nil { // nobody should take a part for the whole
		return 0, errors.Join(fmt.Errorf("export to %s: %w", path, err), os.Remove(path))
	}
	return n, nil
}

// Verify implements [operator.Operator].
func (o operatorAPI) Verify(ctx context.Context) (operator.Verified, error) {
	head, err := o.archive.Head(ctx)
	if err != nil {
		return operator.Verified{}, err
	}
	err = o.archive.Verify(ctx)
	if broken, ok := errors.AsType[*journal.BrokenError](err); ok {
		return operator.Verified{Head: head, Problem: broken.Error()}, nil
	}
	return operator.Verified{Head: head}, err
}
