package settings

import (
	"net/url"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/assets"
	"nod/dialogs"
)

// aboutPage says what runs, where it listens and where its files are.
type aboutPage struct {
	content             fyne.CanvasObject
	about               About
	tray, notifications *widget.Label
}

func newAboutPage(about About, open func(string)) *aboutPage {
	p := &aboutPage{
		about:         about,
		tray:          dialogs.Lines("", theme.SizeNameCaptionText, widget.MediumImportance),
		notifications: dialogs.Lines("", theme.SizeNameCaptionText, widget.MediumImportance),
	}
	door := []fyne.CanvasObject{factRow(lang.L("Address"), about.URL)}
	if about.Socket != "" {
		door = append(door, factRow(lang.L("Socket"), about.Socket))
	}
	p.content = page(
		p.head(),
		section(lang.L("Where agents reach nod"), "", door...),
		section(lang.L("Files"), "",
			factRow(lang.L("Rules and settings"), about.Config, folderButton(about.Config, open)),
			factRow(lang.L("Log"), about.Log, folderButton(about.Log, open))),
		section(lang.L("This desktop"), "",
			labelled(lang.L("Tray icons"), p.tray), labelled(lang.L("Notifications"), p.notifications)),
	)
	return p
}

func (p *aboutPage) head() fyne.CanvasObject {
	icon := canvas.NewImageFromResource(fyne.NewStaticResource("nod.png", assets.App()))
	icon.SetMinSize(fyne.NewSquareSize(64))
	icon.FillMode = canvas.ImageFillContain
	words := dialogs.Column(3,
		dialogs.BoldWords("nod "+p.about.Version, theme.SizeNameSubHeadingText, theme.ColorNameForeground),
		dialogs.Words(lang.L("Agents ask. You nod."), theme.SizeNameText, dialogs.ColorMuted))
	return dialogs.Row(16, icon, words)
}

// ask asks the desktop what it shows, and does not hold the window up.
func (p *aboutPage) ask(aside func(func())) {
	about := p.about
	aside(func() {
		tray, notifications := about.Tray(), about.Notifications()
		fyne.Do(func() {
			p.tray.SetText(shownOr(tray, lang.L("This desktop shows none. Start nod again to open this window; on GNOME the AppIndicator extension helps.")))
			p.notifications.SetText(shownOr(notifications, lang.L("This desktop has no notification service; prompts show as windows only.")))
		})
	})
}

func shownOr(shown bool, otherwise string) string {
	if shown {
		return lang.L("Shown")
	}
	return otherwise
}

// factRow is a row of something to copy.
func factRow(name, value string, behind ...fyne.CanvasObject) fyne.CanvasObject {
	text := dialogs.Lines(value, theme.SizeNameCaptionText, widget.MediumImportance)
	text.TextStyle.Monospace = true
	text.Wrapping = fyne.TextWrapBreak
	text.Selectable = true
	copied := widget.NewButtonWithIcon("", theme.ContentCopyIcon(), func() { fyne.CurrentApp().Clipboard().SetContent(value) })
	copied.Importance = widget.LowImportance
	words := dialogs.Column(3, dialogs.Words(name, theme.SizeNameText, theme.ColorNameForeground), dialogs.Tight(text))
	return dialogs.Padded(8, 14, container.New(besides{gap: 12}, words, container.NewHBox(append(behind, copied)...)))
}

func labelled(name string, text *widget.Label) fyne.CanvasObject {
	return dialogs.Padded(8, 14, dialogs.Column(3,
		dialogs.Words(name, theme.SizeNameText, theme.ColorNameForeground), dialogs.Tight(text)))
}

func folderButton(file string, open func(string)) fyne.CanvasObject {
	b := widget.NewButtonWithIcon(lang.L("Open folder"), theme.FolderOpenIcon(), func() { open(filepath.Dir(file)) })
	b.Importance = widget.LowImportance
	return b
}

// fileURL is the address of a local file.
func fileURL(path string) *url.URL {
	path = filepath.ToSlash(path)
	if path != "" && path[0] != '/' { // C:/…
		path = "/" + path
	}
	return &url.URL{Scheme: "file", Path: path}
}
