package acp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"nod/api"
)

// FuzzPass: what goes in comes out, byte for byte, whole lines at a time unless they are too long.
func FuzzPass(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n\xff\x00"), uint16(1))
	f.Add([]byte("no line break"), uint16(3))
	f.Add([]byte("long "), uint16(maxLine/20))
	f.Add([]byte("\n"), uint16(5000))
	f.Fuzz(func(t *testing.T, text []byte, times uint16) {
		if len(text)*int(times) > 3*maxLine {
			t.Skip("too long for a test")
		}
		in := bytes.Repeat(text, int(times))
		for _, r := range []io.Reader{bytes.NewReader(in), iotest.HalfReader(bytes.NewReader(in))} {
			var out bytes.Buffer
			w := &output{w: &out}
			take := func(line []byte) error {
				if i := bytes.IndexByte(line, '\n'); i >= 0 && i < len(line)-1 {
					t.Errorf("%q is more than a line", line)
				}
				return w.write(line)
			}
			if err := pass(r, w, take, func() {}); err != nil {
				t.Error(err)
			}
			if !bytes.Equal(out.Bytes(), in) {
				t.Errorf("%d bytes came out of %d", out.Len(), len(in))
			}
		}
	})
}

// A line is too long to be read when nod-desktop would not take it; then it is said so once.
func TestLongLines(t *testing.T) {
	for length, isRead := range map[int]bool{1: true, maxLine - 1: true, maxLine * 2: false, maxLine * 5: false} {
		in := "a\n" + strings.Repeat("x", length) + "\nb\n"
		var out, read strings.Builder
		w, skipped := &output{w: &out}, 0
		take := func(line []byte) error {
			read.Write(line)
			return w.write(line)
		}
		if err := pass(strings.NewReader(in), w, take, func() { skipped++ }); err != nil {
			t.Error(err)
		}
		if out.String() != in {
			t.Errorf("length %d: %d bytes came out of %d", length, out.Len(), len(in))
		}
		if want := map[bool]string{true: in, false: "a\nb\n"}[isRead]; read.String() != want || (skipped == 0) != isRead {
			t.Errorf("length %d: read %d bytes, skipped %d", length, read.Len(), skipped)
		}
	}
}

// Nothing is written into the middle of a long line that is still on its way.
func TestAnswerAfterLongLine(t *testing.T) {
	fromEditor, editor := io.Pipe()
	fromAgent, agent := io.Pipe()
	heard, toAgent := io.Pipe()
	decided := make(chan struct{})
	p := New(io.Discard, toAgent, "agent", func(context.Context, api.ApproveRequest, bool) (api.ApproveReply, error) {
		<-decided
		return allow, nil
	})
	ends := make(chan error, 2)
	go func() { ends <- p.FromEditor(fromEditor) }()
	go func() { ends <- p.FromAgent(fromAgent) }()
	hears := func(n int) string {
		t.Helper()
		text := make([]byte, n)
		if _, err := io.ReadFull(heard, text); err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	says := func(w io.Writer, text string) {
		t.Helper()
		if _, err := io.WriteString(w, text); err != nil {
			t.Error(err)
		}
	}
	load := `{"id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/p"}}` + "\n"
	go says(editor, load)
	hears(len(load))
	says(agent, asks("7", runs, once, reject)+"\n")
	begin := strings.Repeat("x", 2*maxLine)
	go says(editor, begin)
	if got := hears(len(begin)); got != begin {
		t.Error("the line came out different")
	}
	close(decided)
	go says(editor, "end\n")
	if got, want := hears(4+len(selected("7", "once"))), "end\n"+selected("7", "once"); got != want {
		t.Errorf("the agent hears %q, want %q", got, want)
	}
	editor.Close()
	agent.Close()
	for range 2 {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
}

// A side that listens no more ends what is passed to it.
func TestDeafSide(t *testing.T) {
	deaf := errors.New("deaf")
	reader, writer := io.Pipe()
	reader.CloseWithError(deaf)
	for _, text := range []string{"a\n", strings.Repeat("x", 3*maxLine) + "\n"} {
		p := New(writer, writer, "agent", nil)
		if err := p.FromAgent(strings.NewReader(text)); !errors.Is(err, deaf) {
			t.Errorf("FromAgent: %v", err)
		}
		if err := p.FromEditor(strings.NewReader(text)); !errors.Is(err, deaf) {
			t.Errorf("FromEditor: %v", err)
		}
		if err := p.FromEditor(iotest.ErrReader(deaf)); !errors.Is(err, deaf) {
			t.Errorf("FromEditor of what cannot be read: %v", err)
		}
	}
}
