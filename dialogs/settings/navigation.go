package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
)

// The widths of the list of pages, and of the window from which on it shows their names.
const (
	namesWidth = 212
	iconsWidth = 52
	wideWindow = 800
)

// navigation lists the window's pages beside the one that is selected. In a narrow window it is a strip of icons; in a
// low one it scrolls.
type navigation struct {
	content    *fyne.Container
	onSelected func(int)

	pages    []tab
	list     *pageList
	selected int
	names    bool // are shown beside the icons
}

func newNavigation(pages []tab, onSelected func(int)) *navigation {
	n := &navigation{pages: pages, onSelected: onSelected}
	n.list = newPageList(func() int { return len(pages) }, newPageRow, n.fill)
	n.list.OnSelected = n.SelectIndex
	views := container.NewStack()
	for i, p := range pages {
		setVisible(p.content, i == 0)
		views.Add(p.content)
	}
	side := dialogs.Surface(dialogs.ColorSunken, dialogs.Padded(8, 0, n.list))
	n.content = container.New(n, side, views)
	n.list.Select(0)
	return n
}

func newPageRow() fyne.CanvasObject {
	name := widget.NewLabel("")
	name.Truncation = fyne.TextTruncateEllipsis
	icon := container.NewCenter(widget.NewIcon(nil))
	return container.NewBorder(nil, nil, dialogs.Padded(0, 12, icon), nil, name)
}

// fill shows a page in a row of the list.
func (n *navigation) fill(i widget.ListItemID, row fyne.CanvasObject) {
	parts := row.(*fyne.Container).Objects // a border's: what is in its middle comes first
	name := parts[0].(*widget.Label)
	name.TextStyle.Bold = i == n.selected
	name.SetText(n.pages[i].name)
	setVisible(name, n.names)
	icon := parts[1].(*fyne.Container).Objects[0].(*fyne.Container).Objects[0].(*widget.Icon)
	icon.SetResource(n.pages[i].icon)
	if i == n.selected {
		icon.SetResource(theme.NewPrimaryThemedResource(n.pages[i].icon))
	}
}

// SelectIndex shows the page of that index.
func (n *navigation) SelectIndex(i int) {
	if i == n.selected {
		return
	}
	n.pages[n.selected].content.Hide()
	n.selected = i
	n.pages[i].content.Show()
	n.list.Select(i)
	n.list.Refresh()
	n.onSelected(i)
}

// step goes so many pages on, round and round.
func (n *navigation) step(by int) {
	n.SelectIndex((n.selected + by + len(n.pages)) % len(n.pages))
}

// MinSize implements [fyne.Layout].
func (n *navigation) MinSize(objects []fyne.CanvasObject) fyne.Size {
	page := objects[1].MinSize()
	return fyne.NewSize(iconsWidth+page.Width, page.Height)
}

// Layout implements [fyne.Layout].
func (n *navigation) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	if names := size.Width >= wideWindow; names != n.names {
		n.names = names
		n.list.Refresh()
	}
	width := float32(iconsWidth)
	if n.names {
		width = namesWidth
	}
	objects[0].Resize(fyne.NewSize(width, size.Height))
	objects[1].Move(fyne.NewPos(width, 0))
	objects[1].Resize(fyne.NewSize(size.Width-width, size.Height))
}
