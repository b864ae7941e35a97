package sandbox

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
	case os.Args[0] == builderName:
		fail(build())
	case os.Args[0] == firstPath && len(os.Args) == 1 && os.Getpid() == 1:
		fail(first())
	case os.Args[0] == landlockFirst:
		fail(first())
	case os.Args[0] == landlockCommand:
		_, _ = unix.Write(controlFile, []byte(enter().Error()))
		os.Exit(1)
	case os.Args[0] == firstPath && len(os.Args) > 1 && os.Args[1] == probeWord:
		probe(os.Args[2:])
	}
}

// fail reports why this process could not exec the next one; the engine passes stderr on.
func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func await() error {
	word := make([]byte, 1)
	n, err := unix.Read(controlFile, word)
	for err == unix.EINTR {
		n, err = unix.Read(controlFile, word)
	}
	if n != 1 || word[0] != goAhead {
		return errors.New("the sandbox's engine has disappeared")
	}
	return nil
}

func readPlan() (p plan, err error) {
	file := os.NewFile(planFile, "plan")
	if _, err = file.Seek(0, io.SeekStart); err == nil {
		err = json.NewDecoder(file).Decode(&p)
	}
	if err != nil {
		return p, fmt.Errorf("read the plan of a sandbox: %w", err)
	}
	return p, nil
}
