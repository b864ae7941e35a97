// Command release makes everything that a release of nod consists of, and says of each part whether it was run here or
// only built.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nod/packaging/tree"
)

// release is what to make.
type release struct {
	tree.Build
	maintainer string
	platforms  []tree.Platform
	to         string // the folder that takes it
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	b := tree.Flags(flag.CommandLine)
	maintainer := flag.String("maintainer", "", "of the packages: `Name <address>`")
	only := flag.String("platforms", "", "make it for these `platforms` alone: linux-amd64 …")
	flag.Parse()
	platforms, err := choose(*only)
	if err != nil {
		log.Fatal(err)
	}
	r := release{*b, *maintainer, platforms, filepath.Join(b.Root, "build/packages")}
	if err := r.make(); err != nil {
		log.Fatal(err)
	}
}

// choose returns the platforms that are named, or all if none is.
func choose(names string) ([]tree.Platform, error) {
	var chosen []tree.Platform
	for name := range strings.FieldsSeq(names) {
		i := slices.IndexFunc(tree.Platforms, func(p tree.Platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("nod is not made for %q: choose among %s", name, tree.Platforms)
		}
		chosen = append(chosen, tree.Platforms[i])
	}
	if len(chosen) == 0 {
		return tree.Platforms, nil
	}
	return chosen, nil
}

// make makes the release, and the list of what is in it.
func (r release) make() error {
	if err := os.RemoveAll(r.to); err != nil {
		return err
	}
	if err := os.MkdirAll(r.to, 0o755); err != nil {
		return err
	}
	var all contents
	for _, p := range r.platforms {
		if err := r.platform(p, &all); err != nil {
			return err
		}
	}
	bill, err := r.bill(all.programs)
	if err != nil {
		return err
	}
	all.add(bill, "bill of materials of all programs (CycloneDX)", "")
	if err := r.sums(); err != nil {
		return err
	}
	list := all.text(r.Version) // says what this machine could do, and so has no checksum
	fmt.Printf("%s", list)
	return os.WriteFile(filepath.Join(r.to, "CONTENTS.md"), list, 0o644)
}

// platform makes what there is for one platform: the command line everywhere, that for containers on Linux, all of nod
// where its windows can be built.
func (r release) platform(p tree.Platform, all *contents) error {
	log.Print(p)
	cli, err := r.build(p, all, "nod-cli", "nod")
	if err != nil {
		return err
	}
	t, err := tree.Bare(r.Root, cli.programs)
	if err != nil {
		return err
	}
	if err := r.archived("nod-cli", t, p, cli.state, all); err != nil {
		return err
	}
	if err := r.relay(p, all); err != nil {
		return err
	}
	full, err := r.build(p, all, "nod-cli", "nod", "nod-desktop", "nod-dialogs")
	if missing := (*tree.MissingError)(nil); errors.As(err, &missing) {
		all.lack(p, missing.Why, full.programs)
		return nil
	} else if err != nil {
		return err
	}
	if p.OS != "linux" {
		if t, err = tree.Bare(r.Root, full.programs); err != nil {
			return err
		}
		return r.archived("nod", t, p, full.state, all)
	}
	return r.linux(p, full, all)
}

// relay makes the archive for containers.
func (r release) relay(p tree.Platform, all *contents) error {
	if p.OS != "linux" {
		return nil
	}
	small, err := r.build(p, all, tree.Relay)
	if err != nil {
		return err
	}
	t, err := tree.Bare(r.Root, small.programs)
	if err != nil {
		return err
	}
	return r.archived("nod-relay", t, p, small.state, all)
}

// linux makes the packages, and the archive with install.sh.
func (r release) linux(p tree.Platform, built build, all *contents) error {
	t, err := tree.Of(r.Build, p)
	if err != nil {
		return err
	}
	needs, err := requires(built.programs[len(built.programs)-1])
	if err != nil {
		return err
	}
	for _, format := range []string{"deb", "rpm"} {
		path, err := r.pack(format, t, p, needs[format])
		if err != nil {
			return err
		}
		all.add(path, "package: "+programs(built.programs), built.state)
	}
	all.made(p, t)
	if t, err = t.Installer(r.Build); err != nil {
		return err
	}
	return r.archived("nod", t, p, built.state, all)
}

func (r release) archived(name string, t tree.Tree, p tree.Platform, state string, all *contents) error {
	path, err := r.archive(name, t, p)
	if err != nil {
		return err
	}
	what := map[string]string{
		"nod": "archive: all of nod", "nod-cli": "archive: nod, the command line alone",
		"nod-relay": "archive: nod for containers, with nod relay",
	}
	all.add(path, what[name], state)
	return nil
}

// build is a set of programs for a platform, and whether they were run.
type build struct {
	programs []string
	state    string
}

// build builds programs, as many as it can, and runs each where that goes.
func (r release) build(p tree.Platform, all *contents, names ...string) (build, error) {
	b := build{state: "run"}
	for _, name := range names {
		program, err := r.Program(name, p)
		if err != nil {
			return b, err
		}
		ran, err := r.Try(program, p)
		if err != nil {
			return b, err
		}
		if !ran {
			b.state = "only built"
		}
		b.programs = append(b.programs, program)
	}
	all.programs = append(all.programs, b.programs...)
	return b, nil
}

// sums writes the checksums of what lies in the folder.
func (r release) sums() error {
	files, err := os.ReadDir(r.to)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, f := range files { // sorted
		data, err := os.ReadFile(filepath.Join(r.to, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), f.Name())
	}
	return os.WriteFile(filepath.Join(r.to, "SHA256SUMS"), []byte(b.String()), 0o644)
}
