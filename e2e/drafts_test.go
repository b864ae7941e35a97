//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// kept waits until what is typed is in the journal.
func (n *nod) kept(text string) {
	n.t.Helper()
	must(n.t, n.Screen.Await(n.ctx, "a draft with "+text, func() (found bool, err error) {
		conn, err := sqlite.OpenConn(n.journalPath(), sqlite.OpenReadOnly)
		if err != nil {
			return false, err
		}
		defer conn.Close()
		err = sqlitex.Execute(conn, "SELECT draft FROM pending WHERE draft IS NOT NULL", &sqlitex.ExecOptions{
			ResultFunc: func(row *sqlite.Stmt) error {
				found = found || strings.Contains(row.ColumnText(0), text)
				return nil
			},
		})
		return found, err
	}))
}

// halfAForm sends a form and types half of it.
func (n *nod) halfAForm() *call {
	n.t.Helper()
	path := filepath.Join(n.Home(), "form.json")
	must(n.t, os.WriteFile(path, []byte(form), 0o600))
	c := n.send("form", path)
	n.prompt()
	n.armed()
	n.after(func() { n.press("space") })       // the first option of the first question
	n.after(func() { n.press("Return", "2") }) // on to the checks, of which the second
	n.press("Return")
	n.write("ord")
	n.kept(`"ord"`)
	return c
}

// restOfTheForm goes on where halfAForm ended, and sends it.
func (n *nod) restOfTheForm(c *call) {
	n.t.Helper()
	n.write("ers") // the focus is where it was
	n.affirm()
	out, status := c.result()
	if want := `{"checks":["lint"],"database":["sqlite"],"name":"orders"}`; status != 0 || compact(n.t, out) != want {
		n.t.Errorf("got %s, status %d\nwant %s", out, status, want)
	}
	n.noWindow()
}

// TestDraftsOutliveTheWindows kills the windows with half a form typed, and goes on.
func TestDraftsOutliveTheWindows(t *testing.T) {
	t.Parallel()
	n := start(t, slowToArm)
	c := n.halfAForm()
	old := n.windowsProcess()
	must(t, syscall.Kill(old, syscall.SIGKILL))
	n.another(old)
	n.press("ctrl+Return") // too early: the prompt has just come back
	c.pending()
	n.shot("draft-back")
	n.restOfTheForm(c)
}

// TestDraftsOutliveNod kills all of nod with half a form typed, starts it again, and goes on.
func TestDraftsOutliveNod(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.halfAForm()
	must(t, n.cmd.Process.Kill())
	<-n.ended
	n.noWindow()
	n.startNod()
	n.prompt()
	n.shot("draft-restored")
	n.restOfTheForm(c)
}
