package shell

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"nod/policy/shell/language"
)

// disguises turn a command into others that a shell runs the same way, or that a user reads the same way.
var disguises = map[string]func(command string) []string{
	"split words": func(c string) []string {
		return eachWord(c, func(w string) []string {
			if !undisguised.MatchString(w) {
				return nil
			}
			out := []string{`"` + w + `"`, `'` + w + `'`, `$'` + w + `'`, `$"` + w + `"`}
			// At its start, within its dashes, behind them and at its end: other places are read like these.
			for _, i := range slices.Compact([]int{0, 1, min(2, len(w)), len(w)}) {
				out = append(out, w[:i]+`""`+w[i:], w[:i]+`''`+w[i:], w[:i]+`\`+w[i:], w[:i]+`$@`+w[i:], w[:i]+"\\\n"+w[i:],
					`"`+w[:i]+`"`+w[i:], w[:i]+`'`+w[i:]+`'`, `'`+w[:i]+`'"`+w[i:]+`"`)
			}
			return out
		})
	},
	"bundled flags": func(c string) []string {
		name, _, _ := strings.Cut(c, " ")
		known := programs().find(name)
		return eachWord(c, func(w string) []string {
			var out []string
			for i := 0; known != nil && len(w) > 1 && w[0] == '-' && w[1] != '-' && i < 256; i++ {
				if v, isFlag := known.flags["-"+string(rune(i))]; isFlag && v.typ == nil {
					out = append(out, "-"+string(rune(i))+w[1:])
				}
			}
			return out
		})
	},
	"abbreviated flags": func(c string) []string {
		return eachWord(c, func(w string) []string {
			var out []string
			name, value, glued := strings.Cut(w, "=")
			for n := 3; strings.HasPrefix(w, "--") && n < len(name); n++ {
				if otherFlags.Has(name[:n]) {
					continue
				}
				out = append(out, name[:n])
				if glued {
					out = append(out, name[:n]+"="+value, name[:n]+" "+value)
				}
			}
			return out
		})
	},
	"in front": func(c string) []string {
		var out []string
		for _, front := range []string{
			"/bin/", "/usr/bin/", "./", "../", "~/", "X=1 ", "PATH=. ", "GIT_PAGER=x ", "LD_PRELOAD=x ", "env ", "env -i ",
			"nohup ", "sudo ", "nice ", "time ", "timeout 5 ", "command ", "command -p ", "builtin ", "exec ", "xargs ",
			"stdbuf -o0 ", "setsid ", "! ", "eval ", "noglob ", "{ ", "( ", "ls | ", "ls; ", "ls && ", "ls || ", "ls\n",
			"\\", "- ", "-- ",
		} {
			out = append(out, front+c)
		}
		return out
	},
	"behind": func(c string) []string {
		if strings.HasSuffix(c, "&&") || strings.HasSuffix(c, "||") {
			return nil // a further line completes it
		}
		return []string{c + " ", c + "; ls", c + " | cat", c + " && ls", c + " || ls", c + "\nls",
			c + " 2>/dev/null", c + " >/dev/null", c + " --"}
	},
	"characters between words": func(c string) []string {
		return replaced(c, " ", "\t", "\n", "\r", "\x00", "\v", "\f", "\u00a0", "\u2003", "\u3000", "\u200b",
			"\ufeff", "${IFS}", "$IFS", "\\ ", "  ")
	},
	"characters in every place": func(c string) []string {
		var out []string
		for i := range len(c) + 1 {
			out = append(out, c[:i]+"\t"+c[i:], c[:i]+"\\\n"+c[i:])
		}
		for _, i := range []int{0, len(c) / 2, len(c)} { // nothing is read of a line that holds one, wherever it stands
			for _, insert := range []string{"\r", "\x00", "\x08", "\x1b[2K", "\u202e", "\u2066", "\u200b", "\u00ad", "\ufe0f",
				"\U000E0041", "\xff"} {
				out = append(out, c[:i]+insert+c[i:])
			}
		}
		return out
	},
	"look-alikes": func(c string) []string {
		var out []string
		for _, pair := range []string{
			"a\u0430", "e\u0435", "o\u043e", "c\u0441", "p\u0440", "i\u0456", "x\u0445",
			"-\u2010", "-\u2013", "-\u2212", "-\u30fc", "t\u03c4", "l\u01c0", "/\u2044",
			"/\u2215", ";\u037e", "'\u2019", "s\u017f", "f\u0192", "s\uff53", "g\u0261",
		} {
			out = append(out, strings.ReplaceAll(c, pair[:1], pair[1:]), strings.Replace(c, pair[:1], pair[1:], 1))
		}
		return out
	},
	"case": func(c string) []string { return []string{strings.ToUpper(c), strings.ToUpper(c[:1]) + c[1:]} },
}

// mended are mutants that really are harmless: what was wrong with the sample is not wrong with them.
var mended = map[string]bool{
	"ls | xargs ls": true, "( ls )": true, "ls\na=~/x": true, "jq --seq . data.json": true,
	`jq '. ""as $x|$x' data.json`: true,                     // the field named ""
	"! cd src && git status":      true,                     // it stays where it is
	"lsof -ni :8080":              true, "lsof -ntP ": true, // -n: no names are asked for
}

// ownComment matches a comment on a line of its own, which is harmless where the sample's, behind a command, is not.
var ownComment = regexp.MustCompile(`(^|\n)#`)

// otherFlags are flags of their own, not abbreviations: --text of --textconv.
var otherFlags = language.Words("--text --exclude --ignore-rev")

// undisguised matches a word in which no character is special to a shell.
var undisguised = regexp.MustCompile(`^[A-Za-z0-9_./-][A-Za-z0-9_./=-]*$`)

func eachWord(c string, change func(w string) []string) []string {
	words := strings.Split(c, " ")
	var out []string
	for i, w := range words {
		for _, other := range change(w) {
			out = append(out, strings.Join(words[:i], " ")+" "+other+" "+strings.Join(words[i+1:], " "))
		}
	}
	return out
}

func replaced(c, old string, others ...string) []string {
	var out []string
	for _, other := range others {
		out = append(out, strings.ReplaceAll(c, old, other), strings.Replace(c, old, other, 1))
	}
	return out
}

// TestNoDisguise changes every sample that must not be accepted in all the ways of disguises, and accepts none.
func TestNoDisguise(t *testing.T) {
	tried := map[string]bool{}
	for _, s := range allSamples(t) {
		if s.readOnly || strings.TrimSpace(s.command) == "" {
			continue
		}
		for name, disguise := range disguises {
			for _, mutant := range disguise(s.command) {
				if tried[mutant] {
					continue
				}
				tried[mutant] = true
				if harmless(Analyze(mutant), true) && !mended[mutant] && !ownComment.MatchString(mutant) {
					t.Errorf("%s: %q became %q, which is accepted (%s)", name, s.command, mutant, s.reason)
				}
			}
		}
	}
	t.Logf("%d mutants", len(tried))
}
