package inside

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Main does not return if this process is part of a sandbox. Call it first in main.
func Main() {
	switch {
	case os.Args[0] == Builder:
		fail(build())
	case os.Args[0] == First && len(os.Args) == 1 && os.Getpid() == 1:
		fail(first())
	case os.Args[0] == landlockFirst:
		fail(first())
	case os.Args[0] == landlockCommand:
		_, _ = unix.Write(Control, []byte(enter().Error()))
		os.Exit(1)
	case os.Args[0] == First && len(os.Args) > 1 && os.Args[1] == probeWord:
		probe(os.Args[2:])
	}
}

// fail reports why this process could not exec the next one; the engine passes stderr on.
func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// await waits for the engine's [Go].
func await() error {
	word := make([]byte, 1)
	n, err := unix.Read(Control, word)
	for err == unix.EINTR {
		n, err = unix.Read(Control, word)
	}
	if n != 1 || word[0] != Go {
		return errors.New("the sandbox's engine has disappeared")
	}
	return nil
}

func readPlan() (p Plan, err error) {
	file := os.NewFile(planFile, "plan")
	if _, err = file.Seek(0, io.SeekStart); err == nil {
		err = json.NewDecoder(file).Decode(&p)
	}
	if err != nil {
		return p, fmt.Errorf("read the plan of a sandbox: %w", err)
	}
	return p, nil
}
