package settings

import (
	"net/url"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/assets"
	"nod/dialogs"
	"nod/dialogs/controls"
)

func aboutPage(w *Window) fyne.CanvasObject {
	about := w.state.About
	addresses := []fyne.CanvasObject{factRow(lang.L("Address"), about.URL)}
	if about.Socket != "" {
		addresses = append(addresses, factRow(lang.L("Socket"), about.Socket))
	}
	greet := controls.NewButton(lang.L("Show the welcome"), nil, func() { w.Show(true) })
	return page(
		head(about.Version, greet),
		section(lang.L("Where agents reach nod"), "", addresses...),
		section(lang.L("Files"), "",
			factRow(lang.L("Rules and settings"), about.Config, folderButton(about.Config, w.open)),
			factRow(lang.L("Log"), about.Log, folderButton(about.Log, w.open))),
	)
}

func head(version string, button fyne.CanvasObject) fyne.CanvasObject {
	name := dialogs.Lines("nod "+version, theme.SizeNameSubHeadingText, widget.MediumImportance)
	name.TextStyle.Bold, name.Wrapping = true, fyne.TextWrapBreak
	words := dialogs.Column(3, dialogs.Tight(name),
		dialogs.Words(lang.L("Agents ask. You nod."), theme.SizeNameText, dialogs.ColorMuted))
	icon := container.New(layout.NewCustomPaddedLayout(0, 0, 0, 12), nodIcon(64))
	return container.NewBorder(nil, nil, icon, nil, controls.Besides(12, words, button))
}

func nodIcon(size float32) fyne.CanvasObject {
	icon := canvas.NewImageFromResource(fyne.NewStaticResource("nod.png", assets.App()))
	icon.SetMinSize(fyne.NewSquareSize(size))
	icon.FillMode = canvas.ImageFillContain
	return icon
}

func factRow(name, value string, behind ...fyne.CanvasObject) fyne.CanvasObject {
	words := dialogs.Column(3, dialogs.Words(name, theme.SizeNameText, theme.ColorNameForeground),
		controls.Exact(value, theme.SizeNameCaptionText))
	buttons := container.NewHBox(append(behind, copyButton(value))...)
	return dialogs.Padded(8, 14, controls.Besides(12, words, buttons))
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
