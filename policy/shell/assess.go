package shell

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"nod/policy/shell/language"
)

// The risks that the form of a command shows, rather than a program's name.
const (
	riskDownloaded = "Runs what it downloads"
	riskDecoded    = "Runs encoded text"
	riskPiped      = "Runs what is piped into it"
	riskWritten    = "Runs a file it just created"
	riskUnknown    = "Runs a program nod doesn't know: {{.What}}"
	riskHidden     = "Runs a program known only when it runs"
	riskLetters    = "The program's name contains unusual characters: {{.What}}"
	riskDeletes    = "Deletes files that only the run will name"
	riskRemoves    = "Deletes files"
	RiskOther      = "May run other code"
	riskOpen       = "Part of it is known only when it runs"
	riskScreen     = "Can control your screen"
	riskSocket     = "Opens a network connection of its own"
	riskSettings   = "Changes what programs do: {{.What}}"
	riskEndless    = "Starts itself over and over"
	riskHost       = "Reaches {{.What}}"
	RiskNetwork    = "Reaches the network"
	RiskUnreadable = "nod can't read all of it"
	riskLong       = "Too long for nod to read in full"
)

// Assess reads a command to show the user its risks. Unlike [Analyze] it never gives up: of a text that is not valid
// shell, has invisible characters or is too long, it tells as much as it can. Nothing may be allowed because of what it
// finds.
func Assess(command string) Analysis {
	whole := unreadable(command) == ""
	a, isOpen := Analysis{opaque: !whole}, false
	known := map[any]bool{}
	for _, blank := range []bool{false, true} {
		text, places := visible(command, blank)
		cost := newBudget(text)
		for _, piece := range pieces(text) {
			read, open := cost.assess(piece.file, piece.text)
			isOpen = isOpen || open
			for i := range read.Risks {
				read.Risks[i].At = places[read.Risks[i].At+piece.at]
			}
			for i := range read.Parts {
				read.Parts[i].At = places[read.Parts[i].At+piece.at]
			}
			whole = whole && piece.whole
			a.add(read, known)
		}
		whole = whole && !cost.isSpent()
		if len(text) == len(command) { // nothing to leave out
			break
		}
	}
	switch {
	case len(command) > maxAssessed:
		a.Risks = append(a.Risks, Risk{Level: Danger, Text: riskLong})
	case !whole:
		a.Risks = append(a.Risks, Risk{Level: Caution, Text: RiskUnreadable})
	case isOpen && len(a.Risks) == 0:
		a.Risks = append(a.Risks, Risk{Level: Note, Text: riskOpen})
	}
	return a
}

func callsForAttention(r Risk) bool { return r.Level > Note }

// add merges the findings of another reading. known holds what was added before: there may be many thousands of each.
func (a *Analysis) add(b Analysis, known map[any]bool) {
	for _, r := range b.Risks {
		key := Risk{Text: r.Text, What: r.What, At: r.At}
		if !known[key] {
			known[key] = true
			a.Risks = append(a.Risks, r)
		}
	}
	a.Parts = append(a.Parts, b.Parts...)
	for _, name := range b.Programs {
		if !known[name] {
			known[name] = true
			a.Programs = append(a.Programs, name)
		}
	}
	a.Deletes, a.Network, a.DrivesScreen = a.Deletes || b.Deletes, a.Network || b.Network, a.DrivesScreen || b.DrivesScreen
	a.opaque, a.Unreadable = a.opaque || b.opaque, a.Unreadable || b.Unreadable
}

const maxAssessed = 64 << 10

// visible returns a command without its invisible characters, or with blanks in their place, and the offset of each
// byte in the original.
func visible(command string, blank bool) (text string, places []int) {
	var b strings.Builder
	for i := 0; i < min(len(command), maxAssessed); {
		r, size := utf8.DecodeRuneInString(command[i:])
		switch {
		case isHidden(r) && blank:
			b.WriteByte(' ')
			places = append(places, i)
		case !isHidden(r):
			b.WriteString(command[i : i+size])
			for k := range size {
				places = append(places, i+k)
			}
		}
		i += size
	}
	return b.String(), append(places, min(len(command), maxAssessed))
}

// A piece is a part of a text that parses as shell.
type piece struct {
	text  string
	at    int // its offset in the text
	file  *syntax.File
	whole bool // nothing was left out of it
}

// unquoted removes quotes and brackets, which a line that is not valid shell may leave open.
var unquoted = strings.NewReplacer("'", " ", `"`, " ", "`", ";", "(", ";", ")", ";", "{", " ", "}", " ", `\`, " ",
	"$", " ", "<", " ", ">", " ", "#", " ", "&", ";", "|", ";", ";", ";", "[", " ", "]", " ", "!", " ")

// pieces returns the whole text, or its lines when it is not valid shell. In a line that does not parse either, quotes
// and brackets count as blanks.
func pieces(text string) []piece {
	if file := parse(text); file != nil {
		return []piece{{text, 0, file, true}}
	}
	var out []piece
	at := 0
	for line := range strings.Lines(text) {
		file, start := parse(line), at
		at += len(line)
		if file == nil {
			for plain := range strings.SplitSeq(unquoted.Replace(strings.TrimRight(line, "\n")), ";") {
				if f := parse(plain); f != nil {
					out = append(out, piece{plain, start, f, false})
				}
				start += len(plain) + 1
			}
			continue
		}
		out = append(out, piece{line, start, file, false})
	}
	return out
}

func parse(text string) *syntax.File {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil
	}
	return file
}

// assess reads a script, and reports whether it has words that are known only when it runs.
func (b *budget) assess(file *syntax.File, text string) (a Analysis, isOpen bool) {
	w := walk{source: text, budget: b, watch: &watch{made: map[string]bool{}, functions: map[string]bool{}}}
	w.file(file)
	a = w.finish()
	if slices.ContainsFunc(a.Risks, callsForAttention) {
		return a, w.open
	}
	for _, p := range a.Parts {
		if p.removes && !p.Reads && !slices.ContainsFunc(p.Accesses, isRemoved) {
			a.Risks = append(a.Risks, Risk{Level: Caution, Text: riskRemoves, At: p.At, Line: p.Text})
		}
	}
	if a.Network {
		a.Risks = append(a.Risks, Risk{Level: Caution, Text: RiskNetwork})
	}
	return a, w.open
}

// A watch accompanies a walk and notes the risks.
type watch struct {
	at        int             // where the current simple command starts
	line      string          // its text
	inWords   []string        // programs whose output is among its words
	fedBy     []string        // programs whose output the enclosing brackets or loop are fed
	made      map[string]bool // files that it writes, and whether they come from another computer
	functions map[string]bool // functions that the command defines
	open      bool            // a word is known only when it runs
}

// watchAt moves the watch to a simple command. One in a script within a word keeps the position of the command around
// it.
func (w *walk) watchAt(c *syntax.CallExpr, inWords []string) {
	if w.watch == nil {
		return
	}
	w.inWords = inWords
	w.standAt(c)
}

// standAt moves the watch to a place in the source, unless the walk is inside a word. The watch must not be nil.
func (w *walk) standAt(n syntax.Node) {
	if w.nested == 0 {
		w.watch.at = int(n.Pos().Offset())
		w.line = w.between(n.Pos(), n.End())
	}
}

func runsText(name string) bool {
	return shells.Has(name) || hasEntry(name, func(p *program) bool {
		return p.traits[traitCode] && p.traits[traitInput] && !p.traits[traitNetwork]
	})
}

// shells are programs that run their words, or a file that the words name.
const shells language.Words = "eval source . exec iex invoke-expression pwsh powershell bash sh zsh " +
	"tmux screen byobu zellij at batch"

// risk notes a risk of the current simple command.
func (w *walk) risk(level Level, text, what string) {
	if w.watch == nil {
		return
	}
	r := Risk{Level: level, Text: text, What: what, At: w.watch.at, Line: w.line}
	for i := len(w.Risks) - 1; i >= 0 && w.Risks[i].At == r.At; i-- { // those of the same command
		if w.Risks[i] == r {
			return
		}
	}
	w.Risks = append(w.Risks, r)
}

// assess notes the risks of a call, and reports whether they say what the program does.
func (w *walk) assess(words, settings []word, in pipe) bool {
	if w.watch == nil {
		return false
	}
	said := false
	name, args := baseName(words[0].text), texts(words[1:])
	for _, s := range settings {
		switch variable, _, _ := strings.Cut(s.text, "="); {
		case harmlessSetting(s):
		case loaders.Has(variable):
			w.risk(Danger, riskSettings, variable)
		default:
			w.risk(Note, riskSettings, variable)
		}
	}
	switch {
	case !words[0].known:
		w.risk(Danger, riskHidden, "")
		return true
	case !ascii(words[0].text):
		w.risk(Danger, riskLetters, words[0].text)
	}
	told := args
	if obeyers.Has(name) && w.spend(len(in.said)) {
		told = slices.Concat(args, slices.DeleteFunc(slices.Clone(in.said), isFlag))
	}
	for _, rule := range risks().rulesOf(name, told) {
		w.risk(rule.level, rule.text, "")
		said = said || rule.name != "*"
	}
	for _, rule := range risks().ofRunner(name, args) {
		w.risk(rule.level, rule.text, "")
	}
	said = w.assessFed(words, name, in) || said
	if p := programs().find(name); p != nil && p.removes() && slices.ContainsFunc(words[1:], isUnknown) {
		w.risk(Danger, riskDeletes, "")
	}
	if drives(name, args) {
		w.risk(Danger, riskScreen, "")
		said = true
	}
	for _, arg := range args {
		if host := hostIn(arg); host != "" {
			w.risk(Caution, riskHost, host)
		}
	}
	return said
}

// watchSet warns of variables, set for all commands from here on, that decide what programs run.
func (w *walk) watchSet(list []*syntax.Assign) {
	for _, a := range list {
		if w.watch == nil || a.Name == nil || a.Value == nil || !loaders.Has(a.Name.Value) {
			continue
		}
		level := Danger
		if a.Name.Value == "PATH" { // often only made longer
			level = Caution
		}
		if w.standAt(a); !harmlessSetting(word{text: a.Name.Value + "=" + w.readWord(a.Value).text}) {
			w.risk(level, riskSettings, a.Name.Value)
		}
	}
}

// assessUnread notes that nod does not know what a part does; first is the part's index.
func (w *walk) assessUnread(p *Part, words []word, first int) {
	name := words[0].text
	runs := runsCode(name)
	if sub, _ := longest(name, words[1:]); sub != nil {
		runs = sub.traits[traitCode]
	}
	isRead := p.Understood || len(w.Parts) > first+1 // what it runs has been read
	base := baseName(name)
	switch {
	case w.watch == nil, isRead, w.functions[name]:
	case !programs().subs[base] && !hasEntry(base, func(*program) bool { return true }):
		w.risk(Caution, riskUnknown, name)
	case runs:
		w.risk(Caution, RiskOther, "")
	}
}

func texts(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out
}

const loaders language.Words = "PATH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV ENV IFS PS4 " +
	"PROMPT_COMMAND GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_PAGER PAGER EDITOR VISUAL GIT_EDITOR PYTHONSTARTUP " +
	"PYTHONPATH NODE_OPTIONS PERL5OPT PERL5LIB RUBYOPT JAVA_TOOL_OPTIONS GIT_CONFIG_GLOBAL GIT_PROXY_COMMAND"

// assessFed notes that a shell or an interpreter runs what another program prints or has made, and reports whether it
// does so.
func (w *walk) assessFed(words []word, name string, in pipe) (said bool) {
	runs := runsText(name)
	w.spend(len(in.programs) + len(w.fedBy))
	for i, word := range words {
		isFetched, isMade := w.made[path.Clean(word.text)]
		switch {
		case !word.known || word.text == "" || !isMade || i > 0 && !runs:
		case isFetched:
			w.risk(Danger, riskDownloaded, "")
			said = true
		default:
			w.risk(Caution, riskWritten, "")
			said = true
		}
	}
	if !runs {
		return said
	}
	isGiven := slices.ContainsFunc(words[1:], func(word word) bool {
		return !isFlag(word.text) && word.text != "/dev/stdin"
	}) && !slices.ContainsFunc(words[1:], func(word word) bool { return word.text == "-s" })
	fed := w.inWords
	if !isGiven {
		fed = slices.Concat(fed, in.programs, w.fedBy)
	}
	switch {
	case slices.ContainsFunc(fed, fetches):
		w.risk(Danger, riskDownloaded, "")
	case slices.ContainsFunc(fed, func(name string) bool { return decoders.Has(baseName(name)) }):
		w.risk(Danger, riskDecoded, "")
	case len(fed) > 0, (in.fed || w.piped) && !isGiven:
		w.risk(Caution, riskPiped, "")
	default:
		return said
	}
	return true
}

func fetches(name string) bool {
	p := programs().find(baseName(name))
	return p != nil && p.traits[traitNetwork] && !p.traits[traitCode]
}

const decoders language.Words = "base64 base32 basenc xxd uudecode openssl gunzip zcat bunzip2 xz rev tr gpg"

func (w *walk) watchMade(p *Part, in pipe) {
	if w.watch == nil {
		return
	}
	w.spend(len(in.programs))
	isFetched := slices.ContainsFunc(in.programs, fetches) || len(p.Argv) > 0 && fetches(p.Argv[0])
	if len(p.Argv) > 0 && isFetched {
		for _, arg := range p.Argv[1:] {
			if hostIn(arg) != "" { // the file's name is the address's, unless a flag gives it another
				w.made[lastPart(arg)] = true
			}
		}
	}
	for _, a := range slices.Concat(p.Accesses, p.Output) {
		if a.Kind == Write {
			name := path.Clean(a.Path)
			w.made[name] = w.made[name] || isFetched
		}
	}
}

// watchFunction notes a function that a script defines, and warns of one that pipes itself into itself.
func (w *walk) watchFunction(f *syntax.FuncDecl) {
	if w.watch == nil || f.Name == nil {
		return
	}
	w.functions[f.Name.Value] = true
	if w.nested == 0 {
		w.watch.at, w.line = int(f.Pos().Offset()), ""
	}
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		b, ok := n.(*syntax.BinaryCmd)
		if ok && b.Op == syntax.Pipe && calls(b.X, f.Name.Value) && calls(b.Y, f.Name.Value) {
			w.risk(Danger, riskEndless, "")
		}
		return w.spend(1)
	})
}

func calls(s *syntax.Stmt, name string) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && c.Args[0].Lit() == name
}

const schemes language.Words = "http https ftp ftps sftp ssh git ws wss rsync tcp git+https git+ssh"

func hostIn(word string) string {
	before, rest, ok := strings.Cut(word, "://")
	if !ok || !schemes.Has(before[strings.LastIndexAny(before, "=@\"'")+1:]) {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	host, _, _ = strings.Cut(host, "#")
	return host[strings.LastIndexByte(host, '@')+1:]
}

// watchFed notes which programs feed the commands in brackets or a loop, until the returned function is called.
func (w *walk) watchFed(programs []string) func() {
	if w.watch == nil {
		return func() {}
	}
	was := w.fedBy
	w.fedBy = slices.Concat(was, programs)
	return func() { w.fedBy = was }
}

// watchFedText reads a script that the command contains, or has echo print, and feeds to a shell.
func (w *walk) watchFedText(r *reading, words []word, at places, in pipe) {
	isRun := len(r.operands) == 0 && r.script == nil && r.program.runsShell() && runsText(baseName(words[0].text))
	switch {
	case w.watch == nil || !isRun:
	case in.text != nil:
		w.script(*in.text, at)
	case len(in.programs) == 1 && printers.Has(in.programs[0]) && len(in.said) > 0:
		w.script(in.said[0], at) // the first text of several words, or all of them
	}
}

const printers language.Words = "echo printf"

// obeyers run their input, which is in another language than the shell's.
const obeyers language.Words = "psql mysql mariadb sqlite3 duckdb sqlcmd clickhouse-client cqlsh snowsql bq mongosh " +
	"mongo redis-cli ssh docker podman kubectl docker-compose"
