package dialogs

import (
	"cmp"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"nod/policy"
)

// Theme returns nod's theme: "light", "dark", or the system's for any other name. Its fonts are those of Fyne, whatever
// FYNE_FONT says, because another font could make one letter look like another.
func Theme(name string) fyne.Theme {
	switch name {
	case "light":
		return look{force: true, variant: theme.VariantLight}
	case "dark":
		return look{force: true, variant: theme.VariantDark}
	}
	return look{}
}

type look struct {
	force   bool
	variant fyne.ThemeVariant
}

const (
	ColorSunken   fyne.ThemeColorName = "nodSunken"   // behind the head and foot of a prompt
	ColorPaper    fyne.ThemeColorName = "nodPaper"    // behind exact text
	colorHairline fyne.ThemeColorName = "nodHairline" // lines between areas
	ColorMuted    fyne.ThemeColorName = "nodMuted"    // secondary text
	colorAccent   fyne.ThemeColorName = "nodAccent"   // background of the selection

	colorWrite   fyne.ThemeColorName = "nodWrite"
	colorNetwork fyne.ThemeColorName = "nodNetwork"
)

const (
	colorKeyword  fyne.ThemeColorName = "nodKeyword"
	colorName     fyne.ThemeColorName = "nodName" // of programs and functions
	colorVariable fyne.ThemeColorName = "nodVariable"
	colorString   fyne.ThemeColorName = "nodString"
	colorNumber   fyne.ThemeColorName = "nodNumber"
	colorComment  fyne.ThemeColorName = "nodComment"
)

// ClassColor returns the colour of a class of tools. It is always shown next to the name of the class.
func ClassColor(c policy.Class) fyne.ThemeColorName {
	return cmp.Or(map[policy.Class]fyne.ThemeColorName{
		policy.ReadOnly: theme.ColorNameSuccess, policy.Write: colorWrite, policy.Execute: theme.ColorNameWarning,
		policy.Network: colorNetwork, policy.Destructive: theme.ColorNameError,
	}[c], ColorMuted)
}

// lightAndDark is one colour in both themes. Text has a contrast of at least 4.5 to 1 with its background.
type lightAndDark struct{ light, dark color.NRGBA }

var palette = map[fyne.ThemeColorName]lightAndDark{
	theme.ColorNameBackground:          {rgb(0xffffff), rgb(0x1c1d22)},
	theme.ColorNameOverlayBackground:   {rgb(0xffffff), rgb(0x26272e)},
	theme.ColorNameMenuBackground:      {rgb(0xffffff), rgb(0x26272e)},
	theme.ColorNameForeground:          {rgb(0x1d1e26), rgb(0xeceef4)},
	theme.ColorNamePlaceHolder:         {rgb(0x5f626e), rgb(0xa0a4b2)},
	theme.ColorNameDisabled:            {rgb(0x585b67), rgb(0xa6aab8)},
	theme.ColorNameButton:              {rgb(0xeceef3), rgb(0x31333c)},
	theme.ColorNameDisabledButton:      {rgb(0xe7e9ef), rgb(0x2b2d35)},
	theme.ColorNameInputBackground:     {rgb(0xf7f8fa), rgb(0x15161a)},
	theme.ColorNameInputBorder:         {rgb(0x868a98), rgb(0x757988)},
	theme.ColorNameSeparator:           {rgb(0xe2e4ea), rgb(0x33353e)},
	theme.ColorNamePrimary:             {rgb(0x4454cc), rgb(0x919ef8)},
	theme.ColorNameForegroundOnPrimary: {rgb(0xffffff), rgb(0x10121f)},
	theme.ColorNameHyperlink:           {rgb(0x3547c0), rgb(0x9aa6fa)},
	theme.ColorNameFocus:               {rgba(0x4454cc, 0x55), rgba(0x8795f7, 0x66)},
	theme.ColorNameSelection:           {rgba(0x4454cc, 0x33), rgba(0x8795f7, 0x44)},
	theme.ColorNameHover:               {rgba(0x1d1e26, 0x0d), rgba(0xffffff, 0x12)},
	theme.ColorNamePressed:             {rgba(0x1d1e26, 0x1a), rgba(0xffffff, 0x22)},
	theme.ColorNameError:               {rgb(0xb3232a), rgb(0xff7b7b)},
	theme.ColorNameForegroundOnError:   {rgb(0xffffff), rgb(0x2a0a0b)},
	theme.ColorNameWarning:             {rgb(0x7d4e00), rgb(0xf2b65a)},
	theme.ColorNameForegroundOnWarning: {rgb(0xffffff), rgb(0x2a1c05)},
	theme.ColorNameSuccess:             {rgb(0x166b39), rgb(0x63cf93)},
	theme.ColorNameForegroundOnSuccess: {rgb(0xffffff), rgb(0x06200f)},
	theme.ColorNameScrollBar:           {rgba(0x1d1e26, 0x59), rgba(0xffffff, 0x59)},
	theme.ColorNameShadow:              {rgba(0x1d1e26, 0x40), rgba(0x000000, 0x99)},

	ColorSunken:   {rgb(0xf6f7f9), rgb(0x17181c)},
	ColorPaper:    {rgb(0xf4f5f8), rgb(0x131418)},
	colorHairline: {rgb(0xdfe2e9), rgb(0x33353e)},
	ColorMuted:    {rgb(0x50535f), rgb(0xb0b4c1)},
	colorAccent:   {rgb(0xeef0fd), rgb(0x2a2e4a)},

	colorWrite:   {rgb(0x1f5cb0), rgb(0x74aef7)},
	colorNetwork: {rgb(0x7a3fb8), rgb(0xc29bf2)},

	colorKeyword:  {rgb(0x8a1f7a), rgb(0xf0a8e4)},
	colorName:     {rgb(0x1b4a97), rgb(0x9cc8ff)},
	colorVariable: {rgb(0x5a3d9c), rgb(0xcfbcff)},
	colorString:   {rgb(0x165734), rgb(0x9be3b4)},
	colorNumber:   {rgb(0x83360f), rgb(0xf5bd8f)},
	colorComment:  {rgb(0x4c4f5c), rgb(0xc0c3ce)},
}

const (
	sizeHeading      fyne.ThemeSizeName = "nodHeading" // in text of requesters, so smaller than nod's own
	sizeSmallHeading fyne.ThemeSizeName = "nodSmallHeading"
)

var sizes = map[fyne.ThemeSizeName]float32{
	theme.SizeNameText:           14,
	theme.SizeNameSubHeadingText: 17,
	sizeHeading:                  20,
	sizeSmallHeading:             15,
	theme.SizeNameCaptionText:    12,
	theme.SizeNameInputRadius:    6,
	theme.SizeNameButtonRadius:   7,
	theme.SizeNameInputBorder:    1,
}

func rgb(hex uint32) color.NRGBA { return rgba(hex, 0xff) }

func rgba(hex uint32, alpha uint8) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: alpha}
}

func (l look) Color(n fyne.ThemeColorName, v fyne.ThemeVariant) color.Color {
	if l.force {
		v = l.variant
	}
	c, ours := palette[n]
	switch {
	case !ours:
		return theme.DefaultTheme().Color(n, v)
	case v == theme.VariantLight:
		return c.light
	}
	return c.dark
}

func (l look) Font(s fyne.TextStyle) fyne.Resource {
	switch {
	case s.Monospace:
		return theme.DefaultTextMonospaceFont()
	case s.Symbol:
		return theme.DefaultSymbolFont()
	case s.Bold && s.Italic:
		return theme.DefaultTextBoldItalicFont()
	case s.Bold:
		return theme.DefaultTextBoldFont()
	case s.Italic:
		return theme.DefaultTextItalicFont()
	}
	return theme.DefaultTextFont()
}

func (l look) Icon(n fyne.ThemeIconName) fyne.Resource { return theme.DefaultTheme().Icon(n) }

func (l look) Size(n fyne.ThemeSizeName) float32 {
	if s, ours := sizes[n]; ours {
		return s
	}
	return theme.DefaultTheme().Size(n)
}
