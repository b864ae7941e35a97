package policy

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"nod/policy/shell"
)

// wrappings are lines of which some shell, in some reading, runs the script in place of SCRIPT, quoted as one word, or
// the command in place of COMMAND, as it is.
var wrappings = strings.Split(strings.TrimSpace(`
bash -c SCRIPT
bash -c SCRIPT -c ls
bash -c ls -c SCRIPT
sh -c SCRIPT -c ls
zsh -c SCRIPT -c ls
dash -c -c SCRIPT
ksh -cc SCRIPT
mksh -c SCRIPT ls
bash -ec SCRIPT
bash -ce SCRIPT
bash -xec SCRIPT x
bash -c -- SCRIPT
bash -c - SCRIPT
bash -- -c SCRIPT
bash -c -x SCRIPT
bash -c +x SCRIPT
bash +x -c SCRIPT
bash +c SCRIPT
bash +c -c SCRIPT
bash -c -e -u SCRIPT -c ls
bash -O extglob -c SCRIPT
bash +O extglob -c SCRIPT
bash -c -O extglob SCRIPT
bash -o pipefail -c SCRIPT
bash -co pipefail SCRIPT
bash -c -o pipefail SCRIPT -o errexit
bash -oc pipefail SCRIPT
bash --rcfile x -c SCRIPT
bash --rcfile x -ic SCRIPT
bash --init-file x -c SCRIPT
bash --norc --noprofile -c SCRIPT
bash --login -c SCRIPT
bash --posix -c SCRIPT
bash -lc SCRIPT
bash -ic SCRIPT
bash -s -c SCRIPT
zsh -f -c SCRIPT
zsh -o extendedglob -c SCRIPT
zsh --emulate sh -c SCRIPT
/bin/bash -c SCRIPT
/usr/bin/env bash -c SCRIPT
./bash -c SCRIPT
fish -c SCRIPT
fish -c ls -c SCRIPT
fish -c SCRIPT -c ls
fish --command=SCRIPT
busybox sh -c SCRIPT
ash -c SCRIPT
rbash -c SCRIPT -c ls
tcsh -c SCRIPT
bash -c bash -c SCRIPT
bash -c '"$@"' _ COMMAND
bash -c '"$0" "$@"' COMMAND
sh -c 'exec "$@"' sh COMMAND
sh -c '$*' sh COMMAND
bash -c 'eval "$1"' _ SCRIPT
bash -c '$1' _ SCRIPT
env bash -c SCRIPT -c ls
ifne COMMAND
retry -n 3 COMMAND
chpst -u x COMMAND
s6-setuidgid x COMMAND
tini -- COMMAND
dumb-init COMMAND
start-stop-daemon --start --exec /bin/sh -- -c SCRIPT
devbox run COMMAND
env A=1 B=2 sh -c SCRIPT -c ls
env -i sh -c SCRIPT
env -u A bash -c SCRIPT -c ls
env -S SCRIPT
env --split-string=SCRIPT
env -C / bash -c SCRIPT
env COMMAND
A=1 COMMAND
A=1 bash -c SCRIPT -c ls
nice -n 5 bash -c SCRIPT -c ls
nice COMMAND
timeout 5 bash -c SCRIPT -c ls
timeout -k 1 5 COMMAND
nohup bash -c SCRIPT -c ls
nohup COMMAND
stdbuf -oL bash -c SCRIPT -c ls
ionice -c 3 bash -c SCRIPT
setsid bash -c SCRIPT -c ls
time bash -c SCRIPT -c ls
time COMMAND
command bash -c SCRIPT -c ls
command COMMAND
builtin eval SCRIPT
exec COMMAND
exec bash -c SCRIPT -c ls
exec -a x bash -c SCRIPT
eval SCRIPT
eval eval SCRIPT
eval COMMAND
eval ls ';' COMMAND
sudo COMMAND
sudo -u root bash -c SCRIPT -c ls
doas sh -c SCRIPT
su -c SCRIPT
su root --command=SCRIPT
flock f -c SCRIPT
flock f COMMAND
script -c SCRIPT
watch SCRIPT
watch -n 1 bash -c SCRIPT -c ls
watch COMMAND
parallel SCRIPT ::: a
parallel bash -c SCRIPT -c ls ::: a
parallel ::: SCRIPT
xargs bash -c SCRIPT -c ls
ls | xargs -I{} sh -c SCRIPT -c ls
ls | xargs COMMAND
echo COMMAND | xargs -I{} sh -c {}
echo a | xargs -n 1 sh -c SCRIPT
find . -exec sh -c SCRIPT -c ls ';'
find . -exec sh -c SCRIPT sh {} +
find . -exec COMMAND ';'
find . -execdir bash -c SCRIPT ';'
find . -ok bash -c SCRIPT -c ls ';'
fd x -x sh -c SCRIPT
echo SCRIPT | sh
echo SCRIPT | bash -s
echo SCRIPT | bash -s -- a
echo COMMAND | bash
printf '%s\n' SCRIPT | sh -x
{ echo ls; echo SCRIPT; } | bash
echo SCRIPT | cat | bash /dev/stdin
echo SCRIPT | sudo sh
echo SCRIPT | env bash
echo SCRIPT | xargs -0 sh -c
bash <<< SCRIPT
bash -s <<< SCRIPT
eval "$(echo SCRIPT)"
eval "$(echo COMMAND)"
sh -c "$(echo COMMAND)"
bash <(echo SCRIPT)
bash < <(echo SCRIPT)
source <(echo SCRIPT)
. /dev/stdin <<< SCRIPT
trap SCRIPT EXIT
alias a=SCRIPT
x=SCRIPT; eval "$x"
x=SCRIPT; $x
x=SCRIPT; bash -c "$x" -c ls
x=SCRIPT; bash -c '$x'
x=SCRIPT bash -c '$x'
export x=SCRIPT; bash -c '$x'
BASH_ENV=/dev/stdin bash -c ls <<< SCRIPT
for x in ls SCRIPT; do eval "$x"; done
for x in ls SCRIPT; do bash -c "$x"; done
echo SCRIPT | while read -r x; do eval "$x"; done
if true; then bash -c SCRIPT -c ls; fi
while bash -c SCRIPT -c ls; do ls; done
case a in a) COMMAND;; esac
case a in a) bash -c SCRIPT -c ls;; esac
f() { bash -c SCRIPT -c ls; }; f
f() { COMMAND; }; f
[[ -n $(COMMAND) ]]
echo $((1 + $(COMMAND)))
echo "$(COMMAND)"
echo "$(bash -c SCRIPT -c ls)"
cat <(COMMAND)
ls > >(COMMAND)
(COMMAND)
! COMMAND
ls || COMMAND
ls & COMMAND
coproc COMMAND
cd x && COMMAND
tmux new -d SCRIPT
screen -dm COMMAND
zellij run -- COMMAND
at now <<< SCRIPT
echo SCRIPT | at now
echo SCRIPT | batch
npm exec -c SCRIPT
npm x --call=SCRIPT
npm exec -- COMMAND
yarn exec COMMAND
pnpm exec -c SCRIPT
nix-shell --run SCRIPT
nix develop --command COMMAND
mise exec -- COMMAND
asdf exec COMMAND
git rebase -x SCRIPT HEAD
git rebase --exec=SCRIPT HEAD
git submodule foreach SCRIPT
git submodule foreach COMMAND
time -f x COMMAND
- COMMAND
repeat 2 COMMAND
genv COMMAND
gxargs COMMAND
ts COMMAND
PAGER=SCRIPT man ls
GIT_PAGER=SCRIPT git log
export GIT_PAGER=SCRIPT; git log
set -- COMMAND; "$@"
read -r x <<< SCRIPT; $x
printf -v x SCRIPT; $x
mapfile -t a <<< SCRIPT; "${a[@]}"
X=SCRIPT; $X
cat <<E | sh
`), "\n")

// wrap puts a command into a wrapping.
func wrap(t *testing.T, wrapping, command string) string {
	t.Helper()
	quoted, err := syntax.Quote(command, syntax.LangBash)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(wrapping, "<<E | sh") {
		return wrapping + "\n" + command + "\nE"
	}
	return strings.NewReplacer("SCRIPT", quoted, "COMMAND", command).Replace(wrapping)
}

// TestDeniedInEveryReading has a rule deny a command, and another one allow whatever the shell runs. No line that holds
// the denied one passes, however it is wrapped: in two shells and more, nor does one that reads a denied path.
func TestDeniedInEveryReading(t *testing.T) {
	p := compiled(t, Policy{Rules: []Rule{
		{ID: "all", Effect: Allow, Tool: "Bash"},
		{ID: "rm", Effect: Deny, Run: []string{"rm -rf"}},
		{ID: "private", Effect: Deny, Path: "**/private.txt"},
	}})
	denied := func(line string) {
		t.Helper()
		d := Decide(bash(line), p, testNow)
		if isShell := !shell.Analyze(line).Unreadable; d.Effect == Allow || d.Effect != Deny && isShell {
			t.Errorf("%s\n%q: %+v", line, line, d)
		}
	}
	random := rand.New(rand.NewPCG(20, 1))
	scripts := slices.DeleteFunc(slices.Clone(wrappings), func(s string) bool { return !strings.Contains(s, "SCRIPT") })
	for _, command := range []string{"rm -rf build", "rm -fr build", "rm build -r -f", "cat private.txt"} {
		for _, wrapping := range wrappings {
			if command[0] == 'c' && (strings.Contains(wrapping, `"$`) || strings.Contains(wrapping, "$*")) {
				continue // the words behind the script say nothing of files
			}
			denied(wrap(t, wrapping, command))
		}
		for range 2_000 {
			line := command
			for range 2 {
				line = wrap(t, scripts[random.IntN(len(scripts))], line)
			}
			if command[0] == 'r' {
				denied(line)
			}
		}
	}
	for _, line := range []string{ // what zsh makes of them is denied
		`zsh -c 'x=privatX.txt; cat "$x:s/X/e/"'`, `x=sub/private.txt; cat "$x:t"`, `x=private.txtX; cat < "$x[1,11]"`,
		`x=private.txt; cat "$^x"`, `x=-rfX; rm "$x[1,3]" y`, `x='rm -rf y'; $=x`, `x=rmX; "$x:s/X//" -rf y`,
		`$'rm' -rf build`, `$'\x72m' -rf build`, `$"rm" -rf build`, `r"$x"m -rf build`, `rm$x -rf build`, `rm "$x" -rf build`,
		`grm -rf build`, `X=rm; $X -rf build`, `X=-rf; rm $X build`, `X='-rf build'; rm $X`,
		`rm * -rf`, `rm build $'-rf'`, `r[m] -rf build`, `/bin/r? -rf build`, `rm${IFS}-rf${IFS}build`, `{rm,-rf,build}`,
		`${x:-rm} -rf build`, `$(echo rm) -rf build`, `echo -rf build | xargs rm`, `\rm -rf build`, `"rm" '-rf' build`,
		"zsh -c 'foreach x (a b)\nrm -rf build\nend'", "zsh -c 'for x (a b)\nrm -rf build'",
		`x=privatX.txt; bash -c 'cat "$x"'; sh -c "cat $x:s/X/e/"`, `x=privatX.txt; git show "HEAD:$x:s/X/e/"`,
		`F=private.txt; cat "$F"`, `D=sub && head $D/private.txt`, `my_file=private; wc -l < "$my_file.txt"`,
		`export F=private.txt; cat "$F"`, `readonly F=private.txt; sort $F`, `declare -r F=private.txt; cat "$F"`,
		`F=private.txt; echo x > "$F"`, `F=private.txt; export F; sh -c 'cat $F'`,
	} {
		denied(line)
	}
	for _, line := range []string{
		"bash -c 'ls' -c ls", "echo 'rm -rf build'", "git commit -m 'rm -rf build'", "grep 'rm -rf' a.sh", "bash -c ls rm",
		"sh -c 'echo rm -rf'", "python3 -c 'print(1)' 'rm -rf'", "rm build", "sudo rm build", "cat <<E\nrm -rf build\nE",
		"echo 'rm -rf build' | grep rm", "eval 'rm build'", "find . -name 'rm -rf'",
	} {
		if d := Decide(bash(line), p, testNow); d.Effect != Allow {
			t.Errorf("%q: %+v", line, d)
		}
	}
}

// What a shell cuts into several words is no value of a flag: the next word could be another flag, such as sort's -o.
// Nor is what names a file that the flag reads or writes.
func TestValuesThatAreMore(t *testing.T) {
	p := after(t, bash("git commit -m 'Mend it'"), Always, CoverCommands)
	p = p.WithGrants(append(p.grants, after(t, bash("npm test"), Always, CoverBuilds).grants...))
	p = p.WithGrants(append(p.grants, after(t, bash("curl https://docs.rs/a"), Always, CoverCommands).grants...))
	decides(t, p, map[string]Effect{
		"curl -w '%{http_code}' https://docs.rs/a": Allow, "curl -w @.env https://docs.rs/a": Ask,
		"curl -w '%output{x}' https://docs.rs/a": Ask, "curl -w '' https://docs.rs/a": Allow,
		"sort -t $(cat x) f": Ask, "sort -t `cat x` f": Ask, `sort -t "$(cat x)" f`: Allow, "sort -t a$(cat x) f": Ask,
		"cut -d $(cat x) f": Ask, "jq --arg a $(cat x) . f": Ask, "while read x; do sort -t $x f; done < g": Ask,
		"git commit -m $(cat x)": Ask, `git commit -m "$(cat x)"`: Allow, "git commit -m *": Ask,
		"go test -run $(cat x)": Ask, `go test -run "$(cat x)"`: Allow, "go test -run *": Ask,
		"while read x; do go test -run $x; done < f": Ask,
	})
}
