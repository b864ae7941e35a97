//go:build ci

package main

// tryOpenGL does nothing with Fyne's test driver, which draws without OpenGL.
func tryOpenGL() error { return nil }
