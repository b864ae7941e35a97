//go:build ci

package main

// Fyne's test driver draws without OpenGL and has no GLFW.

func tryOpenGL() error { return nil }

func leaveFocus() {}
