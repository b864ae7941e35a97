package controls

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
)

const namesWidth = 232

// Tab is a page of a window.
type Tab struct {
	Name    string
	Icon    fyne.Resource
	Content fyne.CanvasObject
}

// Navigation lists the pages of a window beside the selected one: in a narrow window, by their names without icons.
type Navigation struct {
	Content    *fyne.Container
	onSelected func(int)

	pages    []Tab
	wide     float32 // width of the window from which on icons are shown
	narrow   float32 // width of the list without icons
	List     *pageList
	Selected int
	icons    bool // icons are shown beside the names
}

// NewNavigation returns a list with the first page selected. Windows of at least the width wide show icons.
func NewNavigation(pages []Tab, wide float32, onSelected func(int)) *Navigation {
	n := &Navigation{pages: pages, wide: wide, onSelected: onSelected}
	n.List = newPageList(func() int { return len(pages) }, newPageRow, n.fill)
	n.List.OnSelected = n.SelectIndex
	views := container.NewStack()
	for i, p := range pages {
		dialogs.SetVisible(p.Content, i == 0)
		views.Add(p.Content)
		text := fyne.MeasureText(p.Name, theme.CaptionTextSize(), fyne.TextStyle{Bold: true})
		n.narrow = max(n.narrow, text.Width+2*theme.InnerPadding())
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
	name.SizeName = theme.SizeNameCaptionText
	if n.icons {
		name.SizeName = theme.SizeNameText
	}
	name.SetText(n.pages[i].Name)
	dialogs.SetVisible(parts[1], n.icons)
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
	return fyne.NewSize(n.narrow+page.Width, page.Height)
}

func (n *Navigation) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	if icons := size.Width >= n.wide; icons != n.icons {
		n.icons = icons
		n.List.Refresh()
	}
	width := n.narrow
	if n.icons {
		width = namesWidth
	}
	objects[0].Resize(fyne.NewSize(width, size.Height))
	objects[1].Move(fyne.NewPos(width, 0))
	objects[1].Resize(fyne.NewSize(size.Width-width, size.Height))
}

// AddChords adds the usual shortcuts to a window with pages: to search, if it can, to close it, and to step through the
// pages. The function that it returns runs a shortcut for a text field, and reports whether there is one.
func AddChords(c fyne.Canvas, search, closeIt func(), step func(by int)) (run func(fyne.Shortcut) bool) {
	next, previous := func() { step(+1) }, func() { step(-1) }
	const control = fyne.KeyModifierControl // also on macOS, where Command+Tab switches programs
	chords := map[desktop.CustomShortcut]func(){
		{KeyName: fyne.KeyW, Modifier: fyne.KeyModifierShortcutDefault}:   closeIt,
		{KeyName: fyne.KeyTab, Modifier: control}:                         next,
		{KeyName: fyne.KeyTab, Modifier: control | fyne.KeyModifierShift}: previous,
		{KeyName: fyne.KeyPageDown, Modifier: control}:                    next,
		{KeyName: fyne.KeyPageUp, Modifier: control}:                      previous,
	}
	if search != nil {
		chords[desktop.CustomShortcut{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault}] = search
	}
	for chord, do := range chords {
		c.AddShortcut(&chord, func(fyne.Shortcut) { do() })
	}
	return func(s fyne.Shortcut) bool {
		custom, ok := s.(*desktop.CustomShortcut)
		if !ok || chords[*custom] == nil {
			return false
		}
		chords[*custom]()
		return true
	}
}
