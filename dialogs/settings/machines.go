package settings

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/safetext"
	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/ipc/remote/session"
	"nod/policy/config"
)

// machinesPage shows who else asks and answers: machines with relays, other desks, and the user's devices.
type machinesPage struct {
	part
	settings settingList
	peers    operator.Peers // last fetched
	known    bool           // peers were fetched
	editable bool
	machines []config.Machine // that nod connects to
	nats     config.NATS

	joining   part // its body lists the peers, as that of paired
	paired    part
	lines     *lineList
	server    *fyne.Container // state of the NATS connection, and the command that starts a relay
	serverWas drawn
	phone     *phoneSection

	naming  *pairing                // the key being named; may be nil
	ignored map[remote.Key]struct{} // keys that asked to join and that the user ignored
	most    int                     // largest number of machines and desks listed
	sure    string                  // the peer whose "Revoke" button was pressed once
}

func newPeerList(w *Window, heading, hint string) part {
	l := newPart(w)
	l.content = dialogs.Column(9, header(heading, hint), l.body)
	return l
}

func newMachinesPage(w *Window) *machinesPage {
	p := &machinesPage{part: newPart(w), ignored: map[remote.Key]struct{}{}, server: dialogs.Column(0), most: rowsShown}
	p.joining = newPeerList(w, lang.L("Asks to join"), lang.L("Pair it only if it shows exactly these words."))
	p.paired = newPeerList(w, lang.L("Machines and desks"),
		lang.L("Agents on a machine ask here. nod cannot verify that machine's files."))
	p.lines = newLineList(p)
	p.phone = newPhoneSection(p)
	nats := func(name, hint, want string, of func(*config.NATS) *string) *savedEntry {
		return newRemoteEntry(w, name, hint, want, func(c *config.Config) *string { return of(&c.Remote.NATS) })
	}
	p.content = page(
		p.problem.Content,
		p.body,
		p.joining.content,
		p.paired.content,
		p.lines.content,
		dialogs.Column(9, p.settings.section(lang.L("Over NATS"),
			lang.L("For several desks, or machines of several people. The server can neither read nor forge messages."),
			nats(lang.L("Server"), lang.L("For example, tls://nats.example.com; separate several with commas. Leave empty "+
				"for none."),
				lang.L("Enter addresses such as tls://nats.example.com:4222, separated by commas without spaces."),
				func(n *config.NATS) *string { return &n.URL }),
			nats(lang.L("Credentials"), lang.L("The path of a .creds file. Leave empty for none."),
				lang.L("Enter the full path of a file."), func(n *config.NATS) *string { return &n.Credentials }),
			nats(lang.L("Certificates to trust"), lang.L("The path of a file. Leave empty to use the system's "+
				"certificates."),
				lang.L("Enter the full path of a file."), func(n *config.NATS) *string { return &n.CA }),
			nats(lang.L("Prefix"), lang.L("The prefix of NATS subjects."),
				lang.L("Use up to 32 letters, digits, - and _."), func(n *config.NATS) *string { return &n.Prefix })),
			p.server),
		p.phone.content,
	)
	return p
}

// newRemoteEntry returns a text setting for how nod reaches others. want says what the configuration accepts.
func newRemoteEntry(w *Window, name, hint, want string, of func(*config.Config) *string) *savedEntry {
	return newSavedEntry(w, name, hint, func(c *config.Config) string { return *of(c) },
		func(c *config.Config, typed string) error {
			if *of(c) = strings.TrimSpace(typed); c.Validate() != nil {
				return errors.New(want)
			}
			return nil
		})
}

func (p *machinesPage) refresh(s operator.State) {
	p.settings.refresh(s)
	p.editable, p.machines, p.nats = s.Problem == "", s.Config.Remote.Machines, s.Config.Remote.NATS
	p.phone.refresh(s)
	p.fetch()
}

func (p *machinesPage) fetch() {
	controls.Fetch(&p.work, p.win.opts.Operator.Peers, p.show)
}

func (p *machinesPage) show(all operator.Peers, err error) {
	if err != nil {
		p.problem.Complain(err)
		return
	}
	if !p.known || all.Problem == "" && p.peers.Problem != "" {
		p.problem.Say("")
	}
	p.peers, p.known = all, true
	p.draw()
}

func (p *machinesPage) draw() {
	if !p.known {
		return
	}
	p.drawDesk()
	p.drawJoining()
	p.drawPaired()
	p.lines.draw()
	p.drawServer()
	p.phone.draw()
}

func (p *machinesPage) act(do func(context.Context, operator.Operator) error, done func(error)) {
	p.win.Act(func(ctx context.Context) error { return do(ctx, p.win.opts.Operator) }, func(err error) {
		p.work.Drop() // a result on its way may be older
		p.problem.Complain(err)
		if done != nil {
			done(err)
		}
		p.draw()
	})
}

// drawDesk shows the words of this desk and, if another program has changed the list of peers, that change.
func (p *machinesPage) drawDesk() {
	if !p.drawn.changed(p.peers.Fingerprint, p.peers.Problem, p.peers.Held) {
		return
	}
	var rows []fyne.CanvasObject
	if p.peers.Problem != "" {
		rows = append(rows, p.heldRow())
	}
	words := dialogs.Column(2, dialogs.Words(lang.L("Fingerprint"), theme.SizeNameText, theme.ColorNameForeground),
		wordsOf(p.peers.Fingerprint))
	rows = append(rows, dialogs.Padded(9, 14, controls.Besides(12, words, copyButton(p.peers.Fingerprint))))
	controls.SetContent(p.body, section(lang.L("This desk"),
		lang.L("Machines and other desks show these words for this desk."), rows...))
}

// heldRow says that no peer is trusted at present, and lets the user resolve that.
func (p *machinesPage) heldRow() fyne.CanvasObject {
	text := dialogs.Column(6, controls.Paragraph(cleaned(p.peers.Problem), widget.DangerImportance))
	settle := func(accept bool) func() {
		seen := p.peers.Held
		return func() {
			p.act(func(ctx context.Context, o operator.Operator) error { return o.SettlePeers(ctx, seen, accept) }, nil)
		}
	}
	buttons := container.NewHBox()
	for _, held := range p.peers.Held {
		text.Add(controls.Exact(roleName(held.Role)+"  "+cleaned(held.Name)+"  "+held.Key.Fingerprint(),
			theme.SizeNameCaptionText))
	}
	if len(p.peers.Held) > 0 {
		buttons.Add(controls.NewButton(lang.L("Accept these"), nil, settle(true)))
	}
	buttons.Add(controls.NewButton(lang.L("Start over with none"), nil, settle(false)))
	return dialogs.Padded(9, 14, dialogs.Column(8, text, buttons))
}

type pairing struct {
	asks operator.Joining
	name *controls.TextField
}

func isSameAs(j, other operator.Joining) bool { return j.Key == other.Key && j.Role == other.Role }

// drawJoining lists peers that ask to join and are not ignored.
func (p *machinesPage) drawJoining() {
	all := slices.DeleteFunc(slices.Clone(p.peers.Joining), isDevice)
	asks := slices.DeleteFunc(slices.Clone(all), func(j operator.Joining) bool {
		_, isIgnored := p.ignored[j.Key]
		return isIgnored
	})
	if p.naming != nil && !slices.ContainsFunc(asks, func(j operator.Joining) bool { return isSameAs(j, p.naming.asks) }) {
		p.naming = nil
	}
	hidden := len(all) - len(asks)
	dialogs.SetVisible(p.joining.content, len(asks)+hidden > 0)
	if !p.joining.drawn.changed(asks, hidden, p.naming, p.editable) {
		return
	}
	rows := each(asks[:min(len(asks), rowsShown)], p.joiningRow)
	if more := len(asks) - rowsShown; more > 0 {
		rows = append(rows, emptyRow(lang.L("+{{.Count}} more", map[string]any{"Count": more})))
	}
	if hidden > 0 {
		again := controls.QuietButton(lang.L("Show what was ignored"), nil, func() {
			clear(p.ignored)
			p.draw()
		})
		rows = append(rows, container.NewCenter(again))
	}
	controls.SetContent(p.joining.body, card(rows...))
}

func (p *machinesPage) joiningRow(j operator.Joining) fyne.CanvasObject {
	who := lang.L("{{.Role}} that calls itself “{{.Name}}”",
		map[string]any{"Role": roleName(j.Role), "Name": cleaned(j.Hello.Name)})
	if j.Role == remote.RoleDesk {
		who = lang.L("Another desk wants to answer requests from {{.Machine}}", map[string]any{"Machine": cleaned(j.Line)})
	}
	words := dialogs.Column(4,
		controls.Paragraph(who, widget.MediumImportance),
		wordsOf(j.Fingerprint),
		controls.Muted(joined(claims(j.Hello), cleaned(j.Line), ago(j.Came, time.Now()))))
	if p.naming == nil || !isSameAs(j, p.naming.asks) {
		pair := controls.NewButton(lang.L("Pair…"), nil, func() { p.name(j) })
		controls.Enable(p.peers.Problem == "", pair)
		ignore := controls.QuietButton(lang.L("Ignore"), nil, func() {
			p.ignored[j.Key] = struct{}{}
			p.draw()
		})
		return dialogs.Padded(9, 14, controls.Besides(12, words, container.NewHBox(ignore, pair)))
	}
	letIn := controls.MainButton(lang.L("The words match: pair"), nil, p.pair)
	cancel := controls.QuietButton(lang.L("Cancel"), nil, func() { p.name(operator.Joining{}) })
	words.Add(controls.Muted(lang.L("Give it a name, which prompts and History show.")))
	words.Add(p.naming.name)
	words.Add(container.NewHBox(letIn, cancel))
	return dialogs.Padded(9, 14, words)
}

func (p *machinesPage) name(j operator.Joining) {
	p.naming = nil
	p.problem.Say("")
	if j.Key != (remote.Key{}) {
		field := controls.NewTextField(p.win.Shortcut, false)
		field.SetPlaceHolder(lang.L("Name"))
		field.SetText(suggestedName(j.Hello.Name))
		field.CursorColumn = utf8.RuneCountInString(field.Text)
		field.OnSubmitted = func(string) { p.pair() }
		p.naming = &pairing{j, field}
	}
	p.draw()
	if p.naming != nil {
		p.win.Win.Canvas().Focus(p.naming.name)
	}
}

func suggestedName(claimed string) string {
	const most = 40
	isPlain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_'
	}
	if len(claimed) > most || strings.ContainsFunc(claimed, func(r rune) bool { return !isPlain(r) }) {
		return ""
	}
	return claimed
}

func (p *machinesPage) pair() {
	if p.naming == nil {
		return
	}
	asks, name := p.naming.asks, strings.TrimSpace(p.naming.name.Text)
	if name == "" {
		p.problem.Complain(errors.New(lang.L("Give it a name first.")))
		return
	}
	p.act(func(ctx context.Context, o operator.Operator) error {
		return o.Pair(ctx, asks.Key, asks.Role, name)
	}, func(err error) {
		if err == nil {
			p.naming = nil
		}
	})
}

func (p *machinesPage) peersThat(are func(operator.Peer) bool) []operator.Peer {
	return slices.DeleteFunc(slices.Clone(p.peers.Peers), func(peer operator.Peer) bool { return !are(peer) })
}

func (p *machinesPage) drawPaired() {
	peers := p.peersThat(func(peer operator.Peer) bool { return peer.Role != remote.RoleDevice })
	if !p.paired.drawn.changed(peers, p.sure, p.most) {
		return
	}
	rows := each(peers[:min(len(peers), p.most)], p.peerRow)
	switch {
	case len(rows) == 0:
		rows = append(rows, emptyRow(lang.L("None. Add a machine below; it then asks to join.")))
	case len(peers) > p.most:
		rows = append(rows, showMore(&p.most, p.draw))
	}
	controls.SetContent(p.paired.body, card(rows...))
}

func (p *machinesPage) peerRow(peer operator.Peer) fyne.CanvasObject {
	name := nameRow(peer.Name)
	if peer.Role != remote.RoleDesk { // which connects to machines only
		name.Add(stateBadge(peer.State))
	}
	words := dialogs.Column(4, name, controls.Muted(joined(roleName(peer.Role), cleaned(peer.Line), claims(peer.Hello))))
	if figures := joined(peerFigures(peer)...); figures != "" {
		words.Add(controls.Muted(figures))
	}
	for _, desk := range peer.Hello.Desks {
		if desk != p.peers.Desk {
			words.Add(controls.Muted(lang.L("Another desk can answer too: {{.Name}}",
				map[string]any{"Name": cleaned(desk.Fingerprint())})))
		}
	}
	if peer.State.Problem != "" {
		words.Add(controls.Small(problemOf(peer.State), widget.WarningImportance))
	}
	buttons := container.NewHBox()
	if peer.Role == remote.RoleMachine {
		forget := controls.QuietButton(lang.L("Forget approvals"), nil, func() {
			p.act(func(ctx context.Context, o operator.Operator) error { return o.ForgetApprovals(ctx, peer.Name) }, nil)
		})
		controls.Enable(peer.Up, forget) // how many there are it said when it came
		buttons.Add(forget)
	}
	buttons.Add(p.revokeButton(peer.Name))
	words.Add(buttons)
	return dialogs.Padded(9, 14, words)
}

func (p *machinesPage) revokeButton(name string) *controls.Button {
	text, importance := lang.L("Revoke"), widget.MediumImportance
	if p.sure == name {
		text, importance = lang.L("Press again to revoke"), widget.DangerImportance
	}
	b := controls.NewButton(text, nil, func() {
		if p.sure != name {
			p.sure = name
			p.draw()
			return
		}
		p.sure = ""
		p.act(func(ctx context.Context, o operator.Operator) error { return o.Unpair(ctx, name) }, nil)
	})
	b.Importance = importance
	return b
}

// escape closes the form for a peer or a device. It reports whether there was one.
func (p *machinesPage) escape() bool {
	isOpen := p.naming != nil || p.phone.inviting != nil
	if isOpen {
		p.leave()
	}
	return isOpen
}

func (p *machinesPage) leave() {
	p.sure, p.naming = "", nil
	p.phone.leave()
	p.draw()
}

func stateOf(s remote.State, now time.Time) (string, fyne.ThemeColorName) {
	since := map[string]any{"Time": clockTime(s.Since, now)}
	switch {
	case s.Up && s.Since.IsZero():
		return lang.L("connected"), theme.ColorNameSuccess
	case s.Up:
		return lang.L("connected since {{.Time}}", since), theme.ColorNameSuccess
	case s.Since.IsZero():
		return lang.L("not connected"), dialogs.ColorMuted
	}
	return lang.L("not connected since {{.Time}}", since), theme.ColorNameWarning
}

func stateBadge(s remote.State) fyne.CanvasObject { return dialogs.Badge(stateOf(s, time.Now())) }

// nameRow returns a row with a name that another program gave, and objects after it.
func nameRow(name string, behind ...fyne.CanvasObject) *fyne.Container {
	words := dialogs.Words(cleaned(name), theme.SizeNameText, theme.ColorNameForeground).Bold()
	return container.NewHBox(append([]fyne.CanvasObject{words}, behind...)...)
}

func clockTime(t, now time.Time) string {
	t = t.In(now.Location())
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}

const skewShown = 2 * time.Second

func peerFigures(peer operator.Peer) (all []string) {
	add := func(is bool, sentence string) {
		if is {
			all = append(all, sentence)
		}
	}
	add(peer.Pending > 0, lang.L("{{.Count}} pending", map[string]any{"Count": peer.Pending}))
	add(peer.Hello.Policy > 0 && !peer.IsOld, lang.L("applies your policy"))
	add(peer.IsOld, lang.L("applies an older version of your policy"))
	add(peer.Role == remote.RoleMachine && peer.Up && peer.Hello.Policy == 0,
		lang.L("has no policy yet: asks about everything"))
	add(peer.Hello.Grants > 0, lang.L("approvals kept there: {{.Count}}", map[string]any{"Count": peer.Hello.Grants}))
	add(peer.Trip > 0, lang.L("{{.Time}} round trip", map[string]any{"Time": peer.Trip.Round(time.Millisecond)}))
	skew := map[string]any{"Time": peer.Skew.Abs().Round(time.Second)}
	add(peer.Skew > skewShown, lang.L("its clock is {{.Time}} ahead", skew))
	add(peer.Skew < -skewShown, lang.L("its clock is {{.Time}} behind", skew))
	add(!peer.Up && !peer.Seen.IsZero(), lang.L("last seen {{.Ago}}", map[string]any{"Ago": ago(peer.Seen, time.Now())}))
	return all
}

func claims(h remote.Hello) string {
	version := ""
	if h.Version != "" {
		version = "nod " + cleaned(h.Version)
	}
	who := cleaned(h.Name)
	if h.User != "" {
		who = cleaned(h.User) + "@" + who
	}
	return joined(who, cleaned(h.System), version)
}

const maxClaim = 80

func cleaned(s string) string { return safetext.Line(s, 2*maxClaim) }

// problemOf returns why a connection is down, in the user's language or in the words of a server.
func problemOf(s remote.State) string {
	if slices.Contains(session.Problems, s.Problem) {
		return lang.L(s.Problem)
	}
	return cleaned(s.Problem)
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// wordsOf shows a fingerprint that breaks only between words.
func wordsOf(fingerprint string) fyne.CanvasObject {
	l := dialogs.Lines(cleaned(fingerprint), theme.SizeNameText, widget.MediumImportance)
	l.TextStyle.Monospace = true
	return dialogs.Tight(l)
}

func roleName(r remote.Role) string {
	return cmp.Or(map[remote.Role]string{
		remote.RoleMachine: lang.L("Machine"), remote.RoleDesk: lang.L("Desk"), remote.RoleDevice: lang.L("Device"),
	}[r], lang.L("Unknown"))
}

func copyButton(text string) *controls.Button {
	return controls.QuietButton("", theme.ContentCopyIcon(), func() { fyne.CurrentApp().Clipboard().SetContent(text) })
}

// drawServer shows the state of the NATS connection, and the command that starts a relay.
func (p *machinesPage) drawServer() {
	var line operator.Line
	for _, l := range p.peers.Lines {
		if l.Name == operator.NATSLine {
			line = l
		}
	}
	state, color := stateOf(line.State, time.Now())
	if !p.serverWas.changed(p.nats, line, p.peers.Desk, state) {
		return
	}
	if p.nats.URL == "" {
		controls.SetContent(p.server)
		return
	}
	command := "nod relay --nats " + p.nats.URL + " --desk " + p.peers.Desk.String()
	if p.nats.Prefix != config.Default().Remote.NATS.Prefix {
		command += " --prefix " + p.nats.Prefix
	}
	words := dialogs.Column(4, container.NewHBox(dialogs.Badge(state, color)))
	if line.Problem != "" {
		words.Add(controls.Small(cleaned(line.Problem), widget.WarningImportance))
	}
	words.Add(controls.Muted(lang.L("Start a relay on each machine with:")))
	words.Add(controls.Exact(safetext.Line(command, 4*controls.QuoteLimit), theme.SizeNameCaptionText))
	row := dialogs.Padded(9, 14, controls.Besides(12, words, copyButton(command)))
	controls.SetContent(p.server, card(row))
}
