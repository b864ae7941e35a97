package main

import (
	"os"
	"reflect"
	"runtime/debug"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver"

	"nod/ownfile/ownprocess"
)

// heapGrowth is the growth of Go's heap, in per cent, that triggers a collection: most of it is fonts, cheap to scan.
const heapGrowth = 30

// spareMemory reduces the memory use of this process. Call it before the first window is made.
func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	tameMalloc()
}

// giveBack returns unused memory to the system. Call it on the UI goroutine.
func (w *windows) giveBack() {
	for _, win := range w.app.Driver().AllWindows() {
		freeTextures(win)
	}
	trimMalloc()
	ownprocess.GiveBack()
}

// freeTextures frees a window's expired textures. Fyne does so only when it draws the window again, maybe never.
func freeTextures(win fyne.Window) {
	native, ok := win.(driver.NativeWindow)
	if !ok {
		return
	}
	isMade := false
	native.RunNative(func(context any) { isMade = !reflect.ValueOf(context).IsZero() })
	gl, hasGL := win.(interface{ RunWithContext(func()) })
	canvas, keeps := win.Canvas().(interface{ FreeDirtyTextures() uint64 })
	if isMade && hasGL && keeps {
		gl.RunWithContext(func() { canvas.FreeDirtyTextures() })
	}
}
