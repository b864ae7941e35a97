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
	"nod/dialogs/controls"
	"nod/ipc/operator"
)

// aboutPage shows which build runs, where it listens, and where its files are.
type aboutPage struct {
	part
	tray, notifications *widget.Label
}

func newAboutPage(w *Window) *aboutPage {
	p := &aboutPage{
		part:          newPart(w),
		tray:          dialogs.Lines("", theme.SizeNameCaptionText, widget.MediumImportance),
		notifications: dialogs.Lines("", theme.SizeNameCaptionText, widget.MediumImportance),
	}
	about := w.state.About
	addresses := []fyne.CanvasObject{factRow(lang.L("Address"), about.URL)}
	if about.Socket != "" {
		addresses = append(addresses, factRow(lang.L("Socket"), about.Socket))
	}
	p.content = controls.Page(
		container.NewBorder(nil, nil, nil, container.NewCenter(controls.NewButton(lang.L("Show the welcome"), w.ShowWelcome)),
			head(about.Version)),
		controls.Section(lang.L("Where agents reach nod"), "", addresses...),
		controls.Section(lang.L("Files"), "",
			factRow(lang.L("Rules and settings"), about.Config, folderButton(about.Config, w.open)),
			factRow(lang.L("Log"), about.Log, folderButton(about.Log, w.open))),
		controls.Section(lang.L("This desktop"), "",
			labelled(lang.L("Tray icons"), p.tray), labelled(lang.L("Notifications"), p.notifications)),
		p.problem.Content,
	)
	return p
}

func head(version string) fyne.CanvasObject {
	icon := canvas.NewImageFromResource(fyne.NewStaticResource("nod.png", assets.App()))
	icon.SetMinSize(fyne.NewSquareSize(64))
	icon.FillMode = canvas.ImageFillContain
	words := dialogs.Column(3,
		dialogs.BoldWords("nod "+version, theme.SizeNameSubHeadingText, theme.ColorNameForeground),
		dialogs.Words(lang.L("Agents ask. You nod."), theme.SizeNameText, dialogs.ColorMuted))
	return dialogs.Row(16, icon, words)
}

func (p *aboutPage) ask() { controls.Fetch(&p.work, p.win.opts.Operator.Desktop, p.show) }

func (p *aboutPage) show(d operator.Desktop, err error) {
	p.problem.Complain(err)
	if err != nil {
		return
	}
	p.tray.SetText(shownOr(d.Tray, lang.L("This desktop shows no tray icons. Start nod again to open this window; on "+
		"GNOME the AppIndicator extension helps.")))
	p.notifications.SetText(shownOr(d.Notifications, lang.L("This desktop has no notification service; prompts show as "+
		"windows only.")))
}

func shownOr(shown bool, otherwise string) string {
	if shown {
		return lang.L("Shown")
	}
	return otherwise
}

func factRow(name, value string, behind ...fyne.CanvasObject) fyne.CanvasObject {
	text := dialogs.Lines(value, theme.SizeNameCaptionText, widget.MediumImportance)
	text.TextStyle.Monospace = true
	text.Wrapping = fyne.TextWrapBreak
	copied := controls.QuietButton("", theme.ContentCopyIcon(), func() { fyne.CurrentApp().Clipboard().SetContent(value) })
	words := dialogs.Column(3, dialogs.Words(name, theme.SizeNameText, theme.ColorNameForeground), dialogs.Tight(text))
	buttons := container.NewHBox(append(behind, copied)...)
	return dialogs.Padded(8, 14, container.New(controls.Besides{Gap: 12}, words, buttons))
}

func labelled(name string, text *widget.Label) fyne.CanvasObject {
	return dialogs.Padded(8, 14, dialogs.Column(3,
		dialogs.Words(name, theme.SizeNameText, theme.ColorNameForeground), dialogs.Tight(text)))
}

func folderButton(file string, open func(string)) fyne.CanvasObject {
	return controls.QuietButton(lang.L("Open folder"), theme.FolderOpenIcon(), func() { open(filepath.Dir(file)) })
}

func fileURL(path string) *url.URL {
	path = filepath.ToSlash(path)
	if path != "" && path[0] != '/' { // C:/…
		path = "/" + path
	}
	return &url.URL{Scheme: "file", Path: path}
}
