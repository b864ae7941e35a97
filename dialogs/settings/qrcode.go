package settings

import (
	"fmt"
	"image"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"rsc.io/qr"
)

const (
	codeSize  = 248 // width and height of a code
	codeQuiet = 4   // white modules around it, required by cameras
)

func newQRCode(text string) (fyne.CanvasObject, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil, fmt.Errorf("draw the code: %w", err)
	}
	raster := canvas.NewRaster(func(width, height int) image.Image { return drawCode(code, width, height) })
	raster.ScaleMode = canvas.ImageScalePixels
	raster.SetMinSize(fyne.NewSize(codeSize, codeSize))
	return raster, nil
}

// drawCode draws each module with the same number of whole pixels, as large as fits, in the middle.
func drawCode(code *qr.Code, width, height int) image.Image {
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, color.Black})
	modules := code.Size + 2*codeQuiet
	each := min(width, height) / modules
	if each == 0 {
		return img
	}
	left, top := (width-each*modules)/2, (height-each*modules)/2
	for y := range each * code.Size {
		for x := range each * code.Size {
			if code.Black(x/each, y/each) {
				img.SetColorIndex(left+each*codeQuiet+x, top+each*codeQuiet+y, 1)
			}
		}
	}
	return img
}
