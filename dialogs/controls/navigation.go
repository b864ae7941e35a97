package controls

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
)

// The widths of the list of pages, with their names and without.
const (
	NamesWidth = 232
	IconsWidth = 52
)

// Tab is one of a window's pages.
type Tab struct {
	Name    string
	Icon    fyne.Resource
	Content fyne.CanvasObject
}

// Navigation lists the window's pages beside the one that is selected. In a narrow window it is a strip of icons; in a
// low one it scrolls.
type Navigation struct {
	Content    *fyne.Container
	onSelected func(int)

	pages    []Tab
	wide     float32 // from this width on the names are shown
	List     *pageList
	Selected int
	Names    bool // are shown beside the icons
}

// NewNavigation returns a list with the first page selected. It shows the names of the pages where the window is at
// least so wide.
func NewNavigation(pages []Tab, wide float32, onSelected func(int)) *Navigation {
	n := &Navigation{pages: pages, wide: wide, onSelected: onSelected}
	n.List = newPageList(func() int { return len(pages) }, newPageRow, n.fill)
	n.List.OnSelected = n.SelectIndex
	views := container.NewStack()
	for i, p := range pages {
		SetVisible(p.Content, i == 0)
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

// fill shows a page in a row of the list.
func (n *Navigation) fill(i widget.ListItemID, row fyne.CanvasObject) {
	parts := row.(*fyne.Container).Objects // a border's: what is in its middle comes first
	name := parts[0].(*widget.Label)
	name.TextStyle.Bold = i == n.Selected
	name.SetText(n.pages[i].Name)
	SetVisible(name, n.Names)
	icon := parts[1].(*fyne.Container).Objects[0].(*fyne.Container).Objects[0].(*widget.Icon)
	icon.SetResource(n.pages[i].Icon)
	if i == n.Selected {
		icon.SetResource(theme.NewPrimaryThemedResource(n.pages[i].Icon))
	}
}

// SelectIndex shows the page of that index.
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

// Step goes so many pages on, round and round.
func (n *Navigation) Step(by int) {
	n.SelectIndex((n.Selected + by + len(n.pages)) % len(n.pages))
}

// MinSize implements [fyne.Layout].
func (n *Navigation) MinSize(objects []fyne.CanvasObject) fyne.Size {
	page := objects[1].MinSize()
	return fyne.NewSize(IconsWidth+page.Width, page.Height)
}

// Layout implements [fyne.Layout].
func (n *Navigation) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	if names := size.Width >= n.wide; names != n.Names {
		n.Names = names
		n.List.Refresh()
	}
	width := float32(IconsWidth)
	if n.Names {
		width = NamesWidth
	}
	objects[0].Resize(fyne.NewSize(width, size.Height))
	objects[1].Move(fyne.NewPos(width, 0))
	objects[1].Resize(fyne.NewSize(size.Width-width, size.Height))
}
