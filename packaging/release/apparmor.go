package main

import (
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"

	"nod/packaging/tree"
)

// profile lets nod's programs make user namespaces, where AppArmor keeps others from it: Ubuntu 24.04 and newer. It is
// none for bubblewrap, so that it is in nobody's way: started by nod, bubblewrap has nod's, or one of its own.
const profile = `# Written by nod's package, which replaces and removes it.
abi <abi/4.0>,

profile nod /usr/{bin/nod,bin/nod-desktop,lib/nod/nod-cli} flags=(unconfined) {
  userns,
}
`

// Where the package has the profile. AppArmor before 4 would not start with it among its own.
const profilePath = "share/nod/apparmor"

// The scripts are given a word by dpkg, and by rpm how many versions of the package stay.
const (
	postInstall = `#!/bin/sh
set -e
to=/etc/apparmor.d/nod
from=/usr/` + profilePath + `
if [ -d /etc/apparmor.d ] && command -v apparmor_parser >/dev/null && apparmor_parser -Q -K "$from" 2>/dev/null; then
	if [ ! -e "$to" ] || grep -q "^# Written by nod's package" "$to"; then
		cp "$from" "$to"
		apparmor_parser -r "$to" 2>/dev/null || true # not in a container
	fi
fi
`
	preRemove = `#!/bin/sh
set -e
to=/etc/apparmor.d/nod
case "$1" in
remove | 0)
	if grep -qs "^# Written by nod's package" "$to"; then
		apparmor_parser -R "$to" 2>/dev/null || true
		rm -f "$to"
	fi
	;;
esac
`
)

// withProfile adds the profile to what a package has.
func withProfile(t tree.Tree) tree.Tree {
	return append(t, tree.File{Path: profilePath, Mode: 0o644, Data: []byte(profile)})
}

// scripts writes those of a package into dir.
func scripts(dir string) (s nfpm.Scripts, err error) {
	s.PostInstall, s.PreRemove = filepath.Join(dir, "postinst"), filepath.Join(dir, "prerm")
	if err = os.WriteFile(s.PostInstall, []byte(postInstall), 0o755); err == nil {
		err = os.WriteFile(s.PreRemove, []byte(preRemove), 0o755)
	}
	return s, err
}
