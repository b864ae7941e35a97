//go:build ci

package main

// leaveFocus does nothing with Fyne's test driver, which is without GLFW.
func leaveFocus() {}
