//go:build ci

package main

// leaveFocus does nothing with Fyne's test driver, which has no GLFW.
func leaveFocus() {}
