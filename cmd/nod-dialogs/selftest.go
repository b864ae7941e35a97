package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"nod/dialogs"
	"nod/dialogs/safetext"
	"nod/ipc/operator"
	"nod/version"
)

// selfTest writes whether this process could show windows, and which characters it could draw. It shows no window.
func selfTest(out io.Writer) error {
	test := operator.SelfTest{Version: version.Number()}
	w := newWindows(context.Background())
	w.app.Settings().SetTheme(dialogs.Theme(""))
	for _, s := range []operator.Script{operator.Chinese, operator.Japanese, operator.Korean, operator.Emoji} {
		if !safetext.CanDraw(s.Sample(), false) {
			test.Undrawn = append(test.Undrawn, s)
		}
	}
	if err := tryWindow(); err != nil {
		test.Problem = err.Error()
	}
	return json.NewEncoder(out).Encode(test)
}

func tryWindow() error {
	if os.Getenv("FYNE_PLATFORM") == "x11" {
		if err := dialogs.CheckX11(); err != nil {
			return err
		}
	}
	if err := tryOpenGL(); err != nil {
		return fmt.Errorf("OpenGL does not work here: %w", err)
	}
	return nil
}
