package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// Find tries bubblewrap, and if that does not work Landlock: in a sandbox nod itself tries to write outside, to read a
// hidden file, to connect and to make namespaces, and must fail in all of it.
func Find(ctx context.Context, init string) (Trial, error) {
	_, why := try(ctx, bubblewrap, init)
	if why == nil || ctx.Err() != nil {
		return Trial{Engine: bubblewrap}, why
	}
	if _, err := try(ctx, landlock, init); err != nil {
		return Trial{}, fmt.Errorf("%w; and %w", why, err)
	}
	return Trial{Engine: landlock, Why: why.Error()}, nil
}

// try is Find for one kind of engine.
func try(ctx context.Context, kind Kind, init string) (*Engine, error) {
	e, err := New(kind, init)
	if err != nil {
		return nil, err
	}
	if err := e.try(ctx); err != nil {
		return nil, fmt.Errorf("try a sandbox of %s: %w", kind, err)
	}
	return e, nil
}

func (e *Engine) try(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "nod")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	project, outside := filepath.Join(dir, "project"), filepath.Join(dir, "outside")
	kept, hidden := filepath.Join(project, "kept"), filepath.Join(project, "hidden")
	if err := errors.Join(os.Mkdir(project, 0o700),
		os.WriteFile(kept, nil, 0o600), os.WriteFile(hidden, []byte("secret"), 0o600)); err != nil {
		return err
	}
	loopback, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer loopback.Close()
	abstract, err := net.Listen("unix", "@nod-"+rand.Text())
	if err != nil {
		return err
	}
	defer abstract.Close()
	said, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer said.Close()
	port := loopback.Addr().(*net.TCPAddr).Port
	status, err := e.Run(ctx, Command{
		Profile: Profile{
			Project: project, Write: e.kind != landlock, Keep: []string{kept}, Hide: []string{hidden},
			Private: filepath.Join(dir, "private"),
		},
		Argv: probeCommand(outside, kept, hidden, port, abstract.Addr().String()),
		Env:  []string{"HOME=" + filepath.Join(dir, "home"), "PATH=/usr/bin:/bin"}, Stdout: write,
	})
	if err := errors.Join(err, write.Close()); err != nil {
		return err
	}
	text, err := io.ReadAll(said)
	_, missed := os.Lstat(outside)
	switch what := strings.TrimSpace(string(text)); {
	case err != nil:
		return err
	case status != 0 || what != contained:
		return fmt.Errorf("it is not tight: a command in it %s (status %d)", what, status)
	case missed == nil:
		return errors.New("it is not tight: a command in it can write outside")
	}
	return nil
}
