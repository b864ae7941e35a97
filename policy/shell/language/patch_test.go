package language

import (
	"slices"
	"strings"
	"testing"
)

// patchBodies are what may stand in a patch, and what that does: paths that are written, those that are removed behind
// a -, and ? for one that cannot be read.
var patchBodies = map[string]string{
	"*** Add File: a.go\n+package a\n+":                          "a.go",
	"*** Update File: a\n*** Move to: b\n@@\n-x\n+y":             "a b -a",
	"*** Update File: a\n*** Move to: b\n*** Add File: c\n+x":    "a b c -a",
	"*** Add File: a\n+*** Add File: b":                          "a",
	"*** Update File: a\n ***bold***\n-*** Delete File: b":       "a",
	"*** Update File: a\n *** Delete File: b":                    "a -b",
	"*** Add File: ~/a\n+x":                                      "~/a ./~/a",
	"*** Add File: /etc/a\n+x\n*** Delete File: ../b":            "/etc/a -../b",
	"*** Add File: app/[id]/page.tsx\n+x":                        "app/[id]/page.tsx",
	"":                                                           "?",
	"*** Environment ID: far\n*** Add File: a\n+x":               "a ?",
	"*** Add File: a\nx":                                         "a ?",
	"*** Add File:a\n+x":                                         "a ?",
	"*** Add File: \n+x":                                         "?",
	"*** Delete File: a\n-x":                                     "-a ?",
	"*** Move to: b":                                             "b ?",
	"*** Add File: a\n*** Move to: b\n+x":                        "a b -a ?",
	"*** Update File: a\n@@\n*** Move to: b":                     "a b -a ?",
	"*** Update File: a\n*** Move to: b\n*** Move to: c\n@@":     "a b c -a -a ?",
	"*** Update File: a\n *** End Patch":                         "a ?",
	"*** Update File: a\n@@\n*** End Patch\n*** Add File: b\n+x": "a b ?",
	"*** Add File: file:///etc/a\n+x":                            "file:///etc/a ?",
	"*** Rename File: a":                                         "?",
}

// patchSamples are whole patches.
func patchSamples() map[string]string {
	all := map[string]string{
		"*** Begin Patch\n*** Delete File: a.go\n*** End Patch\n":                                                  "-a.go",
		"\n*** Begin Patch\n*** Update File: a.go\n@@ func a()\n a\n-b\n+c\n\n*** End of File\n*** End Patch \n\n": "a.go",
		" *** Begin Patch\n  *** Update File: a\n@@\n-x\n+y\n *** End Patch":                                       "a",
		"*** Begin Patch\r\n*** Add File: a\r\n+x\r\n*** End Patch":                                                "a",
		"<<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF\n":                                      "a",
		"":                                     "?",
		"x":                                    "?",
		"*** Begin Patch":                      "?",
		"*** Add File: a\n+x":                  "a ?",
		"*** Begin Patch\n*** Add File: a\n+x": "a ?",
		"<<END\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEND": "a ?",
	}
	for body, want := range patchBodies {
		all["*** Begin Patch\n"+body+"\n*** End Patch"] = want
	}
	return all
}

func TestPatch(t *testing.T) {
	for text, want := range patchSamples() {
		use, err := Patch(text)
		got := slices.Clone(use.Writes)
		for _, p := range use.Removes {
			got = append(got, "-"+p)
		}
		if err != nil {
			got = append(got, "?")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q (%v)", text, got, want, err)
		}
	}
	use, err := Patch("*** Begin Patch\n*** Add File:  a b \n+x\n*** End Patch")
	if err != nil || !slices.Equal(use.Writes, []string{"a b", " a b"}) {
		t.Errorf("blanks around a name: %q, %v", use.Writes, err)
	}
}

// FuzzPatch holds every patch to naming, on a line of their own, the files that it is said to change, and more lines to
// take none of them away.
func FuzzPatch(f *testing.F) {
	for text := range patchSamples() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		use, err := Patch(text)
		checkRefusal(t, text, err)
		all := slices.Concat(use.Writes, use.Removes)
		if err == nil && len(all) == 0 {
			t.Errorf("%q is a patch of no file", text)
		}
		for _, path := range all {
			if name := strings.TrimPrefix(path, "./"); path == "" || !strings.Contains(text, name) {
				t.Errorf("%q names no %q", text, path)
			}
		}
		for _, more := range []string{"\n*** Delete File: zz", "\n *** Update File: zz\n@@", "\n*** Add File: zz"} {
			longer, _ := Patch(text + more)
			after := slices.Concat(longer.Writes, longer.Removes)
			if !slices.Contains(after, "zz") {
				t.Errorf("%q does not change zz with %q behind it", text, more)
			}
			for _, path := range use.Writes {
				if !slices.Contains(longer.Writes, path) {
					t.Errorf("%q does not write %q any more with %q behind it", text, path, more)
				}
			}
		}
	})
}
