package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"nod/api"
	"nod/ipc/client"
)

// maxFile is how much of a form or an input is read, in bytes: as much as nod-desktop accepts.
const maxFile = 1 << 20

var errTooLong = errors.New("longer than 1 MiB, the limit of nod-desktop")

// readFile reads a file, or for - standard input until ctx ends.
func (c *console) readFile(ctx context.Context, name string) ([]byte, error) {
	in := c.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, inputError(name, err)
		}
		defer f.Close()
		in = f
	}
	var text []byte
	var err error
	read := make(chan struct{})
	go func() {
		defer close(read)
		text, err = io.ReadAll(io.LimitReader(in, maxFile+1))
	}()
	select {
	case <-read:
	case <-ctx.Done(): // nobody may ever write to standard input
		return nil, ctx.Err()
	}
	if err == nil && len(text) > maxFile {
		err = errTooLong
	}
	if err != nil {
		return nil, inputError(name, err)
	}
	return text, nil
}

// parseForm reads the body of POST /v1/form, or just the array of questions. The error names the line.
func parseForm(text []byte) (api.FormRequest, error) {
	var file api.FormRequest
	var into any = &file
	text = bytes.TrimRight(text, " \t\r\n") // so that what ends too early does so on its last line
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		into = &file.Questions
	}
	err := api.DecodeStrict(text, into)
	if wrong, ok := errors.AsType[*api.DecodeError](err); ok {
		return file, fmt.Errorf("line %d: %w", 1+bytes.Count(text[:wrong.Offset], []byte("\n")), err)
	}
	return file, err
}

func (f *requestFlags) fill(file api.Common) {
	fillIn(f, "agent", &f.common.Agent, file.Agent)
	fillIn(f, "session", &f.common.Session, file.Session)
	fillIn(f, "cwd", &f.common.CWD, file.CWD)
	fillIn(f, "timeout", &f.timeout, seconds(file.Timeout))
	fillIn(f, "hold", &f.hold, seconds(file.Hold))
	fillIn(f, "idempotency-key", &f.common.IdempotencyKey, file.IdempotencyKey)
	fillIn(f, "detach", &f.common.Detach, file.Detach)
}

func fillIn[T any](f *requestFlags, flag string, into *T, value T) {
	if !f.set.Changed(flag) {
		*into = value
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (c *console) form() *cobra.Command {
	var q api.FormRequest
	cmd := &cobra.Command{
		Use:   "form FILE|-",
		Short: "Ask several questions on one page and print the answers as JSON",
		Long: `Ask several questions on one page. FILE (- for standard input) contains the body of POST /v1/form, or just
its array of questions. Flags override fields of the file.

For one question, prints its answer; for several, an object of answers by question id. The answer to a choice is always
an array; to a text question, a string.`,
		Example: `  nod form questions.json
  echo '[{"id":"name","question":"Your name?"}]' | nod form -`,
		Args: oneArg("a file"),
	}
	f := c.newRequestFlags(cmd, &q.Common)
	cmd.RunE = c.runs(func(ctx context.Context, args []string) error {
		text, err := c.readFile(ctx, args[0])
		if err != nil {
			return err
		}
		file, err := parseForm(text)
		if err != nil {
			return inputError(args[0], err)
		}
		f.fill(file.Common)
		q.Form = file.Form
		return request(ctx, c, f, &q, (*client.Client).Form)
	})
	return cmd
}
