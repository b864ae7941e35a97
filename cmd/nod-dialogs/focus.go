//go:build !ci

package main

import "github.com/go-gl/glfw/v3.4/glfw"

// leaveFocus has windows appear without the focus, which GLFW would otherwise give to each, and Fyne has no word for.
// Those that are to have it ask for it. It is for the UI goroutine, once GLFW runs and before a window is made.
func leaveFocus() { glfw.WindowHint(glfw.FocusOnShow, glfw.False) }
