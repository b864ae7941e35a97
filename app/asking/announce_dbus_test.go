//go:build unix && !darwin

package asking

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"nod/api"
	"nod/app/desktop"
	"nod/changes"
	"nod/interact"
)

// desktopNotice is a notification as a desktop's service has it.
type desktopNotice struct {
	replaces uint32
	body     string
	actions  []string
	hints    map[string]dbus.Variant
}

// fakeNotifications is a desktop's service that a test plays.
type fakeNotifications struct {
	bus    *testBus
	from   dbus.Sender
	hang   chan struct{} // nil: it answers
	fails  *dbus.Error   // the answer to each notification; nil: it is shown
	notice chan desktopNotice
	closed chan uint32
}

// the id of every notification.
const noticeID = uint32(7)

func (b *testBus) fakeNotifications(hang chan struct{}) *fakeNotifications {
	b.t.Helper()
	f := &fakeNotifications{bus: b, hang: hang, notice: make(chan desktopNotice, 10), closed: make(chan uint32, 10)}
	if err := b.conn.Export(f, notificationsPath, desktop.Notifications); err != nil {
		b.t.Fatal(err)
	}
	b.own(desktop.Notifications)
	return f
}

// GetCapabilities is the method of that name.
func (f *fakeNotifications) GetCapabilities() ([]string, *dbus.Error) {
	return []string{"body", "body-markup", "actions"}, nil
}

// Notify is the method of that name.
func (f *fakeNotifications) Notify(from dbus.Sender, _ string, replaces uint32, _, _, body string, actions []string,
	hints map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	f.from = from
	f.notice <- desktopNotice{replaces, body, actions, hints}
	if f.hang != nil {
		<-f.hang
	}
	return noticeID, f.fails
}

// CloseNotification is the method of that name.
func (f *fakeNotifications) CloseNotification(id uint32) *dbus.Error {
	f.closed <- id
	return nil
}

// signal tells nod something, as only a service can, or anybody with anything in it.
func (f *fakeNotifications) signal(member string, body ...any) {
	f.bus.sendSignal(string(f.from), desktop.Notifications, member, body...)
}

// anAnnouncement is about a request in a project whose name is markup.
func anAnnouncement(fresh bool, open func()) *announcement {
	who := interact.Requester{Agent: "claude-code", IsAgent: true, CWD: "/src/<b>shop",
		Process: api.Process{Exe: "/usr/bin/node"}}
	r := interact.Request{Requester: who, Body: api.Ask{}}
	return &announcement{request: r, fresh: fresh, sound: fresh, open: open}
}

func (b *testBus) newBoard() func(*announcement) {
	return newBoard(b.t.Context(), newNotifier(showByBeeep(nil), nil, slog.New(slog.DiscardHandler)))
}

func TestAClickLeadsToTheRequest(t *testing.T) {
	b := startBus(t)
	f := b.fakeNotifications(nil)
	opened := make(chan bool, 10)
	post := b.newBoard()
	post(anAnnouncement(true, func() { opened <- true }))
	got := receive(t, f.notice)
	if got.replaces != 0 || got.body != "Claude Code · &lt;b&gt;shop has a question" ||
		!slices.Equal(got.actions, []string{"default", "Open"}) {
		t.Errorf("sent %q, %q", got.body, got.actions)
	}
	if got.hints["sound-name"].Value() != messageSound || got.hints["suppress-sound"].Value() != false {
		t.Error("without a sound")
	}
	post(anAnnouncement(false, func() { opened <- true }))
	got = receive(t, f.notice)
	if _, sounds := got.hints["sound-name"]; got.replaces != noticeID || sounds {
		t.Errorf("in place of %d, sounds %v; want it in place of the first, without a sound", got.replaces, sounds)
	}
	for _, hostile := range [][]any{{}, {noticeID}, {"default", noticeID}, {noticeID + 1, "default"}} {
		f.signal("ActionInvoked", hostile...)
		f.signal("NotificationClosed", hostile...)
	}
	f.signal("ActionInvoked", noticeID, noticeID)
	f.signal("ActionInvoked", noticeID, "other")
	f.signal("ActionInvoked", noticeID, "default")
	receive(t, opened)
	post(nil)
	if id := receive(t, f.closed); id != noticeID {
		t.Errorf("closed %d", id)
	}
	if len(opened) > 0 {
		t.Error("something else than a click opened the request")
	}
}

// What the user has closed stays so, until there is something new.
func TestAClosedNotificationStaysClosed(t *testing.T) {
	b := startBus(t)
	f := b.fakeNotifications(nil)
	post := b.newBoard()
	post(anAnnouncement(true, nil))
	receive(t, f.notice)
	for began := time.Now(); desktop.HasOwner(b.conn, string(f.from)); {
		f.signal("NotificationClosed", noticeID, uint32(2)) // nod may not know the id yet
		if time.Since(began) > patience {
			t.Fatal("nod waits for what is gone")
		}
	}
	post(anAnnouncement(false, nil))
	post(anAnnouncement(true, nil))
	if got := receive(t, f.notice); got.replaces != 0 {
		t.Errorf("in the place of %d, want a new one", got.replaces)
	}
}

// A service that hangs holds nobody up, and what it shows when it runs again is taken back.
func TestWhatAHangingServiceShowsLateIsTakenBack(t *testing.T) {
	b := startBus(t)
	hang := make(chan struct{})
	f := b.fakeNotifications(hang)
	post := b.newBoard()
	post(anAnnouncement(true, nil))
	receive(t, f.notice)
	for range 100 {
		post(anAnnouncement(true, nil))
		post(nil)
	}
	close(hang)
	if id := receive(t, f.closed); id != noticeID {
		t.Errorf("closed %d", id)
	}
}

// What comes while the service refuses the one before is sent all the same.
func TestAnnouncementDuringARefusal(t *testing.T) {
	b := startBus(t)
	hang := make(chan struct{})
	f := b.fakeNotifications(hang)
	f.fails = dbus.MakeFailedError(errors.New("too many notifications"))
	board := &board{notifier: newNotifier(showByBeeep(nil), nil, slog.New(slog.DiscardHandler)),
		changed: changes.NewSignal()}
	go board.run(t.Context())
	board.post(anAnnouncement(true, nil))
	receive(t, f.notice)
	board.post(anAnnouncement(true, nil))
	for began := time.Now(); len(board.changed) > 0; time.Sleep(time.Millisecond) { // until the board has seen it
		if time.Since(began) > patience {
			t.Fatal("nod waits for the service alone")
		}
	}
	close(hang)
	receive(t, f.notice)
}

func TestAnnouncementsWithoutAService(t *testing.T) {
	b := startBus(t)
	post := b.newBoard()
	post(anAnnouncement(true, nil))
	post(nil)
	f := b.fakeNotifications(nil)
	post(anAnnouncement(true, nil))
	receive(t, f.notice)
}
