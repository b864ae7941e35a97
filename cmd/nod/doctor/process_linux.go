package doctor

import (
	"fmt"
	"os"
	"strings"
)

// environOf returns the environment that a process was started with.
func environOf(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == 0 }), nil
}
