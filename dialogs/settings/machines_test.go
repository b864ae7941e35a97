package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/dialogstest"
	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/policy"
	"nod/policy/config"
)

// onMachinesPage opens the settings of somebody with peers.
func onMachinesPage(t *testing.T, o *fakeOperator) *machinesPage {
	t.Helper()
	w := openWindow(t, o, "light")
	w.tabs.selectIndex(onMachines)
	return w.machines
}

// invite begins to add a device of that name.
func (w *Window) invite(t *testing.T, name string) {
	t.Helper()
	w.machines.phone.begin()
	w.machines.phone.inviting.name.SetText(name)
	w.machines.phone.inviting.invite()
}

// says reports whether a visible text under o contains s.
func says(o fyne.CanvasObject, s string) bool {
	found := strings.Contains(test.RenderObjectToMarkup(o), s)
	dialogstest.Walk(o, func(o fyne.CanvasObject) { // which may be wrapped
		l, isLabel := o.(*widget.Label)
		found = found || isLabel && strings.Contains(l.Text, s)
	})
	return found
}

func (o *fakeOperator) wantDid(t *testing.T, want ...string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Equal(o.did, want) {
		t.Errorf("did %q, want %q", o.did, want)
	}
}

func TestWhatAsksToJoinIsPaired(t *testing.T) {
	o := somebody()
	p := onMachinesPage(t, o)
	if !says(p.joining.content, "garlic hockey ivory jungle kettle lemon") {
		t.Error("nothing shows the fingerprint of what asks to join")
	}
	test.Tap(buttonIn(t, p.joining.content, "Pair…"))
	if p.naming.name.Text != "ci-7" {
		t.Errorf("the name that is offered is %q", p.naming.name.Text)
	}
	if got := p.win.Win.Canvas().Focused(); got != p.naming.name {
		t.Errorf("%T has the focus, not the name", got)
	}
	p.naming.name.SetText("  ")
	test.Tap(buttonIn(t, p.joining.content, "The words match: pair"))
	o.wantDid(t)
	if shownBy(p.problem) == "" {
		t.Error("nothing says that the name is missing")
	}
	o.refuse = errRefused
	p.naming.name.SetText("build-1")
	test.Tap(buttonIn(t, p.joining.content, "The words match: pair"))
	if shownBy(p.problem) != errRefused.Error() || p.naming == nil {
		t.Errorf("the page says %q and asks for a name: %t", shownBy(p.problem), p.naming != nil)
	}
	o.refuse = nil
	p.naming.name.SetText(" runner ")
	p.win.Win.Canvas().Focus(p.naming.name)
	p.win.repeatKey(fyne.KeyReturn) // held down since it pressed Pair…
	o.wantDid(t, fmt.Sprintf("pair %v build-1", newcomer))
	p.win.typeKey(fyne.KeyReturn)
	o.wantDid(t, fmt.Sprintf("pair %v build-1", newcomer), fmt.Sprintf("pair %v runner", newcomer))
	if p.joining.content.Visible() || !says(p.paired.content, "runner") || shownBy(p.problem) != "" {
		t.Error("what was paired is not among the machines")
	}
}

// An ignored peer stays hidden until the user asks for it, and is never paired.
func TestWhatAsksToJoinIsIgnored(t *testing.T) {
	o := somebody()
	p := onMachinesPage(t, o)
	test.Tap(buttonIn(t, p.joining.content, "Ignore"))
	if says(p.joining.content, "garlic") {
		t.Error("what was ignored is still there")
	}
	p.win.Fetch()
	if says(p.joining.content, "garlic") {
		t.Error("what was ignored comes back by itself")
	}
	test.Tap(buttonIn(t, p.joining.content, "Show what was ignored"))
	if !says(p.joining.content, "garlic") {
		t.Error("what was ignored is gone for good")
	}
	o.wantDid(t)
}

func TestAPeerIsRevokedOnTheSecondPress(t *testing.T) {
	o := somebody()
	p := onMachinesPage(t, o)
	test.Tap(buttonsIn(p.paired.content, "Revoke")[1])
	o.wantDid(t)
	test.Tap(buttonIn(t, p.paired.content, "Press again to revoke"))
	o.wantDid(t, "unpair build-1")
	if says(p.paired.content, "build-1") {
		t.Error("it is still there")
	}
	test.Tap(buttonsIn(p.paired.content, "Revoke")[0])
	p.win.tabs.selectIndex(onGeneral)
	p.win.tabs.selectIndex(onMachines)
	if len(buttonsIn(p.paired.content, "Press again to revoke")) > 0 {
		t.Error("a press from before the page was left still counts")
	}
}

func TestApprovalsOfAMachineAreForgotten(t *testing.T) {
	o := somebody()
	p := onMachinesPage(t, o)
	forget := buttonsIn(p.paired.content, "Forget approvals")
	if len(forget) != 2 || forget[0].Disabled() || !forget[1].Disabled() {
		t.Fatalf("%d buttons; want one for the machine that keeps approvals and is connected", len(forget))
	}
	test.Tap(forget[0])
	o.wantDid(t, "forget build-1")
}

func TestHeldPeersAreSettled(t *testing.T) {
	for button, want := range map[string]string{
		"Accept these": "settle 1 true", "Start over with none": "settle 1 false",
	} {
		o := somebody()
		o.peers.Problem, o.peers.Held = "changed", []remote.Peer{{Name: "build-1", Role: remote.RoleMachine, Key: build1}}
		p := onMachinesPage(t, o)
		if !buttonIn(t, p.joining.content, "Pair…").Disabled() {
			t.Error("something can be paired while no peer counts")
		}
		test.Tap(buttonIn(t, p.body, button))
		o.wantDid(t, want)
		if says(p.body, "changed") {
			t.Error("it is still said")
		}
	}
	o := somebody()
	o.peers.Problem = "unreadable"
	if p := onMachinesPage(t, o); len(buttonsIn(p.body, "Accept these")) > 0 {
		t.Error("what cannot be read can be accepted")
	}
}

func TestLinesToMachines(t *testing.T) {
	o := somebody()
	p := onMachinesPage(t, o)
	add := func(kind, host string) string {
		p.lines.kind.SetSelected(kind)
		p.lines.entry.SetText(host)
		test.Tap(p.lines.add)
		return shownBy(p.lines.problem)
	}
	for _, bad := range []struct{ kind, host string }{
		{"ssh", ""}, {"ssh", "-oProxyCommand=x"}, {"ssh", "a b"}, {"docker", "a/b"}, {"podman", "-x"}, {"ssh", "ci@build-1"},
	} {
		if add(bad.kind, bad.host) == "" {
			t.Errorf("%s %q is taken", bad.kind, bad.host)
		}
	}
	if problem := add("podman", " web "); problem != "" {
		t.Error(problem)
	}
	want := []config.Machine{
		{Kind: "ssh", Host: "ci@build-1"}, {Kind: "docker", Host: "dev"}, {Kind: "podman", Host: "web"},
	}
	if got := o.config().Remote.Machines; !slices.Equal(got, want) {
		t.Errorf("the lines are %v", got)
	}
	test.Tap(buttonsIn(p.lines.body, "")[0])
	if got := o.config().Remote.Machines; !slices.Equal(got, want[1:]) {
		t.Errorf("the lines are %v", got)
	}
}

// A failing connection says why, in a short text.
func TestWhyALineIsDown(t *testing.T) {
	o := somebody()
	o.peers.Lines = []operator.Line{{Name: "docker dev", State: remote.State{Problem: "no such container\n\u202e"}}}
	p := onMachinesPage(t, o)
	if !says(p.lines.body, "no such container‹newline›‹U+202E›") {
		t.Error("nothing says why the line is down")
	}
	o.peers.Lines = []operator.Line{{Name: "docker dev", State: remote.State{Up: true}}}
	p.win.Fetch()
	if says(p.lines.body, "no such container") {
		t.Error("it is said of a line that is up")
	}
}

// All desks of a machine are shown, and one that asks to be another is for the user to pair.
func TestOtherDesksOfAMachine(t *testing.T) {
	o := somebody()
	for i := range o.peers.Peers {
		o.peers.Peers[i].Hello.Desks = []remote.Key{deskKey}
	}
	p := onMachinesPage(t, o)
	if says(p.paired.body, "Another desk answers") {
		t.Error("this desk passes for another one")
	}
	o.paired(func(all *operator.Peers) {
		all.Peers[0].Hello.Desks = []remote.Key{deskKey, newcomer}
		all.Joining = []operator.Joining{
			{Key: newcomer, Role: remote.RoleDesk, Fingerprint: newcomer.Fingerprint(), Line: "build-1"},
		}
	})
	p.fetch()
	if want := "Another desk can answer too: " + newcomer.Fingerprint(); !says(p.paired.body, want) {
		t.Errorf("nothing says %s", want)
	}
	for _, want := range []string{"Another desk wants to answer requests from build-1", newcomer.Fingerprint()} {
		if !says(p.joining.body, want) {
			t.Errorf("nothing says %s", want)
		}
	}
}

// The command that starts a relay names this desk's key, and there is one only with a server.
func TestTheCommandForARelay(t *testing.T) {
	o := somebody()
	p := onMachinesPage(t, o)
	if want := "nod relay --nats tls://nats.example.com --desk UDESK"; !says(p.server, want) {
		t.Errorf("nothing says %s", want)
	}
	o.state.Config.Remote.NATS.URL = ""
	p.win.Fetch()
	if says(p.server, "nod relay") {
		t.Error("there is a command without a server")
	}
}

func TestWhatDevicesMay(t *testing.T) {
	o := somebody()
	p := onMachinesPage(t, o)
	rights := p.phone.rights["Pixel"]
	rights.approvals.SetSelectedIndex(0)
	p.phone.rights["Pixel"].questions.SetChecked(false)
	p.phone.rights["Pixel"].approvals.SetSelected("everything")
	o.wantDid(t, "may Pixel true ", "may Pixel false ", "may Pixel false "+string(policy.Unknown))
}

// Rights that could not be saved are not shown as if the device had them.
func TestRightsThatAreNotSaved(t *testing.T) {
	o := somebody()
	p := onMachinesPage(t, o)
	before := p.phone.rights["Pixel"].may
	o.refuse = errors.New("disk full")
	p.phone.rights["Pixel"].approvals.SetSelected("everything")
	if got := p.phone.rights["Pixel"]; got.may != before || got.approvals.Selected != approvalsName(before.Approvals) {
		t.Errorf("shows %+v, %q", got.may, got.approvals.Selected)
	}
	if !strings.Contains(shownBy(p.problem), "disk full") {
		t.Errorf("says %q", shownBy(p.problem))
	}
}

func TestADeviceIsInvited(t *testing.T) {
	o := somebody()
	p := onMachinesPage(t, o)
	test.Tap(buttonIn(t, p.phone.content, "Add a device…"))
	form, shown := p.phone.inviting, p.phone.invitation
	bottom := fyne.CurrentApp().Driver().AbsolutePositionForObject(shown).Y + shown.Size().Height
	if whole := p.win.Win.Canvas().Size().Height; bottom > whole {
		t.Errorf("the form ends at %v of a window that is %v high", bottom, whole)
	}
	test.Tap(buttonIn(t, p.phone.invitation, "Show the code"))
	if shownBy(form.problem) == "" {
		t.Error("nothing says that the name is missing")
	}
	form.name.SetText("Tablet")
	form.rights.approvals.SetSelected("up to “Write”")
	test.Tap(buttonIn(t, p.phone.invitation, "Show the code"))
	o.wantDid(t, "invite Tablet true write")
	if !says(p.phone.invitation, "9F:86:D0:81") || !says(p.phone.invitation, "https://100.64.0.7:7464/") {
		t.Error("address or fingerprint do not stand beside the code")
	}
	if says(p.phone.invitation, "c2VjcmV0") {
		t.Error("the secret stands there in letters")
	}
	form.code.Until = time.Now().Add(-time.Second)
	if form.tick() {
		t.Error("an invitation that has ended still counts")
	}
	o.paired(func(all *operator.Peers) { all.Joining = append(all.Joining, tablet) })
	p.fetch()
	words := []string{"Pair this phone?", "Tablet must show the same words", tablet.Fingerprint, "answer questions"}
	for _, want := range words {
		if !says(p.phone.invitation, want) {
			t.Errorf("before it is paired nothing says %q", want)
		}
	}
	if says(p.joining.content, tablet.Fingerprint) || slices.ContainsFunc(o.peers.Peers, func(peer operator.Peer) bool {
		return peer.Name == "Tablet"
	}) {
		t.Error("it is among the machines, or paired before the user has compared")
	}
	test.Tap(buttonIn(t, p.phone.invitation, "The words match: pair"))
	o.wantDid(t, "invite Tablet true write", fmt.Sprint("pair ", tablet.Key, " Tablet"))
	p.fetch()
	if p.phone.inviting != nil || len(p.phone.invitation.Objects) > 0 {
		t.Error("the code is still there though the device has come")
	}
}

// A code that the user has cancelled lets in nobody, also one that came only after that.
func TestAnInvitationIsCancelled(t *testing.T) {
	o := somebody()
	p := onMachinesPage(t, o)
	p.win.invite(t, "Tablet")
	test.Tap(buttonIn(t, p.phone.invitation, "Cancel"))
	o.wantDid(t, "invite Tablet true ", "withdraw")
	if p.phone.inviting != nil || len(p.phone.invitation.Objects) > 0 {
		t.Error("the code is still there")
	}
}

// A device with other words is sent away; one whose time is over leaves the code; and who comes back finds the
// question.
func TestADeviceThatAsksIsSentAway(t *testing.T) {
	o := somebody()
	p := onMachinesPage(t, o)
	asks := func(list ...operator.Joining) {
		o.paired(func(all *operator.Peers) { all.Joining = list })
		p.fetch()
	}
	p.win.invite(t, "Tablet")
	asks(tablet)
	asks()
	if says(p.phone.invitation, tablet.Fingerprint) || !says(p.phone.invitation, "9F:86:D0:81") {
		t.Error("the code is not there again after the time was over")
	}
	asks(tablet)
	p.leave()
	p.fetch()
	if !says(p.phone.invitation, tablet.Fingerprint) {
		t.Error("who comes back to the page does not find the question")
	}
	test.Tap(buttonIn(t, p.phone.invitation, "Cancel"))
	o.wantDid(t, "invite Tablet true ", "withdraw")
	if p.phone.inviting != nil || len(p.phone.invitation.Objects) > 0 || !p.phone.add.Visible() {
		t.Error("the question is still there")
	}
}

// Without a page, devices have nothing to connect to.
func TestNobodyIsInvitedWithoutAPage(t *testing.T) {
	o := somebody()
	o.peers.Phone.URL = ""
	p := onMachinesPage(t, o)
	p.win.invite(t, "Tablet")
	o.wantDid(t)
	if shownBy(p.phone.inviting.problem) == "" {
		t.Error("nothing says why")
	}
}

func TestThePageForPhonesIsSwitched(t *testing.T) {
	o := somebody()
	o.state.Config.Remote.Phone.Address = ""
	p := onMachinesPage(t, o)
	if p.phone.address.pick.Selected != "off" {
		t.Errorf("it is %q", p.phone.address.pick.Selected)
	}
	p.phone.address.pick.SetSelected("100.64.0.7 · tailscale0")
	if got := o.config().Remote.Phone.Address; got != "100.64.0.7:7464" {
		t.Errorf("the address is %q", got)
	}
	p.phone.address.pick.SetSelected("off")
	if got := o.config().Remote.Phone.Address; got != "" {
		t.Errorf("the address is %q", got)
	}
	o.state.Config.Remote.Phone.Address = "10.9.8.7:9999" // of an interface that is not there now
	p.win.Fetch()
	if p.phone.address.pick.Selected != "10.9.8.7:9999" {
		t.Errorf("what is saved shows as %q", p.phone.address.pick.Selected)
	}
}

func TestWhatWakesDevices(t *testing.T) {
	o := somebody()
	p := onMachinesPage(t, o)
	topic := p.phone.topicBox
	p.phone.push.SetSelected("Web Push")
	if got := o.config().Remote.Phone.Push; got != config.PushWeb || topic.Visible() {
		t.Errorf("push is %q, and a topic is asked for: %t", got, topic.Visible())
	}
	p.phone.push.SetSelected("ntfy")
	if !topic.Visible() {
		t.Fatal("no topic is asked for")
	}
	p.phone.topic.SetText("http://ntfy.example.com/x")
	p.phone.topic.commit()
	if got := o.config().Remote.Phone.Push; got != config.PushWeb || shownBy(p.phone.topic.Problem) == "" {
		t.Errorf("push is %q, and nothing complains", got)
	}
	p.phone.topic.SetText("https://ntfy.example.com/x")
	p.phone.topic.commit()
	if got := o.config().Remote.Phone.Push; got != "https://ntfy.example.com/x" || p.phone.push.Selected != "ntfy" {
		t.Errorf("push is %q, shown as %q", got, p.phone.push.Selected)
	}
	p.phone.push.SetSelected("nothing")
	if got := o.config().Remote.Phone.Push; got != "" || topic.Visible() {
		t.Errorf("push is %q", got)
	}
}

// Whatever a machine says of itself is a line of plain text, and no name that it suggests is more than letters.
func TestHostileHello(t *testing.T) {
	evil := "x\u202e\n\x1b]0;pwned\a{{.Key}}" + strings.Repeat("long ", 1000)
	o := somebody()
	hello := remote.Hello{Name: evil, User: evil, System: evil, Version: evil}
	o.peers.Joining[0].Hello, o.peers.Joining[0].Line, o.peers.Joining[0].Fingerprint = hello, evil, evil
	o.peers.Peers[1].Hello, o.peers.Peers[1].State.Problem = hello, evil
	o.peers.Phone.Problem, o.peers.Lines[1].Problem = evil, evil
	p := onMachinesPage(t, o)
	dialogstest.Walk(p.content, func(c fyne.CanvasObject) {
		if l, ok := c.(*widget.Label); ok {
			if strings.ContainsAny(l.Text, "\u202e\x1b\a") || strings.Contains(l.Text, "x\n") || len(l.Text) > 2000 {
				t.Errorf("a label says %.100q", l.Text)
			}
		}
	})
	test.Tap(buttonIn(t, p.joining.content, "Pair…"))
	if p.naming.name.Text != "" {
		t.Errorf("it suggests the name %.50q", p.naming.name.Text)
	}
}

// A user with many machines can use the page, and one who writes is not disturbed by news.
func TestManyPeers(t *testing.T) {
	o := somebody()
	for i := range 200 {
		key := remote.Key{Sign: fmt.Sprint("U", i)}
		o.peers.Joining = append(o.peers.Joining, operator.Joining{Key: key, Role: remote.RoleMachine})
		o.peers.Peers = append(o.peers.Peers, operator.Peer{Peer: remote.Peer{Name: fmt.Sprint("m", i), Key: key,
			Role: remote.RoleMachine}})
	}
	p := onMachinesPage(t, o)
	test.Tap(buttonIn(t, p.joining.content, "Pair…"))
	field := p.naming.name
	if n := len(buttonsIn(p.paired.content, "Revoke")); n != rowsShown {
		t.Errorf("%d peers are listed at once", n)
	}
	test.Tap(buttonIn(t, p.paired.content, "Show more"))
	if n := len(buttonsIn(p.paired.content, "Revoke")); n != 2*rowsShown {
		t.Errorf("%d peers are listed", n)
	}
	if !says(p.joining.content, "+151 more") {
		t.Error("nothing says that more ask to join")
	}
	p.win.Win.Canvas().Focus(field)
	p.win.Fetch()
	if p.naming.name != field || p.win.Win.Canvas().Focused() != field {
		t.Error("news take the focus from the name")
	}
}
