package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"nod/ipc/operator"
)

func checkWindows(_ context.Context, e *exam) []Finding {
	program, err := e.Program("nod-dialogs")
	if err != nil {
		return []Finding{failure(nil, "%v", err)}
	}
	test, err := e.selfTest()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return []Finding{warning(run("%s %s", quote(program), operator.SelfTestFlag), "%s takes longer than %s to start",
			program, patience)}
	case err != nil:
		return []Finding{failure(run("ldd %s", quote(program)), "%s does not start: %v", program, err)}
	}
	return append(e.checkFonts(test), e.checkWindow(test)...)
}

func (e *exam) testWindows(ctx context.Context) (test operator.SelfTest, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	program, err := e.Program("nod-dialogs")
	if err != nil {
		return test, err
	}
	environ := e.environ
	if platform, _ := e.display(); platform != "" {
		environ = append(slices.Clip(environ), "FYNE_PLATFORM="+platform)
	}
	out, err := e.Run(ctx, environ, program, operator.SelfTestFlag)
	if err != nil {
		return test, err
	}
	err = json.Unmarshal([]byte(out), &test)
	return test, err
}

// checkWindow checks whether a window could be shown. A missing display has its own finding.
func (e *exam) checkWindow(test operator.SelfTest) []Finding {
	if _, err := e.display(); err != nil {
		return nil
	}
	if test.Problem != "" {
		return []Finding{failure(e.install(openGL), "nod can't show prompts: %s", test.Problem)}
	}
	return []Finding{ok("nod can show prompts")}
}

func (e *exam) checkFonts(test operator.SelfTest) []Finding {
	var names []string // of scripts in the same fonts
	for _, s := range test.Undrawn {
		if s != operator.Emoji {
			names = append(names, string(s))
		}
	}
	var found []Finding
	if folder := existing(e.cacheHome()); names != nil && writable(folder) != nil {
		found = append(found, warning(run("ls -ld %s", quote(folder)),
			"nod can't use the system's fonts, because it can't write their index in %s", folder))
	} else if names != nil {
		found = append(found, warning(e.install(cjkFonts),
			"no font has %s characters: prompts show them as codes", strings.Join(names, ", ")))
	}
	if slices.Contains(test.Undrawn, operator.Emoji) {
		found = append(found, warning(e.install(emojiFonts), "no emoji font: prompts show emoji as codes"))
	}
	if found == nil {
		found = []Finding{ok("fonts for Chinese, Japanese, Korean and emoji are installed")}
	}
	for i := range found {
		found[i].ID, found[i].Title = "fonts", "fonts"
	}
	return found
}

func (e *exam) cacheHome() string {
	env := getenv(e.environ)
	return cmp.Or(env("XDG_CACHE_HOME"), filepath.Join(cmp.Or(env("HOME"), "/nonexistent"), ".cache"))
}

func checkVersions(ctx context.Context, e *exam) []Finding {
	var found []Finding
	if e.isRunning() && e.health.Version != e.Version {
		found = append(found, warning(restart(), "nod is version %s, but the running nod-desktop is %s", e.Version,
			e.health.Version))
	}
	for _, p := range []struct {
		name    string
		version func(path string) (string, error)
	}{
		{"nod-desktop", func(path string) (string, error) {
			out, err := e.Run(ctx, e.Environ, path, "--version")
			return firstWord(strings.TrimPrefix(out, "nod-desktop ")), err
		}},
		{"nod-dialogs", func(string) (string, error) {
			test, err := e.selfTest()
			return test.Version, err
		}},
	} {
		path, err := e.Program(p.name)
		if err != nil {
			continue
		}
		if v, err := p.version(path); err == nil && v != e.Version {
			found = append(found, failure(run("ls -l %s", quote(filepath.Dir(path))),
				"nod is version %s, but %s is %s: install all programs from one package", e.Version, path, v))
		}
	}
	if found == nil {
		found = []Finding{ok("all programs are %s", e.Version)}
	}
	return found
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return word
}
