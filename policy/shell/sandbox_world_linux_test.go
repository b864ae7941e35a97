package shell_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Inside the sandbox the world is always at the same place.
const (
	worldRoot = "/world"
	home      = worldRoot + "/home"
	project   = home + "/project"
)

// canaryMark starts a text that no command may show unless it is said to read the file behind the mark.
const canaryMark = "NODCANARY:"

// canaries are files with secrets, below the world. What stands in them names the file.
var canaries = []string{
	"home/.netrc", "home/.ssh/id_rsa", "home/.docker/config.json", "home/.aws/credentials", "home/.bash_history",
	"home/.gnupg/secring", "home/e/.env", "home/q/.env", "home/q/b", "home/outside/token",
	"home/project/.env", "home/project/.netrc", "home/project/key.pem", "home/project/src/deep/er/credentials",
	"home/project/src/deep/tokens.cfg", "home/project/d1/tok1", "home/project/.hidden/tok",
}

// programCanaries are programs that others run on their own account. They are found before those of the system, also
// stand in the project, and leave a trace in the world when they run.
var programCanaries = []string{"gpg", "gpg2", "gpgsm", "ssh-keygen", "pr", "less", "more", "pager", "lesspipe",
	"vi", "editor",
	"compress", "uncompress", "ssh", "wget", "man", "open", "xdg-open", "trap"}

// worldFiles are the other files, below the project. The names are those of the samples, and such that a shell or a
// program may take for something else.
var worldFiles = map[string]string{
	"a.txt": "a:1,x\nb:2,y\nfoo:3,z\n", "b.txt": "a:1,x\nc:4,w\n", "names.txt": "anna\nbob\n", "file": "x;y\n",
	"f":             "one\n",
	"x/config.json": "{}\n", "y": "y\n", "README.md": "# read me\n", "main.go": "package main\n\nfunc main() {}\n",
	"f.json":       "{\"a\":1}\n",
	"data.json":    `{"name":"n","env":"e","items":[{"name":"x"}],"a b":1}` + "\n",
	"package.json": `{"name":"n","scripts":{"test":"touch ran"},"dependencies":{"a":"1"}}` + "\n",
	"a.bin":        "\x00\x01binary text\x02\xff\xfe", "empty.txt": "", "café.txt": "café\n",
	"app.log":     strings.Repeat("line of a log, TODO\n", 1000),
	"src/main.go": "package src // foo\n", "src/a": "a\n", "src/deep/x.cfg": "k=v\n",
	"internal/x.go": "package internal // TODO KEY\n",
	"a b":           "blank\n", "-odd": "odd\n", "-delete": "d\n", "-o": "o\n", "--output=out": "o\n", "-n": "n\n",
	"-exec": "e\n", "--help": "h\n",
	"more":  ", -o out --output=out -i -exec touch ran ;\n",
	"@opts": "-n\n3\n", "@tok": "t\n", "ua": "u\n", "ub": "u\n", "u^z": "u\n", "names.txt^b": "n\n",
	"^caret": "c\n", "#hash": "h\n",
	"~tilde": "t\n", "HEAD": "no revision\n", "v1": "no tag\n", "1": "1\n", "+1f": "p\n", "*": "star\n",
	"[a]": "brackets\n", "$x": "dollar\n",
	"new\nline": "n\n", "empty/.keep": "", "sub/inner.txt": "inner\n", ".gitignore": ".env\n*.log\n",
	".mailmap": "N <n@example.org>\n",
	".jq":      "def x: 1;\n", ".ignore": "ignored\n", ".gitattributes": "*.md diff=markdown\n", ".hidden/plain": "p\n",
}

// makeWorld builds a world in dir: a home folder with secrets, and in it a project that is a git repository.
func makeWorld(dir string) error {
	// Inside, the files have another owner than the index says: without checkStat git would read each of them once.
	files := map[string]string{
		"home/.gitconfig": "[core]\n\tcheckStat = minimal\n[user]\n\tname = n\n\temail = n@example.org\n",
		"home/src/x":      "x\n", "home/b.txt": "b\n"}
	for name, text := range worldFiles {
		files["home/project/"+name] = text
	}
	for _, name := range canaries {
		files[name] = "KEY=" + canaryMark + worldRoot + "/" + name + "\n"
	}
	for name, text := range files {
		if err := writeOld(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	for _, name := range programCanaries {
		for _, folder := range []string{"bin", "home/project"} {
			if err := writeOld(filepath.Join(dir, folder, name),
				"#!/bin/sh\n/usr/bin/touch "+worldRoot+"/ran-"+name+"\n", 0o755); err != nil {
				return err
			}
		}
	}
	return makeSpecials(dir)
}

// writeOld writes a file that looks old: git looks again at files as young as its index.
func writeOld(path, text string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		return err
	}
	old := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	return os.Chtimes(path, old, old)
}

// makeSpecials adds what is no plain file: links, a FIFO, archives and repositories.
func makeSpecials(dir string) error {
	in := filepath.Join(dir, "home/project")
	for name, to := range map[string]string{"link": "../outside", "pr0": "/proc/self/environ",
		"dock": "../.docker", "tolink": "a.txt", "dangling": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(in, name)); err != nil {
			return err
		}
	}
	if err := syscall.Mkfifo(filepath.Join(in, "pipe"), 0o644); err != nil {
		return err
	}
	untracked := "git rm -q -f --cached"
	for _, name := range canaries {
		if name, ok := strings.CutPrefix(name, "home/project/"); ok && name != ".env" {
			untracked += " " + name
		}
	}
	for _, line := range []string{
		// What is no older than the index git reads again.
		"tar -czf arch.tar.gz src/main.go", "gzip -k a.txt", "find . -type f -exec touch -d @1000000000 {} +",
		"git init -q -b main --template=", "git add -A", untracked,
		"git commit -q -m one", "git tag -a v1 -m tagged",
		"git rm -q --cached names.txt", "git commit -q -m two", "git branch feature",
		"git remote add origin https://example.org/x",
		"cp a.txt b.txt", "git stash -q", "git repack -q -a -d",
		"git clone -q --bare --template= --no-hardlinks . bare.git",
		"git init -q -b main --template= sub", "git -C sub add -A",
		"git -C sub commit -q -m inner", "cp a.txt b.txt", "git status -s",
	} {
		if err := makeWith(dir, in, line); err != nil {
			return err
		}
	}
	return nil
}

func makeWith(dir, in, line string) error {
	words := strings.Fields(line)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = in
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + filepath.Join(dir, "home"),
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_DATE=2024-05-06T07:08:09Z", "GIT_COMMITTER_DATE=2024-05-06T07:08:09Z"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %v: %s", line, err, bytes.TrimSpace(out))
	}
	return nil
}

// snapshot maps every path of the world to all that is known of it but when it was last read. Nothing can change
// without a change of its ctime, which programs cannot set.
func snapshot(root string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var s syscall.Stat_t
		if err := syscall.Lstat(path, &s); err != nil {
			return err
		}
		out[path] = fmt.Sprint(s.Ino, s.Mode, s.Nlink, s.Uid, s.Gid, s.Size, s.Mtim, s.Ctim)
		return nil
	})
	return out, err
}

// differences are the paths that two snapshots disagree about.
func differences(before, after map[string]string) []string {
	var out []string
	for path, was := range before {
		if after[path] != was {
			out = append(out, path)
		}
	}
	for path := range after {
		if before[path] == "" {
			out = append(out, path)
		}
	}
	return out
}
