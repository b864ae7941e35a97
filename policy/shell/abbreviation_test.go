package shell

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// A rule that denies the full name of a command holds for all other names that the data have, and for every start of a
// name where a program takes that, however the command is started.
func TestAbbreviationsAreMeant(t *testing.T) {
	c := programs()
	meets := func(rule, line string) {
		t.Helper()
		pattern, err := ParsePattern(rule)
		if err != nil {
			t.Fatalf("%s: %v", rule, err)
		}
		for _, wrapped := range []string{
			line, line + " x", "env A=1 " + line, "sh -c '" + line + "'", "echo x | xargs " + line, "time " + line,
			"sudo " + line, "find . -exec " + line + " {} +", "if true; then " + line + "; fi", "x=$(" + line + ")",
			"/usr/bin/" + line,
		} {
			a := Analyze(wrapped)
			if !slices.ContainsFunc(slices.Concat(a.Parts, a.Readings), pattern.Meets) {
				t.Errorf("a rule about %q does not hold for %q", rule, wrapped)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.aliases)) {
		for _, other := range c.aliases[name] {
			meets(name, other)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.whole)) {
		for end := strings.LastIndex(name, " ") + 2; end < len(name); end++ {
			if short := name[:end]; !c.whole[short] && c.aliases[short] == nil {
				meets(name, short)
			}
		}
	}
}

func TestAbbreviations(t *testing.T) {
	for _, tt := range []struct {
		rule, line string
		want       bool
	}{
		{"npm publish", "npm pub", true},
		{"npm publish", "npm --tag beta publ", true},
		{"npm pub", "npm publish", true},
		{"npm run-script deploy", "npm run deploy --silent", true},
		{"npm dist-tag", "npm distTag ls", true},
		{"npm ci", "npm install-cl", true},
		{"npm uninstall", "npm unin left-pad", true},
		{"npm run build:prod", "npm run build", false}, // names of scripts are not abbreviated
		{"npm run deploy", "npm run d", false},
		{"npm start", "npm star left-pad", false}, // a word of its own
		{"npm install-test", "npm install", false},
		{"npm publish", "npm p", true}, // ambiguous: npm refuses it
		{"npm publish", "npm pack", false},
		{"npm publish", "npm", false},
		{"npm exec", "npx cowsay", true},
		{"cargo publish", "cargo pub", false}, // cargo takes no abbreviations
		{"cargo run", "cargo r", true},
		{"pnpm install", "pnpm i", true},
		{"bundle install", "bundle ins", true},
		{"npm publish", "npm publish", true},
		{"tmux kill-server", "tmux -L x kill-server", true},
		{"git push", "git commit -m push", false},
		{"git push", "git -C x commit -m push", false},
		{"git push", "git -C x push", true},
		{"ip route delete default", "ip r del default", true},
		{"ip addr", "ip -4 address", true},
		{"ip link set", "ip a", false},
		{"nmcli connection delete", "nmcli c d home", true},
		{"gradle publishToMavenLocal", "gradle pTML", true},
		{"php artisan migrate:fresh", "php artisan mi:fr", true},
		{"gem push", "gem PUS x.gem", true},
		{"npm publish", "npm ''", false},
		{"hg push", "hg --config a=b pus", true},
		{"svn delete", "svn rm x", true},
		{"docker container rm", "docker rm x", true},
		{"docker rmi", "docker image remove x", true},
		{"git push --force", "git push --forc", true},
		{"git push --force", "git push origin --for main", true},
		{"git push --mirror-all", "git push --mirror", false}, // a flag of its own
		{"git push --force", "git push --follow-tags", false},
		{"rm --recursive", "rm --recurs x", true},
		{"rm --recursive", "sh -c 'rm --r x'", true},
		{"npm publish --access public", "npm pub --access=public", true},
		{"npm publish --access public", "npm pub --acc public", true},
		{"npm publish --access=public", "npm pub --access public", true},
		{"npm publish --access public", "npm pub --access restricted", false},
		{"curl --upload-file", "curl --upload x", true},
		{"tmux kill-server", "tmux kill-ser", true},
		{"rm --recursive", "rm -- x", false},
		{"rm --recursive", "rm - x", false},
	} {
		pattern, err := ParsePattern(tt.rule)
		if err != nil {
			t.Errorf("%s: %v", tt.rule, err)
			continue
		}
		a := Analyze(tt.line)
		if got := slices.ContainsFunc(slices.Concat(a.Parts, a.Readings), pattern.Meets); got != tt.want {
			t.Errorf("a rule about %q holds for %q: %v, want %v", tt.rule, tt.line, got, tt.want)
		}
	}
}

// What allows a command allows no other word for it.
func TestAbbreviationsAllowNothing(t *testing.T) {
	inside := func(string) bool { return true }
	for _, tt := range [][2]string{
		{"npm t", "npm test"}, {"npm test", "npm tes"}, {"npm p", "npm publish"}, {"npm run", "npm ru"},
		{"npm install", "npm i"}, {"cargo build", "cargo b"}, {"git add --a", "git add --all"},
		{"go test", "go te"}, {"npm ls", "npm list"}, {"docker image", "docker images"},
	} {
		pattern, err := ParsePattern(tt[0])
		if err != nil {
			t.Errorf("%s: %v", tt[0], err)
			continue
		}
		if parts := Analyze(tt[1]).Parts; pattern.Covers(parts[0], inside) {
			t.Errorf("allowing %q allows %q", tt[0], tt[1])
		}
	}
}

// What another name or the start of one does reaches the network and is as dangerous as under the full name.
func TestAbbreviationsDoTheSame(t *testing.T) {
	for _, tt := range [][2]string{
		{"npm publish", "npm pub"}, {"npm publish", "npm publ"}, {"npm unpublish x", "npm unp x"},
		{"npm install x", "npm isnta x"}, {"npm uninstall x", "npm unlink x"}, {"npm update", "npm udpate"},
		{"npm exec x", "npm exe x"}, {"npm login", "npm logi"}, {"npm token list", "npm tok list"},
		{"pnpm remove x", "pnpm uni x"}, {"cargo remove x", "cargo rm x"}, {"gem push x", "gem pus x"},
		{"gem install x", "gem i x"}, {"bundle install", "bundle ins"}, {"composer require x", "composer req x"},
		{"hg push", "hg pus"}, {"svn delete x", "svn del x"}, {"zypper remove x", "zypper rm x"},
		{"docker rmi x", "docker image remove x"}, {"brew uninstall x", "brew rm x"},
		{"php artisan migrate:fresh", "php artisan mi:f"}, {"ip route flush", "ip r flush"},
	} {
		full, short := Assess(tt[0]), Assess(tt[1])
		if full.Network != short.Network {
			t.Errorf("%q reaches the network: %v, %q: %v", tt[0], full.Network, tt[1], short.Network)
		}
		for _, risk := range full.Risks {
			isSame := func(o Risk) bool { return o.Text == risk.Text && o.Level == risk.Level }
			if !slices.ContainsFunc(short.Risks, isSame) {
				t.Errorf("%q has the risk %q, %q has none such: %v", tt[0], risk, tt[1], short.Risks)
			}
		}
	}
}
