package controls

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
)

const (
	namesWidth = 232
	iconsWidth = 52
)

// Tab is a page of a window.
type Tab struct {
	Name    string
	Icon    fyne.Resource
	Content fyne.CanvasObject
}

// Navigation lists the pages of a window beside the selected one: in a narrow window, by their icons.
type Navigation struct {
	Content    *fyne.Container
	onSelected func(int)

	pages    []Tab
	wide     float32 // width of the window above which names are shown
	List     *pageList
	Selected int
	Names    bool // names are shown beside the icons
}

// NewNavigation returns a list with the first page selected. Windows of at least the width wide show the names.
func NewNavigation(pages []Tab, wide float32, onSelected func(int)) *Navigation {
	n := &Navigation{pages: pages, wide: wide, onSelected: onSelected}
	n.List = newPageList(func() int { return len(pages) }, newPageRow, n.fill)
	n.List.OnSelected = n.SelectIndex
	views := container.NewStack()
	for i, p := range pages {
		dialogs.SetVisible(p.Content, i == 0)
		views.Add(p.Content)
	}
	side := dialogs.Surface(dialogs.ColorSunken, dialogs.Padded(8, 0, n.List))
	n.Content = container.New(n, side, views)
	n.List.Select(0)
	return n
}

func newPageRow() fyne.CanvasObject {
	name := widget.NewLabel("")
	name.Truncation = fyne.TextTruncateEllipsis
	icon := container.NewCenter(widget.NewIcon(nil))
	return container.NewBorder(nil, nil, dialogs.Padded(0, 12, icon), nil, name)
}

func (n *Navigation) fill(i widget.ListItemID, row fyne.CanvasObject) {
	parts := row.(*fyne.Container).Objects // of a border layout: the middle comes first
	name := parts[0].(*widget.Label)
	name.TextStyle.Bold = i == n.Selected
	name.SetText(n.pages[i].Name)
	dialogs.SetVisible(name, n.Names)
	icon := parts[1].(*fyne.Container).Objects[0].(*fyne.Container).Objects[0].(*widget.Icon)
	icon.SetResource(n.pages[i].Icon)
	if i == n.Selected {
		icon.SetResource(theme.NewPrimaryThemedResource(n.pages[i].Icon))
	}
}

func (n *Navigation) SelectIndex(i int) {
	if i == n.Selected {
		return
	}
	n.pages[n.Selected].Content.Hide()
	n.Selected = i
	n.pages[i].Content.Show()
	n.List.Select(i)
	n.List.Refresh()
	n.onSelected(i)
}

// Step moves by that many pages, wrapping around at both ends.
func (n *Navigation) Step(by int) {
	n.SelectIndex((n.Selected + by + len(n.pages)) % len(n.pages))
}

func (n *Navigation) MinSize(objects []fyne.CanvasObject) fyne.Size {
	page := objects[1].MinSize()
	return fyne.NewSize(iconsWidth+page.Width, page.Height)
}

func (n *Navigation) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	if names := size.Width >= n.wide; names != n.Names {
		n.Names = names
		n.List.Refresh()
	}
	width := float32(iconsWidth)
	if n.Names {
		width = namesWidth
	}
	objects[0].Resize(fyne.NewSize(width, size.Height))
	objects[1].Move(fyne.NewPos(width, 0))
	objects[1].Resize(fyne.NewSize(size.Width-width, size.Height))
}
