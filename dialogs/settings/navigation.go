package settings

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/ipc/operator"
)

const (
	wideWindow = 800 // from this width on the window shows icons next to the names of pages
	namesWidth = 232
)

type windowPage struct {
	name    string
	icon    fyne.Resource
	content fyne.CanvasObject
	refresh func(operator.State) // called only while the page is selected
	enter   func()               // called when the page is selected
	leave   func()               // called when another page is selected
}

// navigation lists the pages of a window next to the selected one. In a narrow window it shows only their names,
// without icons.
type navigation struct {
	content    *fyne.Container
	onSelected func()

	pages    []windowPage
	narrow   float32 // width of the list without icons
	list     *pageList
	foot     *fyne.Container // holds a notice
	side     *fyne.Container // the list above foot
	selected int
	icons    bool // icons are shown next to the names
}

func newNavigation(pages []windowPage, onSelected func()) *navigation {
	n := &navigation{pages: pages, onSelected: onSelected}
	n.list = &pageList{}
	n.list.Length = func() int { return len(pages) }
	n.list.CreateItem, n.list.UpdateItem, n.list.OnSelected = newPageRow, n.fill, n.selectIndex
	n.list.HideSeparators = true
	n.list.move = func(by int) { n.selectIndex(min(max(n.selected+by, 0), len(pages)-1)) }
	n.list.ExtendBaseWidget(n.list)
	views := container.NewStack()
	for i, p := range pages {
		dialogs.SetVisible(p.content, i == 0)
		views.Add(p.content)
		text := fyne.MeasureText(p.name, theme.CaptionTextSize(), fyne.TextStyle{Bold: true})
		n.narrow = max(n.narrow, text.Width+2*theme.InnerPadding())
	}
	n.foot = container.NewStack()
	n.foot.Hide()
	n.side = container.NewBorder(nil, n.foot, nil, nil, n.list)
	n.content = container.New(n, dialogs.Surface(dialogs.ColorSunken, dialogs.Padded(8, 0, n.side)), views)
	n.list.Select(0)
	return n
}

func newPageRow() fyne.CanvasObject {
	name := widget.NewLabel("")
	name.Truncation = fyne.TextTruncateEllipsis
	icon := container.NewCenter(widget.NewIcon(nil))
	return container.NewStack(container.NewBorder(nil, nil, dialogs.Padded(0, 12, icon), nil, name),
		dialogs.Padded(2, 2, canvas.NewRectangle(color.Transparent)))
}

func (n *navigation) fill(i widget.ListItemID, row fyne.CanvasObject) {
	layers := row.(*fyne.Container).Objects
	ring := layers[1].(*fyne.Container).Objects[0].(*canvas.Rectangle)
	dialogs.DrawFocus(ring, n.list.focused && i == n.selected, false)
	parts := layers[0].(*fyne.Container).Objects // of a border layout: the middle comes first
	name := parts[0].(*widget.Label)
	name.TextStyle.Bold = i == n.selected
	name.SizeName = theme.SizeNameCaptionText
	if n.icons {
		name.SizeName = theme.SizeNameText
	}
	name.SetText(n.pages[i].name)
	dialogs.SetVisible(parts[1], n.icons)
	icon := parts[1].(*fyne.Container).Objects[0].(*fyne.Container).Objects[0].(*widget.Icon)
	icon.SetResource(n.pages[i].icon)
	if i == n.selected {
		icon.SetResource(theme.NewPrimaryThemedResource(n.pages[i].icon))
	}
}

func (n *navigation) selectIndex(i int) {
	if i == n.selected {
		return
	}
	n.page().leave()
	n.page().content.Hide()
	n.selected = i
	n.page().content.Show()
	n.list.Select(i)
	n.list.Refresh()
	n.page().enter()
	n.onSelected()
}

// note shows a notice below the list, or none.
func (n *navigation) note(notice ...fyne.CanvasObject) {
	controls.SetContent(n.foot, dialogs.Padded(4, 12, container.NewHBox(notice...)))
	dialogs.SetVisible(n.foot, len(notice) > 0)
	n.side.Refresh()
}

func (n *navigation) page() windowPage { return n.pages[n.selected] }

func (n *navigation) step(by int) {
	n.selectIndex((n.selected + by + len(n.pages)) % len(n.pages))
}

func (n *navigation) MinSize(objects []fyne.CanvasObject) fyne.Size {
	page := objects[1].MinSize()
	return fyne.NewSize(n.narrow+page.Width, page.Height)
}

func (n *navigation) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	if icons := size.Width >= wideWindow; icons != n.icons {
		n.icons = icons
		n.list.Refresh()
	}
	width := n.narrow
	if n.icons {
		width = namesWidth
	}
	objects[0].Resize(fyne.NewSize(width, size.Height))
	objects[1].Move(fyne.NewPos(width, 0))
	objects[1].Resize(fyne.NewSize(size.Width-width, size.Height))
}

// pageList is a list in which moving the focus also selects. Its selected row shows the focus.
type pageList struct {
	widget.List
	focused bool
	move    func(by int)
}

func (l *pageList) FocusGained() { l.setFocused(true) }

func (l *pageList) FocusLost() { l.setFocused(false) }

func (l *pageList) setFocused(on bool) {
	l.focused = on
	l.Refresh()
}

func (l *pageList) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyUp:
		l.move(-1)
	case fyne.KeyDown:
		l.move(+1)
	default:
		dialogs.PassOn(l, k)
	}
}
