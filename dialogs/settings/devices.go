package settings

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"rsc.io/qr"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/policy"
	"nod/policy/config"
)

const phonePort = "7464"

const addressWidth = 230

// pushes are the settings for what wakes devices, in the order of their options. The option after them is a topic.
var pushes = []string{"", config.PushWeb}

const pushesToTopic = 2

// pollPace is the interval at which the page checks whether an invitation was accepted.
const pollPace = time.Second

// phoneSection sets where phones find this desk, what wakes them, and what each may do.
type phoneSection struct {
	page    *machinesPage
	content fyne.CanvasObject

	address  *choiceRow   // of the page for phones
	saved    config.Phone // as last shown
	push     *controls.Select
	pushRow  *settingRow
	topic    *savedEntry
	topicBox *fyne.Container // holds it
	handOver *savedEntry
	served   *fyne.Container // the addresses of the page, or why it is not served
	isServed drawn
	devices  part // its body lists them
	rights   map[string]*rightsRow

	inviting   *invitingForm   // nil unless a device is being added
	invitation *fyne.Container // holds the form, or the question whether to pair a device
	asks       drawn
	add        *controls.Button
}

func newPhoneSection(p *machinesPage) *phoneSection {
	s := &phoneSection{
		page: p, served: dialogs.Column(0), invitation: container.NewStack(), rights: map[string]*rightsRow{},
		asks: drawn{operator.Joining{}}, // no device asks
	}
	s.address = newChoiceRow(p.win, addressWidth, lang.L("Serve the page for phones"),
		lang.L("Your devices can reach a Tailscale or WireGuard address from anywhere; nobody else can."), nil,
		func(c *config.Config) *string { return &c.Remote.Phone.Address })
	s.push = controls.NewSelect([]string{lang.L("nothing"), "Web Push", "ntfy"}, func(string) { s.setPush() })
	s.pushRow = newSettingRow(lang.L("Wake devices with"),
		lang.L("The message is empty. Web Push sends it through the browser's vendor, ntfy through a server you choose."),
		dialogs.Sized(controlWidth, 0, s.push))
	s.topic = newRemoteEntry(p.win, lang.L("Topic at an ntfy server"),
		lang.L("For example, https://ntfy.example.com/my-topic."),
		lang.L("Enter the https address of a topic at an ntfy server."),
		func(c *config.Config) *string { return &c.Remote.Phone.Push })
	s.topicBox = dialogs.Column(0, dialogs.Rule(), s.topic.row().Content)
	s.handOver = newDuration(p.win, lang.L("Tell devices after"), lang.L("How long a prompt waits here before your "+
		"devices are told, even while the screen is locked, nod is paused or quiet hours are on."), 0, time.Hour,
		func(c *config.Config) *time.Duration { return &c.Remote.HandOver })
	s.devices = newPeerList(p.win, lang.L("Devices"),
		lang.L("Each can see and deny pending prompts. You permit the rest."))
	s.add = controls.NewButton(lang.L("Add a device…"), theme.ContentAddIcon(), s.begin)
	s.content = dialogs.Column(sectionGap,
		dialogs.Column(9, section(lang.L("Phone"),
			lang.L("A small web page that shows pending prompts on your phone or tablet."),
			s.address.Content, dialogs.Column(0, s.pushRow.Content, s.topicBox), s.handOver.row().Content), s.served),
		dialogs.Column(9, s.devices.content, s.invitation, container.NewHBox(s.add)))
	return s
}

func (s *phoneSection) refresh(state operator.State) {
	s.saved = state.Config.Remote.Phone
	settingList{s.address, s.topic, s.handOver}.refresh(state)
	controls.Enable(state.Problem == "", s.push)
	chosen := slices.Index(pushes, s.saved.Push)
	if chosen < 0 {
		chosen = pushesToTopic
	}
	if s.topic.Text == s.topic.saved { // otherwise the user is editing it
		s.showPush(chosen)
	}
	s.showAddress()
}

func (s *phoneSection) showPush(chosen int) {
	s.push.OnChanged = nil
	s.push.SetSelectedIndex(chosen)
	s.push.OnChanged = func(string) { s.setPush() }
	dialogs.SetVisible(s.topicBox, chosen == pushesToTopic)
	if chosen != pushesToTopic {
		s.topic.Problem.Say("")
	} else if slices.Contains(pushes, s.saved.Push) {
		s.topic.saved = ""
		s.topic.SetText("")
	}
}

func (s *phoneSection) setPush() {
	chosen := s.push.SelectedIndex()
	s.showPush(chosen)
	if chosen == pushesToTopic { // nothing changes until there is a topic
		return
	}
	value := pushes[max(chosen, 0)]
	s.page.win.change(func(c *config.Config) error { c.Remote.Phone.Push = value; return nil }, s.pushRow.Problem.Complain)
}

func (s *phoneSection) showAddress() {
	places := []option{{"", lang.L("off")}}
	for _, a := range s.page.peers.Phone.Addresses {
		places = append(places, option{net.JoinHostPort(a.IP, s.port()), a.IP + " · " + cleaned(a.Interface)})
	}
	saved := s.address.value
	if !slices.ContainsFunc(places, func(o option) bool { return o.value == saved }) {
		places = append(places, option{saved, cleaned(saved)})
	}
	s.address.offer(places)
}

func (s *phoneSection) port() string {
	if _, port, err := net.SplitHostPort(s.saved.Address); err == nil {
		return port
	}
	return phonePort
}

func (s *phoneSection) draw() {
	s.showAddress()
	s.drawServed()
	s.drawDevices()
	if f := s.inviting; f != nil {
		f.draw()
	}
	s.drawAsking()
}

func (s *phoneSection) drawServed() {
	phone := s.page.peers.Phone
	if !s.isServed.changed(phone.URL, phone.Fingerprint, phone.Problem) {
		return
	}
	var rows []fyne.CanvasObject
	if phone.Problem != "" {
		rows = append(rows, dialogs.Padded(10, 14, controls.Paragraph(cleaned(phone.Problem), widget.DangerImportance)))
	}
	if phone.URL != "" {
		rows = append(rows, factRow(lang.L("Address"), cleaned(phone.URL)),
			factRow(lang.L("Fingerprint of its certificate (SHA-256)"), cleaned(phone.Fingerprint)))
	}
	controls.SetContent(s.served)
	if len(rows) > 0 {
		controls.SetContent(s.served, card(rows...))
	}
}

func (s *phoneSection) drawDevices() {
	devices := s.page.peersThat(func(peer operator.Peer) bool { return peer.Role == remote.RoleDevice })
	if !s.devices.drawn.changed(devices, s.page.sure) {
		return
	}
	clear(s.rights)
	controls.SetContent(s.devices.body, listOf(devices, s.deviceRow, lang.L("None.")))
}

func (s *phoneSection) deviceRow(d operator.Peer) fyne.CanvasObject {
	rights := newRightsRow(d.May, func(may remote.May) {
		s.page.act(func(ctx context.Context, o operator.Operator) error {
			return o.SetMay(ctx, d.Name, may)
		}, func(err error) {
			if err != nil {
				s.devices.drawn = nil // so that the row shows what is saved
			}
		})
	})
	s.rights[d.Name] = rights
	seen := ""
	if !d.Seen.IsZero() && !d.Up {
		seen = lang.L("last seen {{.Ago}}", map[string]any{"Ago": ago(d.Seen, time.Now())})
	}
	added := lang.L("added {{.Day}}", map[string]any{"Day": d.Added.Local().Format(time.DateOnly)})
	return dialogs.Padded(9, 14, dialogs.Column(6, nameRow(d.Name, stateBadge(d.State)),
		controls.Muted(joined(added, seen)), rights.content,
		container.NewHBox(s.page.revokeButton(d.Name))))
}

type rightsRow struct {
	content   fyne.CanvasObject
	questions *controls.Check
	approvals *controls.Select
	may       remote.May
}

var approvalClasses = append([]policy.Class{""}, policy.Classes...)

func approvalsName(c policy.Class) string {
	switch c {
	case "":
		return lang.L("nothing")
	case policy.Unknown:
		return lang.L("everything")
	}
	return lang.L("up to “{{.Class}}”", map[string]any{"Class": controls.ClassName(c)})
}

func newRightsRow(may remote.May, changed func(remote.May)) *rightsRow {
	r := &rightsRow{may: may}
	r.questions = controls.NewCheck(lang.L("answer questions"), nil)
	r.questions.SetChecked(may.Questions)
	r.approvals = controls.NewSelect(each(approvalClasses, approvalsName), nil)
	r.approvals.SetSelectedIndex(max(slices.Index(approvalClasses, may.Approvals), 0))
	set := func() {
		now := remote.May{Questions: r.questions.Checked, Approvals: approvalClasses[max(r.approvals.SelectedIndex(), 0)]}
		if now != r.may {
			r.may = now
			changed(now)
		}
	}
	r.questions.OnChanged = func(bool) { set() }
	r.approvals.OnChanged = func(string) { set() }
	allow := dialogs.Words(lang.L("allow"), theme.SizeNameText, theme.ColorNameForeground)
	r.content = container.NewHBox(r.questions, container.NewCenter(allow),
		dialogs.Sized(controlWidth, 0, r.approvals))
	return r
}

// invitingForm adds a device: first its name and rights, then the code for its camera.
type invitingForm struct {
	section *phoneSection
	name    *controls.TextField
	rights  *rightsRow
	problem *controls.Remark

	invited string // the name of the invited device; "" for none
	code    operator.Invitation
	left    *widget.Label
}

func (s *phoneSection) begin() {
	f := &invitingForm{section: s, problem: controls.NewRemark(widget.DangerImportance)}
	f.name = controls.NewTextField(s.page.win.Shortcut, false)
	f.name.SetPlaceHolder(lang.L("Name of the device, such as Pixel"))
	f.name.OnSubmitted = func(string) { f.invite() }
	f.rights = newRightsRow(remote.May{Questions: true}, func(remote.May) {})
	s.inviting = f
	show := controls.MainButton(lang.L("Show the code"), nil, f.invite)
	cancel := controls.QuietButton(lang.L("Cancel"), nil, s.leave)
	controls.SetContent(s.invitation, card(dialogs.Padded(10, 14, dialogs.Column(8,
		controls.Paragraph(lang.L("It may see and deny pending prompts. What else may it do?"), widget.MediumImportance),
		f.name, f.rights.content, f.problem.Content, container.NewHBox(show, cancel)))))
	s.add.Hide()
	s.page.win.Win.Canvas().Focus(f.name)
	s.page.win.Reveal(s.invitation)
}

func (s *phoneSection) leave() {
	s.inviting, s.asks = nil, drawn{operator.Joining{}}
	s.add.Show()
	controls.SetContent(s.invitation)
}

func (s *phoneSection) withdraw() {
	s.page.act(func(ctx context.Context, o operator.Operator) error { return o.WithdrawInvitation(ctx) }, nil)
}

func (f *invitingForm) invite() {
	name, may := strings.TrimSpace(f.name.Text), f.rights.may
	switch {
	case f.section.page.peers.Phone.URL == "":
		f.problem.Complain(errors.New(lang.L("Pick an address for the page first.")))
		return
	case name == "":
		f.problem.Complain(errors.New(lang.L("Give it a name first.")))
		return
	}
	var code operator.Invitation
	f.section.page.win.Act(func(ctx context.Context) (err error) {
		code, err = f.section.page.win.opts.Operator.Invite(ctx, name, may)
		return err
	}, func(err error) {
		if f.section.inviting != f {
			if err == nil {
				f.section.withdraw() // the form was closed meanwhile
			}
			return
		}
		f.problem.Complain(err)
		if err == nil {
			f.invited, f.code = name, code
			f.show()
			f.poll()
		}
	})
}

func (f *invitingForm) show() {
	code, err := newQRCode(f.code.URL)
	if err != nil {
		f.problem.Complain(err)
		return
	}
	phone := f.section.page.peers.Phone
	f.left = dialogs.Lines("", theme.SizeNameText, widget.MediumImportance)
	f.tick()
	words := dialogs.Column(8,
		controls.Bold(lang.L("Scan this with the camera of {{.Name}}", map[string]any{"Name": cleaned(f.invited)}),
			theme.SizeNameText),
		controls.Muted(lang.L("Its browser will warn about the certificate, which this computer made. Compare the "+
			"fingerprint, continue and press Pair. Both screens then show six words.")),
		controls.Exact(cleaned(phone.URL), theme.SizeNameCaptionText),
		controls.Exact(cleaned(phone.Fingerprint), theme.SizeNameCaptionText),
		dialogs.Tight(f.left),
		container.NewHBox(controls.NewButton(lang.L("Cancel"), nil, func() {
			f.section.leave()
			f.section.withdraw()
		})))
	controls.SetContent(f.section.invitation, card(dialogs.Padded(12, 14,
		controls.Besides(16, words, code))))
	f.section.page.win.Reveal(f.section.invitation)
}

func (f *invitingForm) tick() bool {
	left := time.Until(f.code.Until).Round(time.Second)
	if left <= 0 {
		f.left.SetText(lang.L("The code has expired. Cancel, and show another."))
		return false
	}
	f.left.SetText(lang.L("For one device, valid for {{.Time}}", map[string]any{"Time": config.FormatDuration(left)}))
	return true
}

func (f *invitingForm) poll() {
	f.section.page.win.After(pollPace, func() {
		if f.section.inviting == f && f.section.page.win.Visible() && f.tick() {
			f.section.page.fetch()
			f.poll()
		}
	})
}

func (f *invitingForm) draw() {
	isIt := func(p operator.Peer) bool { return p.Role == remote.RoleDevice && p.Name == f.invited }
	if f.invited != "" && slices.ContainsFunc(f.section.page.peers.Peers, isIt) {
		f.section.leave()
	}
}

func isDevice(j operator.Joining) bool { return j.Role == remote.RoleDevice }

func (s *phoneSection) drawAsking() {
	var asks operator.Joining
	if i := slices.IndexFunc(s.page.peers.Joining, isDevice); i >= 0 {
		asks = s.page.peers.Joining[i]
	}
	if !s.asks.changed(asks) {
		return
	}
	switch f := s.inviting; {
	case asks.Key.Sign != "":
		s.ask(asks)
	case f != nil && f.invited != "": // the code has expired, or was withdrawn
		f.show()
	case f == nil:
		s.leave()
	}
}

func (s *phoneSection) ask(asks operator.Joining) {
	problem := controls.NewRemark(widget.DangerImportance)
	pair := controls.MainButton(lang.L("The words match: pair"), nil, func() {
		s.page.act(func(ctx context.Context, o operator.Operator) error {
			return o.Pair(ctx, asks.Key, asks.Role, asks.Hello.Name)
		}, problem.Complain)
	})
	cancel := controls.QuietButton(lang.L("Cancel"), nil, func() {
		s.page.peers.Joining = slices.DeleteFunc(s.page.peers.Joining, isDevice)
		s.leave()
		s.withdraw()
	})
	may := lang.L("see and deny pending prompts")
	if asks.May.Questions {
		may = joined(may, lang.L("answer questions"))
	}
	if asks.May.Approvals != "" {
		may = joined(may, lang.L("allow")+" "+approvalsName(asks.May.Approvals))
	}
	controls.SetContent(s.invitation, card(dialogs.Padded(12, 14, dialogs.Column(8,
		controls.Bold(lang.L("Pair this phone?"), theme.SizeNameText),
		controls.Paragraph(lang.L("{{.Name}} must show the same words. If it doesn't, cancel.",
			map[string]any{"Name": cleaned(asks.Hello.Name)}), widget.MediumImportance),
		controls.Exact(cleaned(asks.Fingerprint), theme.SizeNameSubHeadingText),
		controls.Muted(lang.L("Permissions")+": "+may), problem.Content, container.NewHBox(pair, cancel)))))
	s.add.Hide()
	s.page.win.Reveal(s.invitation)
}

const codeSize = 248 // width and height of a code

func newQRCode(text string) (fyne.CanvasObject, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil, fmt.Errorf("draw the code: %w", err)
	}
	img := canvas.NewImageFromResource(fyne.NewStaticResource("code.png", code.PNG()))
	img.FillMode, img.ScaleMode = canvas.ImageFillContain, canvas.ImageScalePixels
	img.SetMinSize(fyne.NewSquareSize(codeSize))
	return img, nil
}
