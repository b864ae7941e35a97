//go:build !ci

package dialogs

/*
#cgo LDFLAGS: -Wl,--wrap=glfwPollEvents -Wl,--wrap=glfwSwapBuffers
// The C compiler assembles fonts.s, which has no note that its stack is not executable.
#cgo LDFLAGS: -Wl,-z,noexecstack

#include <stdatomic.h>

double glfwGetTime(void);
void glfwWaitEventsTimeout(double timeout);
void glfwPostEmptyEvent(void);
void __real_glfwPollEvents(void);
void __real_glfwSwapBuffers(void *window);

// In seconds: how long the loop turns after an event, and after a function, for animations that these have started.
// How long it then turns slowly: after a function for what Fyne posts itself, after drawing for blinking cursors.
// How long a slow turn takes, and how long one takes at most while nothing moves. So long waits what comes neither as
// an event nor by Do, such as the change to dark colors.
static const double after_event = 1, after_function = 0.05;
static const double slow_after_function = 0.3, slow_after_drawing = 2;
static const double slow = 0.25, asleep = 10;

static atomic_int turns, asked, done;
static double awake, lively; // until when it turns, and turns slowly

static void extend(double *until, double to) {
	if (*until < to)
		*until = to;
}

static void ask(void) { atomic_fetch_add(&asked, 1); }

static void finish(int moves) {
	atomic_fetch_sub(&asked, 1);
	if (moves)
		atomic_store(&done, 1);
}

static void wake(void) {
	if (atomic_load(&turns)) // before, GLFW may not be ready
		glfwPostEmptyEvent();
}

void __wrap_glfwSwapBuffers(void *window) {
	extend(&lively, glfwGetTime() + slow_after_drawing);
	__real_glfwSwapBuffers(window);
}

// Fyne polls for events 60 times a second, which costs some 25,000 changes of context a minute. The linker puts this in
// the place of that poll: it waits for an event unless one came lately. A wait that does not last has found one.
void __wrap_glfwPollEvents(void) {
	double start = glfwGetTime();
	atomic_store(&turns, 1);
	if (atomic_exchange(&done, 0)) {
		extend(&awake, start + after_function);
		extend(&lively, start + slow_after_function);
		__real_glfwPollEvents();
		return;
	}
	double wait = start < lively ? slow : asleep;
	if (start < awake || atomic_load(&asked))
		wait = 0.002;
	glfwWaitEventsTimeout(wait);
	if (glfwGetTime() - start < wait && !atomic_load(&asked))
		extend(&awake, start + after_event);
}
*/
import "C"

func beginDo() { C.ask() }

func endDo(moves bool) {
	var yes C.int
	if moves {
		yes = 1
	}
	C.finish(yes)
}

func wakeLoop() { C.wake() }
