package main

import (
	"io"
	"os"
	"os/exec"
	"testing"
)

// Programs that nod-dialogs starts, such as an editor, do not inherit the connection to nod-desktop: they could answer
// for the user.
func TestWhatItStartsHasNoConnection(t *testing.T) {
	wasIn, wasOut := os.Stdin, os.Stdout
	t.Cleanup(func() { os.Stdin, os.Stdout = wasIn, wasOut })
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if _, err := write.WriteString("from nod-desktop"); err != nil {
		t.Fatal(err)
	}
	write.Close()
	os.Stdin = read
	in, out, err := takeConnection()
	if err != nil {
		t.Fatal(err)
	}
	if out != wasOut || os.Stdout != os.Stderr {
		t.Error("what a library prints gets into the connection")
	}
	editor := exec.Command("cat") // as Fyne starts what opens a file
	editor.Stdin = os.Stdin
	if got, err := editor.Output(); err != nil || len(got) > 0 {
		t.Errorf("an editor reads %q, %v", got, err)
	}
	if got, err := io.ReadAll(in); err != nil || string(got) != "from nod-desktop" {
		t.Errorf("nod-dialogs reads %q, %v", got, err)
	}
}
