//go:build !ci

package controls

/*
#cgo LDFLAGS: -Wl,--wrap=glfwPollEvents

#include <stdatomic.h>

double glfwGetTime(void);
void glfwWaitEventsTimeout(double timeout);
void glfwPostEmptyEvent(void);
void __real_glfwPollEvents(void);

// How long the loop turns after an event, and after a function, for animations that these have started; and how long a
// turn takes at most afterwards, in which a cursor blinks. In seconds.
static const double after_event = 1, after_function = 0.05, asleep = 0.25;

static atomic_int turns, woken;

static void wake(void) {
	atomic_store(&woken, 1);
	if (atomic_load(&turns)) // before, GLFW may not be ready
		glfwPostEmptyEvent();
}

// Fyne polls for events 60 times a second, which costs some 25,000 changes of context a minute. The linker puts this in
// the place of that poll: it waits for an event unless one came lately. A wait that does not last has found one.
void __wrap_glfwPollEvents(void) {
	static double awake;
	double start = glfwGetTime();
	atomic_store(&turns, 1);
	if (atomic_exchange(&woken, 0)) {
		if (awake < start + after_function)
			awake = start + after_function;
		__real_glfwPollEvents();
		return;
	}
	double wait = start < awake ? 0.002 : asleep;
	glfwWaitEventsTimeout(wait);
	if (glfwGetTime() - start < wait && !atomic_load(&woken))
		awake = start + after_event;
}
*/
import "C"

func wakeLoop() { C.wake() }
