package dialogstest

import (
	"bytes"
	"errors"
	"html/template"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
)

// View is a state of a window.
type View struct {
	Name string // name of its pictures
	// Open shows it in that theme of nod and the current language.
	Open func(t *testing.T, theme string) fyne.Window
}

// The variants of each picture.
var (
	themes    = []string{"light", "dark"}
	languages = []string{"en", Chinese}
)

// Gallery draws the views of a window in both themes, both languages and at two scales into the folder that NOD_GALLERY
// names, and lists them in its index.html. Without NOD_GALLERY it skips the test.
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
	if err := writeIndex(folder); err != nil {
		t.Fatal(err)
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

// index is the page with all pictures in the folder, each a link to its version at twice the size.
var index = template.Must(template.New("index").Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>nod: every window and page</title>
<style>
	body { font: 15px sans-serif; margin: 2em; background: #8c929d; }
	nav a { margin-right: 1em; color: #000; }
	section div { display: flex; gap: 8px; overflow-x: auto; align-items: flex-start; }
	img { max-width: 700px; }
</style>
<h1>nod: every window and page</h1>
<nav>{{range .}}<a href="#{{.}}">{{.}}</a> {{end}}</nav>
{{range $view := .}}<section id="{{$view}}"><h2>{{$view}}</h2><div>
{{range $look := $.Looks}}<a href="{{$view}}/{{$look}}@2x.png"><img loading="lazy" alt="{{$view}}, {{$look}}"
	src="{{$view}}/{{$look}}.png"></a>
{{end}}</div></section>
{{end}}</html>
`))

// viewList lists the folders with pictures of a view.
type viewList []string

// Looks names the pictures of each view.
func (viewList) Looks() (looks []string) {
	for _, language := range languages {
		for _, theme := range themes {
			looks = append(looks, theme+"-"+language)
		}
	}
	return looks
}

// writeIndex writes the index. Packages may do so concurrently: the last one includes all pictures.
func writeIndex(folder string) error {
	found, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil {
		return err
	}
	var list viewList
	for _, path := range found {
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		list = append(list, filepath.ToSlash(name))
	}
	var page strings.Builder
	if err := index.Execute(&page, list); err != nil {
		return err
	}
	draft, err := os.CreateTemp(folder, "index-*")
	if err != nil {
		return err
	}
	_, err = draft.WriteString(page.String())
	if err := errors.Join(err, draft.Chmod(0o644), draft.Close()); err != nil {
		return err
	}
	return os.Rename(draft.Name(), filepath.Join(folder, "index.html"))
}
