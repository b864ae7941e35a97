// Package dialogstest helps test nod's windows.
package dialogstest

import (
	"sync"
	"testing"
	"testing/synctest"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

// serialApp runs functions for the UI goroutine one after the other, like a real driver.
type serialApp struct {
	fyne.App
	driver serialDriver
}

func (a *serialApp) Driver() fyne.Driver { return &a.driver }

type serialDriver struct {
	fyne.Driver
	mu sync.Mutex
}

func (d *serialDriver) DoFromGoroutine(f func(), _ bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// Live runs f in a synctest bubble with the window that open makes, which works on goroutines as in the program. f
// calls ui for each change of the window; ui returns when all goroutines are blocked.
func Live[W any](t *testing.T, open func(*testing.T) W, f func(w W, ui func(func()))) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		a := &serialApp{App: fyne.CurrentApp()}
		a.driver.Driver = a.App.Driver()
		fyne.SetCurrentApp(a)
		f(w, func(do func()) {
			fyne.Do(do)
			synctest.Wait()
		})
	})
}

// Walk calls visit with every visible object under root, which may be nil.
func Walk(root fyne.CanvasObject, visit func(fyne.CanvasObject)) {
	if root == nil || !root.Visible() {
		return
	}
	visit(root)
	switch o := root.(type) {
	case *fyne.Container:
		for _, c := range o.Objects {
			Walk(c, visit)
		}
	case fyne.Widget:
		for _, c := range test.WidgetRenderer(o).Objects() {
			Walk(c, visit)
		}
	}
}
