//go:build !ci

package dialogs

/*
#cgo LDFLAGS: -Wl,--wrap=glfwPollEvents -Wl,--wrap=glfwSwapBuffers

#include <stdatomic.h>

double glfwGetTime(void);
void glfwWaitEventsTimeout(double timeout);
void glfwPostEmptyEvent(void);
void __real_glfwPollEvents(void);
void __real_glfwSwapBuffers(void *window);

// How long the loop turns after an event, and after a function, for animations that these have started; how long a turn
// takes at most while something was drawn lately, such as a cursor that blinks; and how long otherwise. What comes
// neither as an event nor by Do waits so long, such as the desktop's change to dark colors. In seconds.
static const double after_event = 1, after_function = 0.05, moving = 0.25, after_drawing = 2, asleep = 30;

static atomic_int turns, asked, done;
static double drawn;

static void ask(void) { atomic_fetch_add(&asked, 1); }

static void finish(void) {
	atomic_fetch_sub(&asked, 1);
	atomic_store(&done, 1);
}

static void wake(void) {
	if (atomic_load(&turns)) // before, GLFW may not be ready
		glfwPostEmptyEvent();
}

void __wrap_glfwSwapBuffers(void *window) {
	drawn = glfwGetTime();
	__real_glfwSwapBuffers(window);
}

// Fyne polls for events 60 times a second, which costs some 25,000 changes of context a minute. The linker puts this in
// the place of that poll: it waits for an event unless one came lately. A wait that does not last has found one.
void __wrap_glfwPollEvents(void) {
	static double awake;
	double start = glfwGetTime();
	atomic_store(&turns, 1);
	if (atomic_exchange(&done, 0)) {
		if (awake < start + after_function)
			awake = start + after_function;
		__real_glfwPollEvents();
		return;
	}
	double wait = start < drawn + after_drawing ? moving : asleep;
	if (start < awake || atomic_load(&asked))
		wait = 0.002;
	glfwWaitEventsTimeout(wait);
	if (glfwGetTime() - start < wait && !atomic_load(&asked))
		awake = start + after_event;
}
*/
import "C"

func beginDo() { C.ask() }

func endDo() { C.finish() }

func wakeLoop() { C.wake() }
