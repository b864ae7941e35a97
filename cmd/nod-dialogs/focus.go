//go:build !ci

package main

import "github.com/go-gl/glfw/v3.4/glfw"

// leaveFocus makes new windows appear without the focus, which GLFW gives to each by default and Fyne cannot change.
// Windows that need the focus request it. Call it on the UI goroutine after GLFW has started, before making a window.
func leaveFocus() { glfw.WindowHint(glfw.FocusOnShow, glfw.False) }
