// Command stage writes nod, as it is to be installed on this machine, into a folder, with the script that installs it.
package main

import (
	"flag"
	"log"
	"path/filepath"

	"nod/packaging/tree"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("stage: ")
	b := tree.Flags(flag.CommandLine)
	to := flag.String("to", "", "the folder, relative to the repository")
	flag.Parse()
	if err := stage(b, *to); err != nil {
		log.Fatal(err)
	}
}

func stage(b *tree.Build, to string) error {
	t, err := tree.Of(*b, tree.Host)
	if err != nil {
		return err
	}
	if t, err = t.Installer(*b); err != nil {
		return err
	}
	return t.Write(filepath.Join(b.Root, to))
}
