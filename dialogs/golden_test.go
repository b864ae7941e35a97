package dialogs

import (
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden images under testdata/render")

// A golden image matches when few pixels differ by much and all of them by little on average: rasterisers
// of different processors round the edges of glyphs differently.
const (
	goldenChannelTolerance = 40    // a channel may be off by this much (0-255) before its pixel counts as different
	goldenPixelTolerance   = 0.002 // share of the pixels that may be different
)

// assertGolden compares img with testdata/render/<name>.png. A mismatch fails the test and leaves what was
// drawn in testdata/failed/<name>.png; run the tests with -update to accept it after looking at it.
func assertGolden(t *testing.T, name string, img image.Image) {
	t.Helper()
	golden := filepath.Join("testdata", "render", filepath.FromSlash(name)+".png")
	if *update {
		writePNG(t, golden, img)
		return
	}

	want, err := readPNG(golden)
	if err == nil && imagesMatch(want, img) {
		return
	}
	failed := filepath.Join("testdata", "failed", filepath.FromSlash(name)+".png")
	writePNG(t, failed, img)
	if err != nil {
		t.Errorf("no golden image: %v (drawn: %s)", err, failed)
		return
	}
	t.Errorf("%s differs from %s: look at both, then run with -update if the change is meant", failed, golden)
}

// imagesMatch compares two images with the tolerance above.
func imagesMatch(a, b image.Image) bool {
	if a.Bounds().Size() != b.Bounds().Size() {
		return false
	}
	size, different := a.Bounds().Size(), 0
	for y := range size.Y {
		for x := range size.X {
			p := a.At(a.Bounds().Min.X+x, a.Bounds().Min.Y+y)
			q := b.At(b.Bounds().Min.X+x, b.Bounds().Min.Y+y)
			if !colorsMatch(p, q) {
				different++
			}
		}
	}
	return float64(different) <= goldenPixelTolerance*float64(size.X*size.Y)
}

func colorsMatch(p, q color.Color) bool {
	pr, pg, pb, pa := p.RGBA()
	qr, qg, qb, qa := q.RGBA()
	for _, d := range []int64{
		int64(pr) - int64(qr), int64(pg) - int64(qg), int64(pb) - int64(qb), int64(pa) - int64(qa),
	} {
		if d > goldenChannelTolerance*257 || -d > goldenChannelTolerance*257 {
			return false
		}
	}
	return true
}

func readPNG(path string) (image.Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return png.Decode(f)
}

func writePNG(t *testing.T, path string, img image.Image) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, img); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestGoldenComparisonSeesDifferences(t *testing.T) {
	plain := image.NewRGBA(image.Rect(0, 0, 100, 100))
	if !imagesMatch(plain, image.NewRGBA(image.Rect(0, 0, 100, 100))) {
		t.Error("equal images do not match")
	}
	if imagesMatch(plain, image.NewRGBA(image.Rect(0, 0, 100, 101))) {
		t.Error("images of different size match")
	}
	spotted := image.NewRGBA(image.Rect(0, 0, 100, 100))
	for i := range 30 {
		spotted.Set(i, i, color.White)
	}
	if imagesMatch(plain, spotted) {
		t.Error("an image with 30 white pixels matches a blank one")
	}
}
