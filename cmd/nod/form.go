package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nod/interact"
	"nod/ipc/client"
)

// maxFile is the most that is read of a form or an input: what nod-desktop takes.
const maxFile = 1 << 20

var errTooLong = errors.New("longer than 1 MiB, which is the most that nod-desktop takes")

// readFile reads the named file, or standard input when it is -.
func (c *console) readFile(name string) ([]byte, error) {
	in := c.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, &inputError{name, why(err)}
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = errTooLong
	}
	if err != nil {
		return nil, &inputError{fileName(name), why(err)}
	}
	return text, nil
}

// why is what went wrong with a file, without its name.
func why(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

func fileName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// formFile is what a form's file may hold: the body of POST /v1/form.
type formFile struct {
	interact.Form
	Agent          string  `json:"agent"`
	Session        string  `json:"session"`
	CWD            string  `json:"cwd"`
	Timeout        float64 `json:"timeout"` // seconds
	IdempotencyKey string  `json:"idempotency_key"`
	Detach         bool    `json:"detach"`
	Hold           float64 `json:"hold"` // seconds
}

// parseForm reads the body of POST /v1/form, or just the array of questions. The error names the line.
func parseForm(text []byte) (formFile, error) {
	var file formFile
	var into any = &file
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		into = &file.Questions
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return file, jsonError(text, d.InputOffset(), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return file, jsonError(text, d.InputOffset(), errors.New("something follows the form"))
	}
	return file, nil
}

// jsonError puts what encoding/json says into a user's words, with the line.
func jsonError(text []byte, offset int64, err error) error {
	why := strings.TrimPrefix(err.Error(), "json: ")
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset
	}
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = kind.Offset
		why = fmt.Sprintf("%s cannot be a JSON %s", kind.Field, kind.Value)
	}
	if name, ok := strings.CutPrefix(why, "unknown field "); ok {
		// encoding/json does not say where it is. The first of that name will do.
		offset = int64(max(0, bytes.Index(text, []byte(name))))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		offset, why = int64(len(bytes.TrimSpace(text))), "the JSON ends too early"
	}
	offset = min(offset, int64(len(text)))
	return fmt.Errorf("line %d: %s", 1+bytes.Count(text[:offset], []byte("\n")), why)
}

// fill takes from the file what the command line leaves open.
func (f *requestFlags) fill(file formFile) {
	fillIn(f, "agent", &f.opts.Agent, file.Agent)
	fillIn(f, "session", &f.opts.Session, file.Session)
	fillIn(f, "cwd", &f.opts.CWD, file.CWD)
	fillIn(f, "timeout", &f.opts.Timeout, seconds(file.Timeout))
	fillIn(f, "hold", &f.opts.Hold, seconds(file.Hold))
	fillIn(f, "idempotency-key", &f.opts.IdempotencyKey, file.IdempotencyKey)
	fillIn(f, "detach", &f.opts.Detach, file.Detach)
}

func fillIn[T any](f *requestFlags, flag string, into *T, value T) {
	if !f.set.Changed(flag) {
		*into = value
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// form returns the command that asks several questions at once.
func (c *console) form() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "form FILE|-",
		Short: "Ask several questions on one page and print the answers as JSON",
		Long: `Ask several questions on one page. FILE (- for standard input) holds the body of POST /v1/form, or just
its array of questions; a flag wins over the same field of the file.

Printed is the answer of a form with one question, and of one with several an object of the answers by
question id. The answer to a choice is an array, also when one was picked; to a text question, a string.`,
		Example: `  nod form questions.json
  echo '[{"id":"name","question":"Your name?"}]' | nod form -`,
		Args: oneArg("file"),
	}
	f := newRequestFlags(cmd)
	cmd.RunE = runs(func(ctx context.Context, args []string) error {
		text, err := c.readFile(args[0])
		if err != nil {
			return err
		}
		file, err := parseForm(text)
		if err != nil {
			return &inputError{fileName(args[0]), err.Error()}
		}
		f.fill(file)
		return c.request(ctx, f, func(ctx context.Context, cl *client.Client, o client.Options) (answer, error) {
			r, err := cl.Form(ctx, file.Form, o)
			if err != nil {
				return answer{}, err
			}
			return formAnswer(r)
		})
	})
	return cmd
}

// formAnswer prints the answers. They are encoded here and not by their own type, which would write < as
// \u003c for the sake of browsers.
func formAnswer(r client.FormReply) (answer, error) {
	var value any
	if r.Answer != nil {
		value = plain(*r.Answer)
	} else {
		answers := map[string]any{}
		for id, v := range r.Answers {
			answers[id] = plain(v)
		}
		value = answers
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return answer{raw: r.Raw, text: b.String()}, err
}

// plain is v as encoding/json knows it: a string, or a list of them.
func plain(v interact.Value) any {
	if !v.List {
		return v.String()
	}
	return append([]string{}, v.Items...)
}
