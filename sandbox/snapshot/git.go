package snapshot

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"nod/sandbox/outside"
)

func findGit() (string, error) {
	path, err := outside.Find("git")
	if err != nil {
		return "", fmt.Errorf("snapshots need git: install it: %w", err)
	}
	return path, nil
}

type git struct {
	program string
	folder  string // of the repository
	tree    string // the work tree; empty for none
	index   string // instead of the repository's; a file that does not exist makes all files of the work tree new
}

// command makes a git command. git reads no configuration but that of [Repository.prepare], so that it runs no other
// program: no hook, filter, monitor, signature or helper. It takes paths literally. Git variables in nod's own
// environment do not apply.
func (g git) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, g.program, args...)
	cmd.Dir = cmp.Or(g.tree, g.folder)
	cmd.WaitDelay = time.Second
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.folder, "XDG_CONFIG_HOME=" + g.folder, "LC_ALL=C",
		"GIT_DIR=" + g.folder,
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
		"GIT_LITERAL_PATHSPECS=1", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1",
	}
	if g.tree != "" {
		cmd.Env = append(cmd.Env, "GIT_WORK_TREE="+g.tree,
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.excludesFile", "GIT_CONFIG_VALUE_0="+g.excludes())
	}
	if g.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+g.index)
	}
	return cmd
}

func (g git) excludes() string {
	path := filepath.Join(g.tree, ".git", "info", "exclude")
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		return path
	}
	return os.DevNull
}

func (g git) output(ctx context.Context, in string, args ...string) (string, error) {
	var out strings.Builder
	err := g.stream(ctx, in, func(text io.Reader) error {
		_, err := io.Copy(&out, text)
		return err
	}, args...)
	return out.String(), err
}

// maxMemory limits git's memory in bytes: git reads its files of rules whole, however large a project's are.
const maxMemory = 4 << 30

// errEnough stops the reading of git's output before its end.
var errEnough = errors.New("enough")

func (g git) stream(ctx context.Context, in string, read func(io.Reader) error, args ...string) error {
	running, end := context.WithCancel(ctx)
	defer end()
	cmd := g.command(running, args...)
	cmd.Stdin = strings.NewReader(in)
	problem := &firstLine{}
	cmd.Stderr = problem
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("start git: %w", err)
	}
	limitMemory(cmd.Process.Pid)
	failed := read(out)
	if failed != nil {
		end()
	}
	switch err := cmd.Wait(); {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(failed, errEnough):
		return nil
	case failed != nil:
		return failed
	case err != nil:
		return fmt.Errorf("git: %w: %s", err, problem.line())
	}
	return nil
}

func (g git) fields(ctx context.Context, each func(field string) error, args ...string) error {
	return g.stream(ctx, "", func(out io.Reader) error {
		all := bufio.NewScanner(out)
		all.Buffer(nil, 1<<20)
		all.Split(splitNul)
		for all.Scan() {
			if err := each(all.Text()); err != nil {
				return err
			}
		}
		return all.Err()
	}, args...)
}

func splitNul(data []byte, atEnd bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEnd && len(data) > 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}

// firstLine keeps the first line of an output, which says the most.
type firstLine struct{ text []byte }

const longestProblem = 500 // bytes

func (l *firstLine) Write(p []byte) (int, error) {
	l.text = append(l.text, p[:min(len(p), longestProblem-len(l.text))]...)
	return len(p), nil
}

func (l *firstLine) line() string {
	line, _, _ := strings.Cut(string(l.text), "\n")
	return line
}

type blobs struct {
	cmd *exec.Cmd
	end context.CancelFunc // kills git, which may be writing what nobody reads any more
	in  io.WriteCloser
	out *bufio.Reader

	failed error // of git: nothing more will come
}

// blobs starts the reading of contents.
func (g git) blobs(ctx context.Context) (*blobs, error) {
	ctx, end := context.WithCancel(ctx)
	b := &blobs{cmd: g.command(ctx, "cat-file", "--batch"), end: end}
	in, err := b.cmd.StdinPipe()
	if err != nil {
		end()
		return nil, err
	}
	out, err := b.cmd.StdoutPipe()
	if err == nil {
		err = b.cmd.Start()
	}
	if err != nil {
		end()
		return nil, fmt.Errorf("start git: %w", err)
	}
	limitMemory(b.cmd.Process.Pid)
	b.in, b.out = in, bufio.NewReader(out)
	return b, nil
}

// copy writes a content. If to takes only a part of it, such as on a full disk, the next content can still be copied.
func (b *blobs) copy(to io.Writer, blob string) error {
	size, err := b.ask(blob)
	if b.failed = err; err != nil {
		return err
	}
	content := io.LimitReader(b.out, size)
	_, err = io.Copy(to, content)
	_, b.failed = io.Copy(io.Discard, content)
	if b.failed == nil {
		_, b.failed = b.out.ReadByte() // the line's end
	}
	return cmp.Or(b.failed, err)
}

func (b *blobs) ask(blob string) (size int64, err error) {
	if _, err := io.WriteString(b.in, blob+"\n"); err != nil {
		return 0, fmt.Errorf("ask git: %w", err)
	}
	line, err := b.out.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("ask git: %w", err)
	}
	if _, err := fmt.Sscanf(line, blob+" blob %d\n", &size); err != nil {
		return 0, fmt.Errorf("the snapshot is incomplete: git has %s", strings.TrimSpace(line))
	}
	return size, nil
}

func (b *blobs) close() {
	b.end()
	_ = errors.Join(b.in.Close(), b.cmd.Wait())
}
