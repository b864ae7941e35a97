package config

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf16"

	"nod/policy"
)

// strayFile is what another program makes of it.
const strayFile = `policy:
  rules:
    - {id: more, effect: allow, command: git push}
    - {id: less, effect: deny, command: make clean}
`

// probes are commands about which the two texts, and a fresh installation, think differently.
var probes = []string{"cat /etc/passwd", "git push", "make", "make clean", "ls"}

func decideAll(s *Store) map[string]policy.Effect {
	all := map[string]policy.Effect{}
	for _, command := range probes {
		all[command] = s.Decide(bash(command)).Effect
	}
	return all
}

// asUTF16 is a text as some editors save it.
func asUTF16(text string, isBig bool) []byte {
	var data []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		low, high := byte(unit), byte(unit>>8)
		if isBig {
			low, high = high, low
		}
		data = append(data, low, high)
	}
	return data
}

// A damage is what becomes of a file.
type damage struct {
	harm func(path string) error
	says string // by what is wrong with the file; empty: it is a good one
}

func contents(data []byte) func(string) error {
	return func(path string) error { return os.WriteFile(path, data, 0o600) }
}

// insteadOf does something where a file was.
func insteadOf(do func(path string) error) func(string) error {
	return func(path string) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		return do(path)
	}
}

var fileDamages = map[string]damage{
	"ok":              {func(string) error { return nil }, ""},
	"empty":           {contents(nil), ""},
	"deleted":         {os.Remove, ""},
	"comment only":    {contents([]byte("# nothing\n")), ""},
	"other rules":     {contents([]byte("policy: {auto_allow: [read_only, execute]}\n")), ""},
	"broken":          {contents([]byte(strictFile + "  rules: [\n")), "config.yaml:6: "},
	"unknown key":     {contents([]byte("look:\n  colour: red\n")), "config.yaml:2: look.colour: "},
	"UTF-16":          {contents(asUTF16(strictFile, false)), "config.yaml: this is UTF-16: save it as UTF-8"},
	"UTF-16, big":     {contents(asUTF16(strictFile, true)), "config.yaml: this is UTF-16: save it as UTF-8"},
	"UTF-16, no mark": {contents(asUTF16(strictFile, false)[2:]), "config.yaml: this is UTF-16: save it as UTF-8"},
	"UTF-32":          {contents([]byte("\xff\xfe\x00\x00l\x00\x00\x00")), "config.yaml: this is UTF-32: "},
	"invalid UTF-8":   {contents([]byte(strictFile + "# caf\xe9\n")), "config.yaml:6: this is not UTF-8: save it"},
	"control":         {contents([]byte(strictFile + "# \x00\n")), "config.yaml:6: YAML allows no U+0000: remove it"},
	"symlink":         {insteadOf(func(p string) error { return os.Symlink("/dev/null", p) }), "symbolic link"},
	"FIFO":            {insteadOf(func(p string) error { return syscall.Mkfifo(p, 0o600) }), "not a plain file"},
	"directory":       {insteadOf(func(p string) error { return os.Mkdir(p, 0o700) }), "not a plain file"},
	"wrong mode":      {func(p string) error { return os.Chmod(p, 0o666) }, "others can change it"},
	"wrong owner":     {func(p string) error { return os.Chown(p, 12345, -1) }, "belongs to user 12345"},
	"unreadable":      {func(p string) error { return os.Chmod(p, 0) }, "permission denied"},
	"huge":            {contents([]byte(strings.Repeat("# long\n", 200_000))), "larger than"},
}

// sealDamages are done to the folder with the seal. Where one is no damage the seal is to be believed.
var sealDamages = map[string]func(folder string) error{
	"ok":              nil,
	"missing":         func(f string) error { return os.Remove(filepath.Join(f, "accepted.json")) },
	"one byte longer": func(f string) error { return appendTo(filepath.Join(f, "accepted.json"), "x") },
	"changed":         func(f string) error { return replaceIn(filepath.Join(f, "accepted.json"), "push", "pull") },
	"a directory": func(f string) error {
		return insteadOf(func(p string) error { return os.Mkdir(p, 0o700) })(filepath.Join(f, "accepted.json"))
	},
	"key replaced": func(f string) error { return contents(make([]byte, 32))(filepath.Join(f, "seal.key")) },
	"key missing":  func(f string) error { return os.Remove(filepath.Join(f, "seal.key")) },
	"key and seal missing": func(f string) error {
		return insteadOf(func(string) error { return os.Remove(filepath.Join(f, "seal.key")) })(
			filepath.Join(f, "accepted.json"))
	},
}

func appendTo(path, text string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, text...), 0o600)
}

// Whatever becomes of the policy file and of the seal, while nod runs or between its runs, and whether a change is held
// back or not: nothing is decided less strictly than what was accepted says, what is wrong is said, nothing is made
// anew, and once the file is back all is as it was.
func TestDamage(t *testing.T) {
	for fileName, file := range fileDamages {
		for sealName, harmSeal := range sealDamages {
			for _, isHeld := range []bool{false, true} {
				for _, isRestarted := range []bool{false, true} {
					name := strings.Join([]string{fileName, "seal " + sealName, map[bool]string{true: "held"}[isHeld],
						map[bool]string{true: "restarted", false: "running"}[isRestarted]}, "/")
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						testDamage(t, file, harmSeal, isHeld, isRestarted)
					})
				}
			}
		}
	}
}

func testDamage(t *testing.T, file damage, harmSeal func(string) error, isHeld, isRestarted bool) {
	folder, path := sealedFolder(t, strictFile)
	s := sealed(t, folder)
	floor, text := decideAll(s), strictFile
	if isHeld {
		text = strayFile
		write(t, path, text)
		s.refresh()
	}
	before := decideAll(s)
	intact := contentsOf(t, folder)

	if err := file.harm(path); os.IsPermission(err) {
		t.Skip("only root can")
	} else if err != nil {
		t.Fatal(err)
	}
	if file.says == "permission denied" && os.Geteuid() == 0 {
		t.Skip("root can read all")
	}
	if harmSeal != nil {
		if err := harmSeal(folder); err != nil {
			t.Fatal(err)
		}
	}
	was, statErr := os.Lstat(path)
	if isRestarted {
		s = sealed(t, folder)
	} else {
		s.refresh()
	}
	if created, err := s.Create(); created || err != nil {
		t.Errorf("created %v, %v", created, err)
	}
	if is, err := os.Lstat(path); (err == nil) != (statErr == nil) || err == nil && !os.SameFile(is, was) {
		t.Error("the file is another one")
	}
	isUnknown := isRestarted && harmSeal != nil
	if file.says != "" { // nor does what nobody has accepted yet lose what it denies by an error
		floor = before
	}
	wantNotLooser(t, s, floor, isUnknown)
	wantSaid(t, s, file, isUnknown)

	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	write(t, path, text)
	if harmSeal != nil && isRestarted { // from a backup, too
		for name, data := range intact {
			if err := os.RemoveAll(filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(folder, name), data)
		}
		s = sealed(t, folder)
	}
	s.refresh()
	for command, effect := range decideAll(s) {
		if effect != before[command] {
			t.Errorf("repaired: %s: %s, and was %s", command, effect, before[command])
		}
	}
	if _, is := s.Held(); is != isHeld || s.Err() != nil {
		t.Errorf("repaired: held %v, want %v; %v", is, isHeld, s.Err())
	}
}

// wantNotLooser compares the decisions with what they are to be at least. Where there is no telling what was accepted,
// what it denied is not known, either; then nothing passes.
func wantNotLooser(t *testing.T, s *Store, floor map[string]policy.Effect, isUnknown bool) {
	t.Helper()
	for command, effect := range decideAll(s) {
		if isUnknown && effect == policy.Allow || !isUnknown && floor[command].IsStricter(effect) {
			t.Errorf("%s: %s, want at least %s", command, effect, floor[command])
		}
	}
}

func wantSaid(t *testing.T, s *Store, file damage, isUnknown bool) {
	t.Helper()
	err := s.Err()
	if (err != nil) != (file.says != "") || err != nil && !strings.Contains(err.Error(), file.says) {
		t.Errorf("the error is %v: want %q", err, file.says)
	}
	held, isHeld := s.Held()
	if isUnknown && err == nil && (!isHeld || !held.IsUnknown) {
		t.Errorf("held %v, %+v: want that there is no telling what was accepted", isHeld, held)
	}
	if isHeld && err != nil {
		t.Error("what cannot be accepted is held")
	}
	if !isUnknown && held.IsUnknown {
		t.Error("the accepted policy is not known")
	}
}

// contentsOf are the files in a folder.
func contentsOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	return all
}
