package snapshot

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A folder that becomes a link and a folder again, as fast as can be, leads to no file behind the link, within the
// project or out of it.
func TestRaceOfLinks(t *testing.T) {
	r, project := open(t)
	fd, err := unix.Open(project, unix.O_PATH, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	all, changed, mine := files{}, files{}, files{}
	for i := range 100 {
		name := fmt.Sprint("f", i)
		all["d/"+name], changed["d/"+name] = "1", "2"
		mine[name] = "2" // what is expected, so that only the link tells them apart
	}
	outside, inside := filepath.Join(filepath.Dir(project), "outside"), filepath.Join(project, "inside")
	all["link0"], all["link1"] = "->"+outside, "->inside"
	all.write(t, project)
	mine.write(t, outside)
	mine.write(t, inside)
	before := take(t, r)
	changed.write(t, project)
	p, err := r.Plan(t.Context(), Run{Number: 1, Before: before, After: take(t, r)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var racing sync.WaitGroup
	racing.Go(func() {
		for i := 0; ; i++ {
			link := fmt.Sprint("link", i%2)
			for range 2 { // there, and back
				if err := unix.Renameat2(fd, "d", fd, link, unix.RENAME_EXCHANGE); err != nil {
					t.Error(err)
					return
				}
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for range 10 {
		if _, err := p.restore(t.Context(), ownPrefix+"race"); err != nil {
			t.Error(err)
		}
	}
	close(done)
	racing.Wait()
	equal(t, "outside", read(t, outside), mine)
	equal(t, "inside", read(t, inside), mine)
}
