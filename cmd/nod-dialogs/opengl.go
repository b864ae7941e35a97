//go:build !ci

package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/go-gl/glfw/v3.4/glfw"
)

// tryOpenGL makes a hidden window as Fyne does. Call it on the main goroutine.
func tryOpenGL() (err error) {
	defer func() { // GLFW panics if it cannot start at all
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	switch os.Getenv("FYNE_PLATFORM") {
	case "x11":
		glfw.InitHint(glfw.PlatformHint, int(glfw.PlatformX11))
	case "wayland":
		glfw.InitHint(glfw.PlatformHint, int(glfw.PlatformWayland))
	}
	if err := glfw.Init(); err != nil {
		return err
	}
	defer glfw.Terminate()
	glfw.WindowHint(glfw.Visible, glfw.False)
	glfw.WindowHint(glfw.ContextVersionMajor, 2)
	if isMobileGL := runtime.GOOS != "darwin" && (runtime.GOARCH == "arm" || runtime.GOARCH == "arm64"); isMobileGL {
		glfw.WindowHint(glfw.ClientAPI, glfw.OpenGLESAPI)
	} else {
		glfw.WindowHint(glfw.ContextVersionMinor, 1)
	}
	window, err := glfw.CreateWindow(1, 1, "nod", nil, nil)
	if err != nil {
		return err
	}
	window.Destroy()
	return nil
}

// leaveFocus makes new windows appear without the focus, which GLFW gives to each by default and Fyne cannot change.
// Windows that need the focus request it. Call it on the UI goroutine after GLFW has started, before making a window.
func leaveFocus() { glfw.WindowHint(glfw.FocusOnShow, glfw.False) }
