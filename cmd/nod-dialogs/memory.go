package main

import (
	"os"
	"reflect"
	"runtime/debug"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver"

	"nod/ownfile/ownprocess"
)

// heapGrowth is the growth of Go's heap, in per cent, that triggers a collection. Most of the heap is fonts, which are
// cheap to scan.
const heapGrowth = 30

// spareMemory reduces the memory use of this process. Call it before the first window is made.
func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	tameMalloc()
}

// How long after a change of the screen memory is returned: first what the change took and, unless something is on
// screen, later what Fyne kept until it expired.
const soonStill, longStill = 3 * time.Second, 30 * time.Second

type spare struct {
	busy       func() bool // anything is on screen or about to be; called on the UI goroutine
	soon, late *time.Timer
}

func newSpare(busy func() bool, giveBack func()) *spare {
	return &spare{busy, time.AfterFunc(soonStill, giveBack), time.AfterFunc(longStill, giveBack)}
}

// settle restarts the wait. Call it on the UI goroutine after every change of the screen.
func (s *spare) settle() {
	s.soon.Reset(soonStill)
	if s.late.Reset(longStill); s.busy() {
		s.late.Stop()
	}
}

// giveBack returns unused memory to the system. Call it on the UI goroutine.
func (w *windows) giveBack() {
	for _, win := range w.app.Driver().AllWindows() {
		freeTextures(win)
	}
	trimMalloc()
	ownprocess.GiveBack()
}

// freeTextures frees a window's expired textures. Fyne does so only when it draws the window again, which may be never.
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
