// Command gen rasterises the drawings in src to the PNG files that nod embeds (icons, also of the page for phones) and
// those that are installed with it (hicolor): trays need PNG, and generated pictures are reproducible. Run it with
// go generate ./assets.
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/fyne-io/oksvg"
	"github.com/srwiley/rasterx"
)

// picture is one PNG to make.
type picture struct {
	source  string
	target  string   // without .png
	size    int      // pixels
	replace []string // pairs of old and new parts of the drawing, such as colours
}

// onDark inverts the tray's colours for a dark panel: a light bubble, a dark mark. Each variant must be readable on
// both panels: a desktop does not tell the colour of its panel, and GNOME's is dark in a light theme.
var onDark = []string{
	"#4454cc", "#8795f7", "#7d8590", "#b4bbc4", "#d92d20", "#ff6a5e", "#f2711c", "#ff9440", "#ffffff", "#14161d",
}

// toTheEdge fills the whole picture: phones cut the corners of icons themselves.
var toTheEdge = []string{
	"M16 2 H48 A14 14 0 0 1 62 16 V48 A14 14 0 0 1 48 62 H16 A14 14 0 0 1 2 48 V16 A14 14 0 0 1 16 2 Z",
	"M0 0 H64 V64 H0 Z",
}

// hicolor are the sizes in which desktops look for an icon.
var hicolor = []int{16, 22, 24, 32, 48, 64, 128, 256, 512}

func pictures() []picture {
	var all []picture
	for _, state := range []string{"idle", "waiting", "paused", "broken"} {
		all = append(all,
			picture{"tray-" + state, "icons/tray-" + state + "-light", 64, nil},
			picture{"tray-" + state, "icons/tray-" + state + "-dark", 64, onDark})
	}
	for _, level := range []string{"info", "warning", "error"} {
		all = append(all, picture{"level-" + level, "icons/level-" + level, 96, nil})
	}
	for _, size := range hicolor {
		all = append(all, picture{"app", fmt.Sprintf("hicolor/%d", size), size, nil})
	}
	for _, size := range []int{192, 512} {
		all = append(all, picture{"app", fmt.Sprintf("../ipc/device/page/icon-%d", size), size, toTheEdge})
	}
	return append(all, picture{"app", "icons/app-256", 256, nil})
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("gen: ")
	for _, p := range pictures() {
		if err := p.draw("src", "."); err != nil {
			log.Fatal(err)
		}
	}
}

// draw reads the SVG from the folder from and writes the PNG to the folder to.
func (p picture) draw(from, to string) error {
	svg, err := os.ReadFile(filepath.Join(from, p.source+".svg"))
	if err != nil {
		return err
	}
	img, err := rasterise(strings.NewReplacer(p.replace...).Replace(string(svg)), p.size)
	if err != nil {
		return fmt.Errorf("%s.svg: %w", p.source, err)
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, img); err != nil {
		return err
	}
	target := filepath.Join(to, p.target+".png")
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.WriteFile(target, b.Bytes(), 0o644)
}

// rasterise draws svg, which must be square, into an image of size by size pixels.
func rasterise(svg string, size int) (image.Image, error) {
	icon, err := oksvg.ReadIconStream(strings.NewReader(svg), oksvg.StrictErrorMode)
	if err != nil {
		return nil, err
	}
	icon.SetTarget(0, 0, float64(size), float64(size))
	for i := range icon.SVGPaths { // oksvg scales outlines but not the width of strokes
		icon.SVGPaths[i].LineWidth *= float64(size) / icon.ViewBox.W
	}
	img := image.NewRGBA(image.Rect(0, 0, size, size))
	scanner := rasterx.NewScannerGV(size, size, img, img.Bounds())
	icon.Draw(rasterx.NewDasher(size, size, scanner), 1)
	return img, nil
}
