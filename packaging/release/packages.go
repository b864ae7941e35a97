package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers itself
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"

	"nod/packaging/tree"
)

const description = `Agents ask, you nod: approvals and questions of coding agents
Coding agents need their human: may I run this, which database, I am done.
nod is one small tray program for all of them. It lets through what a policy
allows, shows a native window for the rest, and remembers what was decided
and why. Nothing starts by itself: run nod start, or switch on "Start at
login" in its settings.`

// recommended is what nod runs without, but not well: fonts for what it shows, a desktop that shows notifications, the
// session bus that its tray icon and notifications go over, and what the sandbox runs.
var recommended = []string{
	"dbus-user-session | dbus-x11", "fonts-noto-cjk | fonts-wqy-zenhei | fonts-droid-fallback",
	"notification-daemon | gnome-shell | plasma-workspace", "libdecor-0-0", "libgl1-mesa-dri", "xdg-utils",
	sandboxed[0], sandboxed[1],
}

// sandboxed is what the sandbox and its snapshots run, by the names that all distributions have for it.
var sandboxed = []string{"bubblewrap", "git"}

// pack makes the package of a format, deb or rpm, and returns its path.
func (r release) pack(format string, t tree.Tree, p tree.Platform, needs []string) (string, error) {
	dir, err := os.MkdirTemp("", "nod-"+format)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if t, err = r.packaged(format, t); err != nil {
		return "", err
	}
	if err := t.Write(dir); err != nil {
		return "", err
	}
	scripts, err := scripts(dir)
	if err != nil {
		return "", err
	}
	info := &nfpm.Info{
		Name: "nod", Arch: p.Arch, Platform: p.OS, Version: r.Version, VersionSchema: "none",
		Maintainer: r.maintainer, Description: description, MTime: r.Date,
		Section: "utils", Priority: "optional", DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Depends: needs, Contents: installs(t, dir, r.Date), Scripts: scripts,
			Deb: nfpm.Deb{Compression: "zstd"},
			RPM: nfpm.RPM{Compression: "zstd", BuildHost: "localhost", Group: "Development/Tools"},
		},
	}
	if format == "deb" {
		info.Recommends = recommended
	} else {
		info.Description = strings.SplitN(description, "\n", 2)[1]
		info.License, info.Recommends = "Apache-2.0", sandboxed
		info.RPM.Summary = strings.SplitN(description, "\n", 2)[0]
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return "", err
	}
	info = nfpm.WithDefaults(info)
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return "", err
	}
	path := filepath.Join(r.to, packager.ConventionalFileName(info))
	var b bytes.Buffer
	if err := packager.Package(info, &b); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return path, os.WriteFile(path, b.Bytes(), 0o644)
}

// installs has nfpm take the files of t, which are written below dir, as they are to be installed below /usr. The
// folders that are nod's alone are in the list, too, or rpm would leave them behind.
func installs(t tree.Tree, dir string, date time.Time) files.Contents {
	var all files.Contents
	own := map[string]bool{}
	for _, f := range t {
		if folder := path.Dir(f.Path); path.Base(folder) == "nod" && !own[folder] {
			own[folder] = true
			all = append(all, &files.Content{
				Type: files.TypeDir, Destination: "/usr/" + folder,
				FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: 0o755, MTime: date},
			})
		}
		all = append(all, &files.Content{
			Source: filepath.Join(dir, f.Path), Destination: "/usr/" + f.Path,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.Mode, MTime: date},
		})
	}
	return all
}

// packaged is t as the distributions want it: manuals compressed, licences where each looks for them.
func (r release) packaged(format string, t tree.Tree) (tree.Tree, error) {
	var all tree.Tree
	for _, f := range t {
		switch {
		case strings.HasPrefix(f.Path, "share/man/"):
			f.Path, f.Data = f.Path+".gz", compress(f.Data)
		case format == "rpm" && f.Path == "share/doc/nod/LICENSE", format == "rpm" && f.Path == "share/doc/nod/THIRD-PARTY":
			f.Path = "share/licenses/nod/" + filepath.Base(f.Path)
		case format == "deb" && strings.HasPrefix(f.Path, "share/zsh/site-functions/"):
			f.Path = "share/zsh/vendor-completions/" + filepath.Base(f.Path)
		case format == "deb" && f.Path == "share/doc/nod/LICENSE":
			f.Path, f.Data = "share/doc/nod/copyright", copyright()
		case format == "deb" && f.Path == "share/doc/nod/THIRD-PARTY":
			f.Path, f.Data = f.Path+".gz", compress(f.Data)
		}
		all = append(all, f)
	}
	all = withProfile(all)
	if format == "deb" {
		all = append(all,
			tree.File{Path: "share/doc/nod/changelog.gz", Mode: 0o644, Data: compress(r.changelog())},
			tree.File{Path: "share/lintian/overrides/nod", Mode: 0o644, Data: []byte(overrides)})
	}
	return all, nil
}

// compress is gzip -9n: with no name and no time, so that the same data always makes the same bytes.
func compress(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a level that there is
	_, _ = w.Write(data)                                  // neither this nor the end can fail in memory
	_ = w.Close()
	return b.Bytes()
}

// overrides say why what Debian's checker finds is as it should be.
const overrides = `# What runs all day and in every hook is static: it starts at once, and wherever it is copied to.
nod: statically-linked-binary [usr/bin/nod]
nod: statically-linked-binary [usr/bin/nod-desktop]
nod: statically-linked-binary [usr/lib/nod/nod-cli]
# One of several programs that are tried to open a link; the package recommends the first, xdg-open.
nod: missing-depends-on-sensible-utils *
# Compiled in one step with what it links; only its thin layer over GLFW is C.
nod: hardening-no-pie [usr/lib/nod/nod-dialogs]
# Half the time to install. Debian reads it since 12, which the C library is from as well.
nod: malformed-deb-archive *
`

func copyright() []byte {
	return []byte(`Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: nod

Files: *
Copyright: 2026 the authors of nod
License: Apache-2.0
 On Debian systems the text of this licence is in
 /usr/share/common-licenses/Apache-2.0.
Comment:
 The programs are linked with modules whose authors and licences are in
 /usr/share/doc/nod/THIRD-PARTY.gz.
`)
}

// changelog is what Debian asks every package for.
func (r release) changelog() []byte {
	return fmt.Appendf(nil, "nod (%s) unstable; urgency=medium\n\n  * Built from commit %s.\n\n -- %s  %s\n",
		r.Version, r.Commit, r.maintainer, r.Date.UTC().Format(time.RFC1123Z))
}
