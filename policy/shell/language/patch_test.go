package language

import (
	"slices"
	"strings"
	"testing"
)

// patchSamples are patches and what they do: paths that are written, those that are removed behind a -, and ? for one
// that cannot be read.
var patchSamples = map[string]string{
	"*** Begin Patch\n*** Add File: a.go\n+package a\n+\n*** End Patch":                                        "a.go",
	"*** Begin Patch\n*** Delete File: a.go\n*** End Patch\n":                                                  "-a.go",
	"\n*** Begin Patch\n*** Update File: a.go\n@@ func a()\n a\n-b\n+c\n\n*** End of File\n*** End Patch \n\n": "a.go",
	"*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch":                           "a b -a",
	"*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** Add File: c\n+x\n*** End Patch":                  "a b c -a",
	" *** Begin Patch\n  *** Update File: a\n@@\n-x\n+y\n *** End Patch":                                       "a",
	"*** Begin Patch\r\n*** Add File: a\r\n+x\r\n*** End Patch":                                                "a",
	"*** Begin Patch\n*** Add File: a\n+*** Add File: b\n*** End Patch":                                        "a",
	"*** Begin Patch\n*** Update File: a\n ***bold***\n-*** Delete File: b\n*** End Patch":                     "a",
	"*** Begin Patch\n*** Update File: a\n *** Delete File: b\n*** End Patch":                                  "a -b",
	"<<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF\n":                                      "a",
	"*** Begin Patch\n*** Add File: ~/a\n+x\n*** End Patch":                                                    "~/a ./~/a",
	"*** Begin Patch\n*** Add File: /etc/a\n+x\n*** Delete File: ../b\n*** End Patch":                          "/etc/a -../b",
	"*** Begin Patch\n*** Add File: app/[id]/page.tsx\n+x\n*** End Patch":                                      "app/[id]/page.tsx",
	"":                               "?",
	"x":                              "?",
	"*** Begin Patch":                "?",
	"*** Begin Patch\n*** End Patch": "?",
	"*** Begin Patch\n*** Environment ID: far\n*** Add File: a\n+x\n*** End Patch": "a ?",
	"*** Add File: a\n+x":                                                                        "a ?",
	"*** Begin Patch\n*** Add File: a\n+x":                                                       "a ?",
	"*** Begin Patch\n*** Add File: a\nx\n*** End Patch":                                         "a ?",
	"*** Begin Patch\n*** Add File:a\n+x\n*** End Patch":                                         "a ?",
	"*** Begin Patch\n*** Add File: \n+x\n*** End Patch":                                         "?",
	"*** Begin Patch\n*** Delete File: a\n-x\n*** End Patch":                                     "-a ?",
	"*** Begin Patch\n*** Move to: b\n*** End Patch":                                             "b ?",
	"*** Begin Patch\n*** Add File: a\n*** Move to: b\n+x\n*** End Patch":                        "a b -a ?",
	"*** Begin Patch\n*** Update File: a\n@@\n*** Move to: b\n*** End Patch":                     "a b -a ?",
	"*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** Move to: c\n@@\n*** End Patch":     "a b c -a -a ?",
	"*** Begin Patch\n*** Update File: a\n *** End Patch\n*** End Patch":                         "a ?",
	"*** Begin Patch\n*** Update File: a\n@@\n*** End Patch\n*** Add File: b\n+x\n*** End Patch": "a b ?",
	"*** Begin Patch\n*** Add File: file:///etc/a\n+x\n*** End Patch":                            "file:///etc/a ?",
	"*** Begin Patch\n*** Rename File: a\n*** End Patch":                                         "?",
	"<<END\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEND":                            "a ?",
}

func TestPatch(t *testing.T) {
	for text, want := range patchSamples {
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
	for text := range patchSamples {
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
