package settings

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"rsc.io/qr"
)

const codeSize = 248 // width and height of a code

func newQRCode(text string) (fyne.CanvasObject, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil, fmt.Errorf("draw the code: %w", err)
	}
	img := canvas.NewImageFromResource(fyne.NewStaticResource("code.png", code.PNG()))
	img.FillMode, img.ScaleMode = canvas.ImageFillContain, canvas.ImageScalePixels
	img.SetMinSize(fyne.NewSquareSize(codeSize))
	return img, nil
}
