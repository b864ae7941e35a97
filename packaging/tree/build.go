package tree

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Build is what to build nod from and how.
type Build struct {
	Root    string    // the repository
	Version string    // as nod prints it
	Commit  string    // that this is
	Date    time.Time // of the commit: that of every file
	LDFlags string    // stamp the version
	Tags    string    // of the programs with a desktop
}

// Flags defines the flags that say what to build. They are read once the flags are parsed.
func Flags(flags *flag.FlagSet) *Build {
	b := &Build{Root: ".."}
	flags.StringVar(&b.Version, "version", "", "the `version`, as nod prints it")
	flags.StringVar(&b.Commit, "commit", "", "the `commit` that is built")
	flags.TextVar(&b.Date, "date", time.Time{}, "the `time` of the commit, in RFC 3339")
	flags.StringVar(&b.LDFlags, "ldflags", "", "`flags` for the linker, which stamp the version")
	flags.StringVar(&b.Tags, "tags", "", "build `tags` of the programs with a desktop")
	return b
}

// Relay is the program nod, as small as it goes, for machines that need nothing but nod relay.
const Relay = "relay/nod"

// Program builds one of nod's programs, and returns its path. It is a [MissingError] when it cannot be built here.
func (b Build) Program(name string, p Platform) (string, error) {
	source, ldflags, env := "./cmd/"+name, b.LDFlags, []string{"CGO_ENABLED=0"}
	args := []string{"build", "-trimpath", "-buildvcs=false"}
	switch name {
	case "nod-desktop":
		source = "."
	case "nod":
		source = "./cmd/nod/front"
	case "nod-cli":
		source = "./cmd/nod"
	case Relay:
		source, args = "./cmd/nod", append(args, "-tags", "relay")
	}
	if name == "nod-desktop" || name == "nod-dialogs" {
		args = append(args, "-tags", b.Tags)
		if p.OS == "windows" {
			ldflags += " -H=windowsgui" // no console opens
		}
	}
	if name == "nod-dialogs" || name == "nod-desktop" && p.OS == "darwin" { // macOS has no tray without C
		compiler, err := p.compiler(b.Root)
		if err != nil {
			return "", err
		}
		env = append(compiler, "CGO_ENABLED=1")
	}
	to, err := filepath.Abs(filepath.Join(b.Root, "build/programs", p.String(), name+p.exe()))
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", append(args, "-ldflags", ldflags, "-o", to, source)...)
	cmd.Dir = b.Root
	cmd.Env = append(append(os.Environ(), "GOFLAGS=", "GOOS="+p.OS, "GOARCH="+p.Arch), env...)
	if _, err := output(cmd); err != nil {
		return "", fmt.Errorf("build %s for %s: %w", name, p, err)
	}
	return to, nil
}

// run returns what nod, built for this machine, prints.
func (b Build) run(args ...string) ([]byte, error) {
	nod, err := b.Program("nod-cli", Host)
	if err != nil {
		return nil, err
	}
	return output(exec.Command(nod, args...))
}

// output runs cmd and returns what it prints; its errors are in the error.
func output(cmd *exec.Cmd) ([]byte, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.Bytes())
	}
	return out, nil
}
