package dialogs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"nod/interact"
)

// touches counts the files in a folder that are opened or read while do runs.
func touches(t *testing.T, folder string, do func()) int {
	t.Helper()
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Skip("no inotify here:", err)
	}
	defer func() {
		if err := unix.Close(watch); err != nil {
			t.Error(err)
		}
	}()
	if _, err := unix.InotifyAddWatch(watch, folder, unix.IN_OPEN|unix.IN_ACCESS|unix.IN_CLOSE); err != nil {
		t.Fatal(err)
	}
	do()
	n, err := unix.Read(watch, make([]byte, 64<<10))
	if errors.Is(err, unix.EAGAIN) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The kernel confirms that a prompt of another machine reads nothing here, even if all of its paths exist here.
func TestRemotePromptTouchesNoFile(t *testing.T) {
	folder := project(t, "shop.go", goFile)
	if err := os.WriteFile(filepath.Join(folder, "agent"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	all := remoteRequests(t, folder)
	show := func(r interact.Request) {
		s := newScreen(t)
		s.open(r)
		s.open(bash("other", "make")) // and its row in the queue
		s.ready()
		s.tap(s.page().head.queue)
		s.p.window.openMore(s.p.queue.find(r.ID))
		s.chord("Return")
	}
	for _, r := range all {
		tool := r.Body.(interact.Approve).Tool
		if n := touches(t, folder, func() { show(r) }); n > 0 {
			t.Errorf("a prompt of another machine about %s touches files of this one", tool)
		}
	}
	here := 0
	for _, r := range all {
		r.Requester.Machine, r.Reported = "", nil
		here += touches(t, folder, func() { show(r) })
	}
	if here == 0 {
		t.Error("no prompt of this machine touches a file either: the test sees nothing")
	}
}
