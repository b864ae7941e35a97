//go:build linux

package desktop

import (
	"bytes"
	"cmp"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/jezek/xgb/xfixes"
	"github.com/soniakeys/quant/median"
)

// A Recording is a film of a part of the screen, the pointer included.
type Recording struct {
	area   image.Rectangle
	frames []frame

	stop  chan struct{}
	ended chan error
	once  sync.Once
}

// frame is what the screen showed from one moment on, so many pictures long.
type frame struct {
	picture *image.RGBA
	length  int
}

// pace is the time from one picture of a film to the next, in the hundredths of a second that GIF counts in.
const pace = 8

// longest is how many pictures nothing need happen before the film goes on faster than time.
const longest = 1500 / 10 / pace

// Record films an area of the screen until the recording is stopped.
func (s *Screen) Record(area image.Rectangle) (*Recording, error) {
	if err := xfixes.Init(s.conn); err != nil {
		return nil, err
	}
	if _, err := xfixes.QueryVersion(s.conn, 4, 0).Reply(); err != nil {
		return nil, err
	}
	r := &Recording{area: area.Intersect(s.area), stop: make(chan struct{}), ended: make(chan error, 1)}
	go func() { r.ended <- r.film(s) }()
	return r, nil
}

// Stop ends the recording.
func (r *Recording) Stop() error {
	err := error(nil)
	r.once.Do(func() {
		close(r.stop)
		err = <-r.ended
	})
	return err
}

func (r *Recording) film(s *Screen) error {
	tick := time.NewTicker(pace * 10 * time.Millisecond)
	defer tick.Stop()
	for {
		img, err := s.ImageOf(r.area)
		if err == nil {
			err = s.drawPointer(img)
		}
		if err != nil {
			return err
		}
		r.add(img)
		select {
		case <-tick.C:
		case <-r.stop:
			return nil
		}
	}
}

// add adds what is seen now, if it is not what was seen before.
func (r *Recording) add(img *image.RGBA) {
	if last := len(r.frames) - 1; last >= 0 && bytes.Equal(r.frames[last].picture.Pix, img.Pix) {
		r.frames[last].length = min(r.frames[last].length+1, longest)
		return
	}
	r.frames = append(r.frames, frame{img, 1})
}

// drawPointer draws the pointer into a picture of the screen, where the server leaves it out.
func (s *Screen) drawPointer(img *image.RGBA) error {
	p, err := xfixes.GetCursorImage(s.conn).Reply()
	if err != nil {
		return err
	}
	pointer := image.NewRGBA(image.Rect(0, 0, int(p.Width), int(p.Height)))
	for i, c := range p.CursorImage[:int(p.Width)*int(p.Height)] {
		pointer.Set(i%int(p.Width), i/int(p.Width), color.RGBA{byte(c >> 16), byte(c >> 8), byte(c), byte(c >> 24)})
	}
	at := pointer.Rect.Add(image.Pt(int(p.X)-int(p.Xhot), int(p.Y)-int(p.Yhot)))
	draw.Draw(img, at, pointer, image.Point{}, draw.Over)
	return nil
}

// Save writes the film to a GIF file, which plays for ever, and makes its folder.
func (r *Recording) Save(path string) error {
	film := gif.GIF{Config: image.Config{Width: r.area.Dx(), Height: r.area.Dy()}}
	r.leaveOutHalfDrawn()
	palette := r.palette()
	film.Config.ColorModel = palette
	before := image.NewRGBA(r.area)
	for _, f := range r.frames {
		film.Image = append(film.Image, difference(before, f.picture, palette))
		film.Delay = append(film.Delay, f.length*pace)
		film.Disposal = append(film.Disposal, gif.DisposalNone)
		before = f.picture
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(gif.EncodeAll(file, &film), file.Close())
}

// leaveOutHalfDrawn leaves out pictures of a moment at which a window was not yet drawn, or only in part: before and
// after them much changes.
func (r *Recording) leaveOutHalfDrawn() {
	kept := r.frames[:0:0]
	for i, f := range r.frames {
		last := len(kept) - 1
		if f.length <= 2 && last >= 0 && i+1 < len(r.frames) &&
			r.isMuch(kept[last].picture, f.picture) && r.isMuch(f.picture, r.frames[i+1].picture) {
			kept[last].length += f.length
			continue
		}
		kept = append(kept, f)
	}
	r.frames = kept
}

// isMuch reports whether a hundredth of the pixels of two pictures is not the same.
func (r *Recording) isMuch(a, b *image.RGBA) bool {
	changed := 0
	for i := 0; i < len(a.Pix); i += 4 {
		if !bytes.Equal(a.Pix[i:i+4], b.Pix[i:i+4]) {
			changed++
		}
	}
	return changed > len(a.Pix)/4/100
}

// colours is how many a GIF can have.
const colours = 256

// palette chooses the colours of the film, with transparent as the first. Those of large areas stay as they are, and
// the many between the ink of letters and the paper share what is left.
func (r *Recording) palette() color.Palette {
	pixels := map[color.RGBA]int{}
	for _, f := range r.frames {
		for i := 0; i < len(f.picture.Pix); i += 4 {
			pix := f.picture.Pix[i : i+4]
			pixels[color.RGBA{pix[0], pix[1], pix[2], pix[3]}]++
		}
	}
	all := slices.SortedFunc(maps.Keys(pixels), func(a, b color.RGBA) int {
		return cmp.Or(pixels[b]-pixels[a], slices.Compare([]uint8{a.R, a.G, a.B}, []uint8{b.R, b.G, b.B}))
	})
	palette := append(make(color.Palette, 0, colours), color.RGBA{})
	often := min(len(all), colours/2)
	for _, c := range all[:often] {
		palette = append(palette, c)
	}
	if often == len(all) {
		return palette
	}
	rest := image.NewRGBA(image.Rect(0, 0, len(all)-often, 1))
	for i, c := range all[often:] {
		rest.SetRGBA(i, 0, c)
	}
	return median.Quantizer(0).Quantize(palette, rest)
}

// difference is the part of a picture that is not as before, transparent where it is.
func difference(before, now *image.RGBA, palette color.Palette) *image.Paletted {
	var changed image.Rectangle
	same := func(x, y int) bool { return before.RGBAAt(x, y) == now.RGBAAt(x, y) }
	for y := now.Rect.Min.Y; y < now.Rect.Max.Y; y++ {
		for x := now.Rect.Min.X; x < now.Rect.Max.X; x++ {
			if !same(x, y) {
				changed = changed.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	img := image.NewPaletted(changed.Sub(now.Rect.Min), palette)
	nearest := map[color.RGBA]uint8{}
	for y := changed.Min.Y; y < changed.Max.Y; y++ {
		for x := changed.Min.X; x < changed.Max.X; x++ {
			if same(x, y) {
				continue // transparent
			}
			c := now.RGBAAt(x, y)
			i, known := nearest[c]
			if !known {
				i = uint8(1 + palette[1:].Index(c))
				nearest[c] = i
			}
			img.SetColorIndex(x-now.Rect.Min.X, y-now.Rect.Min.Y, i)
		}
	}
	return img
}
