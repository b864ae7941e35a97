package dialogstest

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"fyne.io/fyne/v2"
)

// View is a state of a window.
type View struct {
	Name string // name of its pictures
	// Open shows the window in this theme of nod and the current language.
	Open func(t *testing.T, theme string) fyne.Window
}

// The variants of each picture.
var (
	themes    = []string{"light", "dark"}
	languages = []string{"en", Chinese}
)

// Gallery draws the views of a window in both themes, both languages and at two scales into the folder that NOD_GALLERY
// names. Without NOD_GALLERY it skips the test.
func Gallery(t *testing.T, window string, views []View) {
	t.Helper()
	folder := os.Getenv("NOD_GALLERY")
	if folder == "" {
		t.Skip("NOD_GALLERY is not set")
	}
	for _, v := range views {
		for _, language := range languages {
			for _, theme := range themes {
				t.Run(v.Name+"/"+theme+"-"+language, func(t *testing.T) {
					Speak(t, language)
					c := v.Open(t, theme).Canvas()
					path := filepath.Join(folder, window, v.Name, theme+"-"+language)
					save(t, path+".png", c.Capture())
					c.(interface{ SetScale(float32) }).SetScale(2)
					save(t, path+"@2x.png", c.Capture())
				})
			}
		}
	}
}

func save(t *testing.T, path string, img image.Image) {
	t.Helper()
	var text bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&text, img)
	if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
