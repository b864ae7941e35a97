package assets

import (
	"bytes"
	"image/png"
	"testing"
)

func TestEveryIconIsADistinctPNG(t *testing.T) {
	seen := map[string]string{}
	check := func(name string, b []byte, size int) {
		t.Helper()
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if img.Bounds().Dx() != size || img.Bounds().Dy() != size {
			t.Errorf("%s is %v, want %d pixels square", name, img.Bounds(), size)
		}
		if twin, ok := seen[string(b)]; ok {
			t.Errorf("%s and %s are the same picture", name, twin)
		}
		seen[string(b)] = name
	}
	for _, s := range []TrayState{Idle, Waiting, Paused, Broken} {
		check(string(s)+" light", Tray(s, false), 64)
		check(string(s)+" dark", Tray(s, true), 64)
	}
	for _, l := range []string{"info", "warning", "error"} {
		check(l, Level(l), 96)
	}
	check("app", App(), 256)
}

func TestLevelOfAnythingElseIsInfo(t *testing.T) {
	if !bytes.Equal(Level("catastrophe"), Level("info")) {
		t.Error("an unknown level has a picture of its own")
	}
}
