package interact_test

import (
	"strings"
	"testing"
	"time"

	"nod/e2e/interacttest"
)

// Deadlines are in monotonic time: the clock may be set, and the machine sleep, without a difference to who waits.
func TestDeadlinesAreMonotonic(t *testing.T) {
	d := startDesktop(new(interacttest.Journal), &interacttest.Prompter{})
	ticket, err := d.Begin(approve("Bash"))
	if err != nil {
		t.Fatal(err)
	}
	ticket.Detach()
	open, last := d.journal.Left()
	d.Close()
	d.journal = interacttest.JournalOf(open, last)
	d.start()
	defer d.Close()
	restored := d.Pending()[0]
	for name, at := range map[string]time.Time{
		"deadline": ticket.Request().Deadline, "patience": ticket.Request().Until,
		"restored deadline": restored.Deadline, "restored patience": restored.Until,
	} {
		if !strings.Contains(at.String(), " m=") {
			t.Errorf("%s is in wall time: %s", name, at)
		}
	}
}
