package language

import "testing"

func BenchmarkLanguages(b *testing.B) {
	for name, judge := range map[string]func() error{
		"sed":    func() error { _, err := Sed("1,5p;/func main/,/^}/p", false); return err },
		"awk":    func() error { return Awk("{sum += $1} END {print sum/NR}", nil) },
		"jq":     func() error { return JQ(".items[] | select(.name == \"x\") | \"\\(.a): \\(.b)\"", nil) },
		"regexp": func() error { return Regexp(`^func \(.*\) error`, Basic) },
		"find":   func() error { _, err := Find([]string{".", "-name", "*.go", "-print"}); return err },
		"test":   func() error { return Test([]string{"-f", "x"}, nil) },
		"printf": func() error { return Printf(`%s\n`, []string{"x"}, false) },
		"git":    func() error { return GitFormat("%h %an %s") },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := judge(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
