//go:build !ci

package controls

/*
#cgo LDFLAGS: -Wl,--wrap=glfwPollEvents

#include <stdatomic.h>

double glfwGetTime(void);
void glfwWaitEventsTimeout(double timeout);
void glfwPostEmptyEvent(void);
void __real_glfwPollEvents(void);

// How long the loop turns after the last event or function, for animations that these have started; and how long a turn
// takes at most afterwards, in which a cursor blinks.
static const double awake = 1, asleep = 0.25;

static atomic_int turns, woken;

static void wake(void) {
	atomic_store(&woken, 1);
	if (atomic_load(&turns)) // before, GLFW may not be ready
		glfwPostEmptyEvent();
}

// Fyne polls for events 60 times a second, which costs some 25,000 changes of context a minute. The linker puts this in
// the place of that poll: it waits for an event unless one came less than a second ago. A wait that does not last has
// found one.
void __wrap_glfwPollEvents(void) {
	static double last;
	atomic_store(&turns, 1);
	double start = glfwGetTime();
	double wait = start - last < awake ? 0.002 : asleep;
	if (atomic_exchange(&woken, 0)) {
		last = start;
		__real_glfwPollEvents();
		return;
	}
	glfwWaitEventsTimeout(wait);
	if (glfwGetTime() - start < wait)
		last = start;
}
*/
import "C"

func wakeLoop() { C.wake() }
