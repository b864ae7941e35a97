package relay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

func openedSpool(t testing.TB, path string) *spool {
	t.Helper()
	s, err := openSpool(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.close() })
	return s
}

func spoolPath(t testing.TB) string { return filepath.Join(t.TempDir(), "nod", "relay.jsonl") }

func pending(id string) interact.Record {
	return interact.Record{
		Request: interact.Request{ID: interact.ID(id), IdempotencyKey: "key of " + id, Created: time.Unix(1, 0).UTC(),
			Body: interact.Approve{Tool: "Bash", Input: []byte(`{ "command":"make ` + id + `"}`)}},
		Content: "content",
	}
}

func ended(r interact.Record, a interact.Answer) interact.Record {
	r.Answer = a
	return r
}

var (
	passed   = interact.Answer{Outcome: api.Allowed, By: api.ByPolicy, Rule: "r"}
	answered = interact.Answer{Outcome: api.Allowed, By: api.ByHuman}
)

func ids(records []interact.Record) (ids []string) {
	for _, r := range records {
		ids = append(ids, string(r.Request.ID))
	}
	return ids
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What the spool has taken is there after the process died, whatever it was about, and what no longer counts is not.
func TestSpoolOutlivesItsProcess(t *testing.T) {
	path, ctx := spoolPath(t), t.Context()
	s := openedSpool(t, path)
	for _, id := range []string{"a", "b", "c"} {
		must(t, s.Open(ctx, pending(id)))
	}
	reported := &interact.Reported{Risks: []policy.Risk{{Text: "x"}}}
	s.report("b", func() *interact.Reported { return reported })
	must(t, s.Settle(ctx, ended(pending("a"), answered)))
	must(t, s.Settle(ctx, ended(pending("p"), passed)))
	must(t, s.Settle(ctx, ended(pending("q"), passed)))
	must(t, s.append(line{Op: opReported, IDs: []interact.ID{"p"}}))
	changed := pending("c")
	changed.Detached = true
	must(t, s.Update(ctx, changed))

	for range 3 { // the second time what is read was written anew
		again := openedSpool(t, path)
		open, last := again.restore()
		if got := ids(open); !slices.Equal(got, []string{"b", "c"}) || open[0].Detached || !open[1].Detached {
			t.Errorf("pending: %q, %+v", got, open)
		}
		if got := ids(last); !slices.Equal(got, []string{"a", "p", "q"}) || last[0].Answer.Outcome != api.Allowed ||
			last[0].Request.IdempotencyKey != "key of a" {
			t.Errorf("last: %q, %+v", got, last)
		}
		if got := ids(again.batch()); !slices.Equal(got, []string{"q"}) {
			t.Errorf("owed: %q", got)
		}
		if body := again.batch()[0].Request.Body.(interact.Approve); string(body.Input) != `{ "command":"make q"}` {
			t.Errorf("the input of what is owed: %s", body.Input)
		}
		again.report("b", func() *interact.Reported { t.Error("worked out a second time"); return nil })
		if r := again.pending["b"]; !r.asked || r.reported.Risks[0].Text != "x" {
			t.Errorf("reported: %+v", r)
		}
	}
}

// A relay may be killed just before it would have written a file anew that is twice as long as what counts.
func TestSpoolReadsItsLongestFile(t *testing.T) {
	path := spoolPath(t)
	s := openedSpool(t, path)
	must(t, s.Settle(t.Context(), ended(pending("p"), passed)))
	for long := strings.Repeat(" ", maxLine-1); s.size < 2*(maxLive+minFile); {
		must(t, s.write([]byte(`{"op":"told"}`+long[len(`{"op":"told"}`):]+"\n")))
	}
	if got := ids(openedSpool(t, path).batch()); !slices.Equal(got, []string{"p"}) {
		t.Errorf("%q", got)
	}
}

// However a line was cut off, all before it counts and it does not.
func TestSpoolWithTornLine(t *testing.T) {
	path := spoolPath(t)
	s := openedSpool(t, path)
	must(t, s.Settle(t.Context(), ended(pending("p"), passed)))
	whole := s.size
	must(t, s.Settle(t.Context(), ended(pending("q"), passed)))
	text, err := os.ReadFile(path)
	must(t, err)
	for size := whole; size < int64(len(text)); size += 7 {
		must(t, os.WriteFile(path, text[:size], 0o600))
		if got := ids(openedSpool(t, path).batch()); !slices.Equal(got, []string{"p"}) {
			t.Fatalf("%d bytes of %d: %q", size, len(text), got)
		}
	}
}

// Nothing of a file counts that holds what no relay wrote, and it is kept for a user to look at.
func TestSpoolSetsAside(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": "hello\n", "another operation": `{"op":"allow"}` + "\n", "no record": `{"op":"settle"}` + "\n",
		"no body": `{"op":"open","record":{"request":{"id":"a"}}}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := spoolPath(t)
			s := openedSpool(t, path)
			must(t, s.Settle(t.Context(), ended(pending("p"), passed)))
			_, err := s.file.WriteAt([]byte(text), s.size)
			must(t, err)
			again := openedSpool(t, path)
			open, last := again.restore()
			if len(open)+len(last)+again.waiting() > 0 {
				t.Errorf("%q, %q, %q", ids(open), ids(last), ids(again.batch()))
			}
			asides, err := filepath.Glob(path + ".2*")
			must(t, err)
			if len(asides) != 1 {
				t.Fatalf("set aside: %q", asides)
			}
			if aside, err := os.ReadFile(asides[0]); err != nil || !strings.Contains(string(aside), text) {
				t.Errorf("aside: %q, %v", aside, err)
			}
		})
	}
}

// A file that cannot be read now is not damaged: it stays where it is.
func TestSpoolThatCannotBeRead(t *testing.T) {
	path := spoolPath(t)
	must(t, openedSpool(t, path).Settle(t.Context(), ended(pending("p"), passed)))
	must(t, os.Chmod(path, 0o644)) // as if it were another's
	if _, err := openSpool(path, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names the file", err)
	}
	must(t, os.Chmod(path, 0o600))
	if got := ids(openedSpool(t, path).batch()); !slices.Equal(got, []string{"p"}) {
		t.Errorf("%q", got)
	}
}

// Where nothing can be written no decision of the policy counts; once it can be again, they do.
func TestSpoolOnFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no full disk here:", err)
	}
	path := spoolPath(t)
	s := openedSpool(t, path)
	must(t, s.Settle(t.Context(), ended(pending("p"), passed)))
	defer full.Close()
	real := s.file
	s.file = full
	if err := s.write([]byte("x\n")); err == nil {
		t.Fatal("a full disk takes everything")
	}
	if s.file != nil {
		t.Error("a file that could not be cut is still written to")
	}
	must(t, real.Close())
	must(t, s.Settle(t.Context(), ended(pending("q"), passed)))
	if got := ids(openedSpool(t, path).batch()); !slices.Equal(got, []string{"p", "q"}) {
		t.Errorf("%q", got)
	}
	folder := filepath.Dir(path)
	must(t, os.RemoveAll(folder))
	must(t, os.WriteFile(folder, nil, 0o600)) // a file where the folder would have to be
	if err := s.Settle(t.Context(), ended(pending("r"), passed)); err == nil {
		t.Error("what is nowhere counts as written")
	}
	if s.waiting() != 2 {
		t.Errorf("%d wait", s.waiting())
	}
}

// Another program that takes the file away takes nothing that is to come with it.
func TestSpoolComesBack(t *testing.T) {
	path := spoolPath(t)
	s := openedSpool(t, path)
	must(t, s.Settle(t.Context(), ended(pending("p"), passed)))
	must(t, os.Remove(path))
	must(t, s.Settle(t.Context(), ended(pending("q"), passed)))
	if got := ids(openedSpool(t, path).batch()); !slices.Equal(got, []string{"p", "q"}) {
		t.Errorf("%q", got)
	}
}

// A relay that reaches no desk for long does not fill the disk: then nothing passes by policy, but answers still count.
func TestSpoolIsBounded(t *testing.T) {
	s := openedSpool(t, spoolPath(t))
	s.most = 8 << 20
	big := func(n int) interact.Record {
		r := pending(fmt.Sprint("p", n))
		r.Request.Body = interact.Approve{Tool: "Bash", Input: []byte(`{"command":"` + strings.Repeat("x", 1<<20) + `"}`)}
		return r
	}
	n := 0
	for ; ; n++ {
		err := s.Settle(t.Context(), ended(big(n), passed))
		if errors.Is(err, errFull) {
			break
		}
		must(t, err)
	}
	if info, err := os.Stat(s.path); err != nil || info.Size() > s.most+minFile || n < 5 {
		t.Errorf("after %d: %d bytes, %v", n, info.Size(), err)
	}
	must(t, s.Settle(t.Context(), ended(pending("a"), answered)))
	for s.waiting() > 0 {
		var told []interact.ID
		for _, r := range s.batch() {
			told = append(told, r.Request.ID)
		}
		must(t, s.append(line{Op: opReported, IDs: told}))
	}
	must(t, s.Settle(t.Context(), ended(big(n), passed)))
}

// What a desk has in its journal is reported no more, and what it could not take is reported until it can.
func TestSpoolIsEmptied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openedSpool(t, spoolPath(t))
		ctx, stop := context.WithCancel(t.Context())
		var took []string
		fails := 3
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.empty(ctx, func(_ context.Context, records []interact.Record) error {
				if fails--; fails >= 0 {
					return errors.New("no desk")
				}
				took = append(took, ids(records)...)
				return nil
			})
		}()
		var want []string
		for n := range 3 * maxBatch {
			id := fmt.Sprint("p", n)
			want = append(want, id)
			must(t, s.Settle(ctx, ended(pending(id), passed)))
		}
		time.Sleep(4 * reportRetry)
		synctest.Wait()
		if !slices.Equal(took, want) || s.waiting() != 0 || s.live != 0 {
			t.Errorf("took %d of %d; %d wait, %d bytes", len(took), len(want), s.waiting(), s.live)
		}
		stop()
		<-done
	})
}

func FuzzSpool(f *testing.F) {
	path := spoolPath(f)
	s := openedSpool(f, path)
	must(f, s.Open(f.Context(), pending("a")))
	s.report("a", func() *interact.Reported { return &interact.Reported{} })
	must(f, s.Settle(f.Context(), ended(pending("p"), passed)))
	text, err := os.ReadFile(path)
	must(f, err)
	f.Add(text)
	f.Add([]byte(`{"op":"told","ids":["a"]}` + "\n" + `{"op":"ask","id":"b"}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := spoolPath(t)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, text, 0o600))
		first := openedSpool(t, path)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			t.Fatal("there is no file")
		}
		second := openedSpool(t, path)
		open, last := first.restore()
		openAgain, lastAgain := second.restore()
		if !slices.Equal(ids(open), ids(openAgain)) || !slices.Equal(ids(last), ids(lastAgain)) ||
			!slices.Equal(ids(first.batch()), ids(second.batch())) {
			t.Errorf("%q is read another way when it was written anew", text)
		}
	})
}
