package shell

import "strings"

// This file serves commands that are not read-only: it is used to name what they do, never to accept anything.

// set reads words divided by blanks.
func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// spread gives every name of a key, divided by |, its own entry.
func spread[T any](table map[string]T) map[string]T {
	out := map[string]T{}
	for names, v := range table {
		for name := range strings.SplitSeq(names, "|") {
			out[name] = v
		}
	}
	return out
}

// procFiles are the files below /proc that tell of the machine, not of a process.
var procFiles = set("/proc/cpuinfo /proc/meminfo /proc/version /proc/uptime /proc/loadavg /proc/filesystems")

// writer says what a program that writes does with its operands.
type writer struct {
	skip    int    // how many of the first operands are no paths
	reads   bool   // all operands but the last are read, the last is written
	moves   bool   // the last may be a folder that the others are put into
	deletes bool   // it removes what it is given
	needs   string // it writes only when one of these flags is there
}

// writers are programs that write, remove or change files.
var writers = spread(map[string]writer{
	"rm|rmdir|unlink|shred|trash|trash-put|srm": {deletes: true},
	"mv":                                 {moves: true},
	"cp|install|ln|link|scp|rsync|ditto": {reads: true, moves: true},
	"tee|touch|mkdir|mkfifo|mknod|truncate|sponge|split|csplit|patch": {},
	"chmod|chown|chgrp|setfacl|xattr|chattr|chflags":                  {skip: 1},
	"sed|gsed":  {skip: 1, needs: "-i -I --in-place"},
	"perl|ruby": {needs: "-i"},
	"uniq|xxd":  {reads: true},
	"dd|sort|tree|curl|wget|tar|unzip|zip|gzip|gunzip|bzip2|xz|zstd|patchelf|shuf|iconv|base64": {needs: "never"},
})

// outputFlags are flags that name a file to write, for every program in writers and a few more.
var outputFlags = map[string]string{
	"sort": "-o --output", "tree": "-o", "curl": "-o --output -D --dump-header -c --cookie-jar", "wget": "-O --output-document -o --output-file -P --directory-prefix",
	"tar": "-C --directory -f --file", "unzip": "-d", "shuf": "-o --output", "iconv": "-o --output", "base64": "-o --output",
	"cp": "-t --target-directory", "mv": "-t --target-directory", "ln": "-t --target-directory", "install": "-t --target-directory",
	"find": "-fprint -fprint0 -fprintf -fls", "git": "-o --output", "gcc": "-o", "cc": "-o", "clang": "-o", "go": "-o -coverprofile", "openssl": "-out", "pandoc": "-o --output",
}

// deletingWords are pairs of a program and a word that make it remove something.
var deletingWords = map[string]map[string]bool{
	"find":   set("-delete"),
	"git":    set("clean rm drop clear prune -D --delete remove"),
	"docker": set("rm rmi prune"), "podman": set("rm rmi prune"), "kubectl": set("delete"),
	"rsync": set("--delete --remove-source-files"),
}

// wrapper says how a program that runs its operand is taken off.
type wrapper struct {
	value string // its flags of one letter with a value
	skip  int    // operands of its own before the program
	text  bool   // its operands are a script, joined by blanks
}

// wrappers are programs that run the program that follows.
var wrappers = spread(map[string]wrapper{
	"sudo|doas":        {value: "ugpCThDRrtUc"},
	"env":              {value: "uCSP"},
	"timeout|gtimeout": {value: "ks", skip: 1},
	"nice":             {value: "n"},
	"ionice":           {value: "cnp"},
	"chrt|taskset":     {skip: 1},
	"stdbuf":           {value: "ioe"},
	"xargs":            {value: "adEIiLlnPs"},
	"flock":            {value: "wE", skip: 1},
	"watch":            {value: "nd"},
	"strace|ltrace":    {value: "eopsuEaS"},
	"su":               {value: "cs", skip: 1},
	"script":           {value: "c", skip: 1},
	"nohup|setsid|time|command|builtin|exec|noglob|nocorrect|coproc|caffeinate|unbuffer":     {},
	"proxychains|proxychains4|firejail|dbus-run-session|xvfb-run|chronic|eatmydata|fakeroot": {},
	"rlwrap|busybox|toybox|parallel|entr|direnv|torsocks|chroot|unshare|nsenter|systemd-run": {},
	"runuser|pkexec|gosu|setpriv|prlimit|numactl|catchsegv|valgrind|gdb|lldb|perf|hyperfine": {},
	"eval": {text: true},
})

// shells run a script that they are given.
var shells = set("sh bash zsh dash ksh mksh fish csh tcsh ash rbash pwsh powershell cmd elvish nu xonsh")

// interpreters run a program that they are given in another language.
var interpreters = set("python pythonw pypy ipython py pyw node nodejs deno bun tsx ts-node perl ruby irb php lua luajit " +
	"julia r rscript " +
	"osascript awk gawk mawk nawk sed gsed tclsh wish expect groovy scala kotlin java jshell ghc " +
	"runghc swift erl elixir iex guile racket sbcl clojure " +
	"sqlite3 psql mysql ed ex vi vim nvim emacs nano bc dc m4 gdb lldb make gmake cmake ninja just " +
	"task rake gulp grunt npx bunx uvx pipx nix nix-shell " +
	"ssh mosh screen tmux zellij docker podman kubectl crontab at batch launchctl systemctl source . " +
	"eval exec trap alias")

// screenPrograms press keys, move the pointer, click or speak for the human on the screen, in a terminal or
// on the session bus. They could answer nod's own prompts.
var screenPrograms = set("xdotool ydotool ydotoold wtype dotool dotoolc kdotool xte xvkbd xnee cnee gnee xwit wmctrl " +
	"wlrctl wayvnc vncdo vncdotool x11vnc xmacroplay " +
	"evemu-play evemu-event evemu-device uinput-mouse osascript automator cliclick hammerspoon hs " +
	"dbus-send gdbus busctl qdbus qdbus6 qdbus-qt5 dbus-test-tool " +
	"swaymsg hyprctl i3-msg niri kwin_wayland autokey autokey-run autokey-gtk sikulix actiona ttyecho " +
	"conspy writevt reptyr tiocsti " +
	"nircmd autohotkey autohotkey64 nod-desktop sendkeys pyautogui pynput robotjs nut-js uiautomation " +
	"dogtail ldtp pykeyboard keyboard_event xtestfakekeyevent xtestfakebuttonevent")

// multiplexers type into a terminal when told to; with one of these words they only look.
var multiplexers = map[string]map[string]bool{
	"tmux": set("ls list-sessions list-windows list-panes list-clients list-keys list-commands list-buffers lsw " +
		"lsp lsc lsk info server-info capture-pane capturep show-options show-environment has-session has " +
		"-V"),
	"screen":  set("-ls -list -v --version"),
	"zellij":  set("list-sessions ls --version"),
	"kitty":   set("--version"),
	"kitten":  set("--version icat diff"),
	"wezterm": set("--version"),
}
