package device_test

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"nod/e2e/devicetest"
)

// looks are the pictures of each prompt: how wide and high the screen is, and how bright.
var looks = []struct {
	name          string
	width, height int64
	scheme        string
}{
	{"phone-light", 360, 740, "light"}, {"phone-dark", 360, 740, "dark"},
	{"tablet-light", 768, 1024, "light"}, {"tablet-dark", 768, 1024, "dark"},
}

// TestGallery draws the page with each kind of prompt, for somebody to look at.
func TestGallery(t *testing.T) {
	dir := os.Getenv("NOD_GALLERY")
	if dir == "" {
		t.Skip("make gallery draws the gallery")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, v := range append(Views(), ofMachine(), hostile(), hostileForm()) {
		t.Run(string(v.ID), func(t *testing.T) { drawAll(t, dir, v) })
	}
	t.Run("idle", func(t *testing.T) {
		p := pairedPhone(t)
		p.drawLooks(dir, "idle")
		p.click("#settings")
		p.says("Forget this desk")
		p.drawLooks(dir, "device")
		p.clickText("Close")
		p.desk.Revoke()
		p.says("This device was revoked")
		p.drawLooks(dir, "revoked")
		p.forgive("401")
	})
	t.Run("picture", func(t *testing.T) { drawPicture(t, filepath.Join(dir, "phone.png")) })
	t.Run("pairing", func(t *testing.T) {
		desk, s := newDesk(t)
		p := newPhone(t, desk, s)
		p.run(chromedp.Navigate(s.URL()))
		p.says("not paired")
		p.drawLooks(dir, "unpaired")
		invitation, _ := s.Invite("my phone", everything)
		p.run(chromedp.Navigate(invitation))
		p.click("summary")
		p.drawLooks(dir, "pairing")
		desk.Compares = true
		p.click("#pair")
		p.says("Waiting for the desk…")
		p.drawLooks(dir, "words")
	})
}

// drawPicture draws the picture of the documents: two prompts beside each other, light and dark.
func drawPicture(t *testing.T, path string) {
	p := pairedPhone(t, Edit(), Ask())
	p.armed()
	light := p.image()
	p.clickText("›")
	p.title("has a question")
	p.clickLabel("SQLite")
	p.armed()
	p.scheme("dark")
	dark := p.image()
	const gap = 40
	both := image.NewRGBA(image.Rect(0, 0, light.Bounds().Dx()+gap+dark.Bounds().Dx(), light.Bounds().Dy()))
	draw.Draw(both, light.Bounds(), light, image.Point{}, draw.Src)
	draw.Draw(both, dark.Bounds().Add(image.Pt(light.Bounds().Dx()+gap, 0)), dark, image.Point{}, draw.Src)
	var file bytes.Buffer
	if err := png.Encode(&file, both); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (p *phone) image() image.Image {
	p.t.Helper()
	img, err := png.Decode(bytes.NewReader(p.picture()))
	if err != nil {
		p.t.Fatal(err)
	}
	return img
}

func drawAll(t *testing.T, dir string, v devicetest.View) {
	p := pairedPhone(t, v, Ask(), Confirm())
	p.until("it arms or not", works+` || !document.querySelector('.affirm') ||
		document.body.innerText.includes('unread') ||
		document.querySelector('.affirm').textContent !== document.querySelector('.affirm').dataset.label`)
	p.drawLooks(dir, string(v.ID))
	if v.Refuse != nil && v.Refuse.Why != "" {
		p.click("#why")
		p.drawLooks(dir, string(v.ID)+"-reason")
	}
}

func (p *phone) drawLooks(dir, name string) {
	p.t.Helper()
	for _, l := range looks {
		p.screen(l.width, l.height)
		p.scheme(l.scheme)
		path := filepath.Join(dir, fmt.Sprintf("page-%s-%s.png", name, l.name))
		if err := os.WriteFile(path, p.picture(), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
	p.screen(360, 740)
}

// scheme has the browser prefer light or dark.
func (p *phone) scheme(name string) {
	p.t.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
}

func (p *phone) picture() []byte {
	p.t.Helper()
	file, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	return file
}
