package main

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// TestCommittedIconsMatchDrawings fails when a drawing was changed and go generate was not run.
func TestCommittedIconsMatchDrawings(t *testing.T) {
	for _, p := range pictures() {
		t.Run(p.target, func(t *testing.T) {
			fresh := t.TempDir()
			if err := p.draw("../src", fresh); err != nil {
				t.Fatal(err)
			}
			want, got := pixels(t, filepath.Join(fresh, p.target+".png")), pixels(t, filepath.Join("..", p.target+".png"))
			if len(want) != len(got) {
				t.Fatalf("committed picture has %d pixels, the drawing %d: run go generate ./assets", len(got), len(want))
			}
			for i := range want {
				if want[i] != got[i] {
					t.Fatalf("pixel %d differs: run go generate ./assets", i)
				}
			}
		})
	}
}

func pixels(t *testing.T, path string) [][4]uint32 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	var all [][4]uint32
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, a := img.At(x, y).RGBA()
			all = append(all, [4]uint32{r, g, b, a})
		}
	}
	return all
}
