//go:build linux && !amd64

package sandbox

var old []uintptr
