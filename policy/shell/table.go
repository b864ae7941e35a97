package shell

import "sync"

// This file is the whole knowledge of nod about programs. Every flag was looked up in the manuals of the
// GNU (coreutils 9, findutils 4.9, grep 3.8, git 2.39 and newer) and the BSD (macOS 14, FreeBSD 14) tools.
// A flag is listed only when it is harmless in both, even where the two mean different things by it. When in
// doubt, leave it out: then the human is asked.

// tools are the programs that only read, when they are called as said here. The table is made when it is
// first needed: most starts of the nod command read no shell.
var tools = sync.OnceValue(func() map[string]*tool {
	return compile(map[string]tool{
		// Text without files.
		"echo":       {raw: true, operands: anyWords, glob: anyGlobs},
		"expr":       {raw: true, operands: anyWords},
		"true|false": {operands: none},
		"seq":        {short: "w", value: "s", operands: operands{max: 3, text: many}, ordered: true, judge: judgeSeq},
		"sleep":      {operands: operands{max: 1, text: 1}, judge: judgeSleep},
		"basename":   {short: "az", value: "s", long: "multiple zero suffix=", operands: anyWords, glob: anyGlobs},
		"dirname":    {short: "z", long: "zero", operands: anyWords, glob: anyGlobs},
		"numfmt": {value: "d", long: "from= to= suffix= padding= format= field= delimiter= round= from-unit= to-unit= invalid= grouping header[=]",
			operands: anyWords},

		// The machine and its user.
		"whoami|logname": {operands: none},
		"id":             {short: "uGgnrz", long: "user group groups name real zero", operands: operands{max: 1, text: 1}},
		"groups":         {operands: operands{max: 1, text: 1}},
		"uname":          {short: "asnrvmpio", long: "all kernel-name nodename kernel-release kernel-version machine processor hardware-platform operating-system", operands: none},
		"arch":           {operands: none},
		"nproc":          {long: "all ignore=", operands: none},
		"tty":            {short: "s", operands: none},
		"uptime":         {short: "ps", operands: none},
		"free":           {short: "bkmghtwl", long: "bytes kibi mebi gibi human total wide", operands: none},
		"hostname":       {short: "s", operands: none}, // an operand sets the name
		"date": {short: "uRj", value: "rv", long: "utc universal date= reference= iso-8601[=] rfc-3339= rfc-email",
			exact: "-I -Idate -Ihours -Iminutes -Iseconds -Ins", single: true,
			operands: operands{max: 1, text: 1}, ordered: true, judge: judgeDate}, // not -d: old BSD sets the clock

		// Programs and folders.
		"pwd":     {short: "LP", operands: none},
		"which":   {short: "as", operands: anyWords},
		"type":    {operands: anyWords, judge: judgeNames},
		"command": {short: "vV", operands: anyWords, ordered: true, judge: judgeCommand},

		// Names and sizes of files.
		"ls": {short: "aAbBcCdfFgGhHiklLmnopqrRsStuxX1", glob: anyGlobs, operands: files, here: true,
			long: "all almost-all author escape ignore-backups classify[=] color[=] directory full-time group-directories-first no-group human-readable si dereference dereference-command-line file-type format= hide= hyperlink[=] indicator-style= inode ignore= kibibytes numeric-uid-gid literal hide-control-chars quote-name quoting-style= reverse recursive size sort= time= time-style= width= zero"},
		"stat":     {short: "Lftx", value: "c", long: "dereference file-system format= printf= terse", glob: anyGlobs, operands: files},
		"du":       {short: "abchHklLmPsSx0", value: "dBt", long: "all apparent-size bytes total dereference human-readable max-depth= block-size= count-links null separate-dirs si summarize threshold= one-file-system exclude= inodes", glob: anyGlobs, operands: files, here: true},
		"df":       {short: "ahHiklPT", long: "all human-readable si inodes local portability print-type total block-size=", operands: files},
		"readlink": {short: "femnqsvz", long: "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero", glob: anyGlobs, operands: files},
		"realpath": {short: "emLPqsz", long: "canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero relative-to= relative-base=", glob: anyGlobs, operands: files},
		"find":     {raw: true, operands: files, judge: judgeFind},
		"fd|fdfind": {short: "HIusigFapL01", value: "dtejE", operands: textThenFiles, here: true, // not -x -X; not -l, which runs ls
			long: "hidden no-ignore no-ignore-vcs unrestricted case-sensitive ignore-case glob regex fixed-strings absolute-path follow full-path print0 max-depth= min-depth= exact-depth= type= extension= exclude= size= changed-within= changed-before= color= max-results= threads= quiet"},
		"tree": {short: "adfixpshugDFqNQrtcUvnCASJX", value: "LPI", apart: true, operands: files, here: true, // not -o; not -R, which writes with -H
			long: "dirsfirst filesfirst noreport prune matchdirs ignore-case gitignore du si inodes device sort[=]"},

		// What is in files.
		"cat":        {short: "AbeEnstTuv", long: "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting", glob: anyGlobs, operands: files},
		"tac":        {short: "br", value: "s", long: "before regex separator=", glob: anyGlobs, operands: files},
		"rev":        {glob: anyGlobs, operands: files},
		"nl":         {short: "p", value: "bdfhilnsvw", long: "body-numbering= section-delimiter= footer-numbering= header-numbering= line-increment= join-blank-lines= number-format= no-renumber number-separator= starting-line-number= number-width=", glob: anyGlobs, operands: files},
		"head":       {short: "qvz", value: "nc", number: true, long: "bytes= lines= quiet silent verbose zero-terminated", glob: anyGlobs, operands: files},
		"tail":       {short: "qvzr", value: "nc", number: true, long: "bytes= lines= quiet silent verbose zero-terminated", glob: namedGlobs, operands: files}, // not -f -F
		"wc":         {short: "cmlLw", long: "bytes chars lines max-line-length words total=", glob: anyGlobs, operands: files},
		"sort":       {short: "bdfghiMnRrsuVzcCm", value: "ktS", long: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort reverse sort= version-sort check[=] merge key= field-separator= buffer-size= stable unique zero-terminated parallel=", operands: files},
		"uniq":       {short: "cdDiuz", value: "fsw", long: "count repeated unique ignore-case zero-terminated all-repeated[=] group[=]", operands: oneFile, ordered: true}, // a second operand is written
		"cut":        {short: "snz", value: "bcdf", long: "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated", glob: anyGlobs, operands: files},
		"tr":         {short: "cCds", long: "complement delete squeeze-repeats truncate-set1", operands: operands{max: 2, text: 2}},
		"paste":      {short: "sz", value: "d", long: "delimiters= serial zero-terminated", glob: anyGlobs, operands: files},
		"join":       {short: "iz", value: "aejotv12", long: "ignore-case check-order nocheck-order header zero-terminated", operands: twoFiles},
		"comm":       {short: "123iz", long: "check-order nocheck-order output-delimiter= total zero-terminated", operands: twoFiles},
		"column":     {short: "tx", value: "sc", long: "table fillrows separator= output-width=", glob: anyGlobs, operands: files},
		"fold":       {short: "bs", value: "w", long: "bytes spaces width=", glob: anyGlobs, operands: files},
		"expand":     {short: "i", value: "t", long: "initial tabs=", glob: anyGlobs, operands: files},
		"unexpand":   {short: "a", value: "t", long: "all first-only tabs=", glob: anyGlobs, operands: files},
		"od":         {short: "vabcdfhilosx", value: "AjNt", long: "address-radix= skip-bytes= read-bytes= format= output-duplicates traditional", operands: files},
		"hexdump|hd": {short: "bcCdovx", value: "ns", operands: files},
		"xxd":        {short: "abeupiC", exact: "-ps", value: "cglso", single: true, operands: oneFile, ordered: true}, // not -r; a second operand is written
		"strings":    {short: "a", value: "nte", number: true, long: "all bytes= radix= encoding=", operands: files, judge: judgeStrings},
		"file":       {short: "bhiLkI", long: "brief mime mime-type mime-encoding dereference no-dereference keep-going", operands: files}, // not -C -m -f -z -p
		"diff": {short: "abBcdeEfiHnNpPqrstTuwy", value: "CFILSUWx", operands: twoFiles, recursive: "r", // not -l, which runs pr
			long: "normal brief report-identical-files context[=] unified[=] ed rcs side-by-side width= left-column suppress-common-lines show-c-function show-function-line= label= expand-tabs initial-tab tabsize= recursive no-dereference new-file unidirectional-new-file ignore-case ignore-file-name-case exclude= starting-file= ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= text strip-trailing-cr minimal horizon-lines= speed-large-files color[=]"},
		"cmp": {short: "bls", value: "in", long: "print-bytes ignore-initial= verbose bytes= quiet silent", operands: twoFiles},
		"grep|egrep|fgrep": {short: "EFGPivywxcLlnoqshHbrRaUzTI", value: "meABC", number: true, glob: anyGlobs, operands: patternThenFiles, recursive: "rR",
			long: "extended-regexp fixed-strings basic-regexp perl-regexp regexp= ignore-case no-ignore-case invert-match word-regexp line-regexp count color[=] colour[=] files-without-match files-with-matches max-count= only-matching quiet silent no-messages byte-offset with-filename no-filename label= line-number initial-tab null after-context= before-context= context= text binary-files= exclude= exclude-dir= include= recursive dereference-recursive line-buffered null-data"},
		"rg": {short: "aciFlLnNopPqsSuUvwxHIh0", value: "eEgjmMrtTABC", operands: patternThenFiles, recursive: always, judge: judgeRipgrep, // not -z --pre --hostname-bin -f
			long: "after-context= before-context= binary block-buffered byte-offset case-sensitive color= colors= column context= context-separator= count count-matches crlf encoding= engine= field-context-separator= field-match-separator= files files-with-matches files-without-match fixed-strings follow glob= glob-case-insensitive heading hidden iglob= ignore-case include-zero invert-match json line-buffered line-number line-regexp max-columns= max-columns-preview max-count= max-depth= maxdepth= max-filesize= mmap multiline multiline-dotall no-config no-filename no-heading no-hidden no-ignore no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global no-ignore-messages no-ignore-parent no-ignore-vcs no-line-number no-messages no-mmap no-unicode null null-data one-file-system only-matching passthru path-separator= pcre2 pretty quiet regexp= replace= smart-case sort= sortr= stats text threads= trim type= type-list type-not= unrestricted vimgrep with-filename word-regexp"},
		"sed": {raw: true, operands: operands{max: 3, text: 2}, judge: judgeSed},
		"jq": {short: "nrjascCMSeR", operands: textThenFiles, judge: judgeJQ, // not -f -L --slurpfile --rawfile
			long: "null-input raw-output join-output ascii-output slurp compact-output color-output monochrome-output sort-keys exit-status raw-input tab indent="},

		// Checksums and encodings.
		"md5sum|sha1sum|sha224sum|sha256sum|sha384sum|sha512sum|b2sum": {short: "btz", long: "binary text tag zero", glob: anyGlobs, operands: files}, // not -c, which reads the files that a file names
		"shasum":        {short: "bt", value: "a", long: "algorithm= binary text", operands: files},
		"md5":           {short: "qr", operands: files},
		"cksum":         {operands: files},
		"sum":           {short: "rs", operands: files},
		"base64|base32": {short: "d", value: "w", long: "decode wrap=", operands: oneFile, ordered: true}, // not -o -i -D, which BSD writes to or reads from
	})
})

// Flags that git's sub-commands share.
const (
	gitDiffShort = "pubwRaWzMC"
	gitDiffLong  = "patch no-patch unified= raw patch-with-raw patch-with-stat minimal patience histogram diff-algorithm= anchored= stat[=] compact-summary numstat shortstat dirstat[=] summary no-renames rename-empty no-rename-empty name-only name-status color[=] no-color color-moved[=] color-words[=] word-diff[=] word-diff-regex= check full-index binary abbrev[=] find-renames[=] find-copies[=] find-copies-harder irreversible-delete diff-filter= pickaxe-all pickaxe-regex relative[=] no-relative text ignore-cr-at-eol ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines inter-hunk-context= function-context exit-code quiet no-ext-diff no-textconv ignore-submodules[=] src-prefix= dst-prefix= no-prefix line-prefix="
	gitLogLong   = "oneline max-count= skip= since= after= until= before= since-as-filter= author= committer= grep= all-match invert-grep regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp remove-empty merges no-merges min-parents= max-parents= first-parent exclude-first-parent-only not all branches[=] tags[=] remotes[=] glob= exclude= reflog ignore-missing boundary cherry-mark cherry-pick cherry left-only right-only left-right walk-reflogs simplify-by-decoration full-history dense sparse simplify-merges ancestry-path[=] date-order author-date-order topo-order reverse no-walk[=] do-walk pretty[=] format= abbrev-commit no-abbrev-commit encoding= expand-tabs[=] no-expand-tabs no-notes date= relative-date parents children graph no-graph show-linear-break[=] decorate[=] no-decorate decorate-refs= decorate-refs-exclude= source mailmap no-mailmap use-mailmap full-diff log-size follow no-show-signature cc combined-all-paths root"
	gitRefLong   = "sort= format= color[=] no-color ignore-case contains[=] no-contains[=] merged[=] no-merged[=] points-at="
)

// gitCommands are git's sub-commands that only read. All of them need a trusted folder: a repository's
// configuration names programs that git runs (core.fsmonitor, textconv filters, diff.external). Nothing
// may stand between git and the sub-command.
var gitCommands = sync.OnceValue(func() map[string]*tool {
	return compile(map[string]tool{
		"status": {short: "sbvz", exact: "-u -uno -unormal -uall", long: "short branch show-stash porcelain[=] long verbose untracked-files[=] ignored[=] ignore-submodules[=] ahead-behind no-ahead-behind renames no-renames find-renames[=] column[=] no-column", operands: files},
		"diff":   {short: gitDiffShort + "s", value: "USG", long: gitDiffLong + " cached staged merge-base", operands: files}, // not --no-index --ext-diff --output -O
		"log|show|reflog show": {short: gitDiffShort + "scmgiEFPtrq", value: "USGnL", number: true, long: gitDiffLong + " " + gitLogLong,
			operands: files, judge: judgeGitFormat}, // not --show-signature, which runs gpg
		"reflog|stash list":    {value: "n", number: true, long: "oneline max-count= stat date= format= pretty[=] no-decorate decorate[=] all", operands: none, judge: judgeGitFormat},
		"stash show":           {short: "pu", long: "patch stat numstat shortstat name-only name-status include-untracked only-untracked", operands: operands{max: 1, text: 1}},
		"shortlog":             {short: "snec", long: "numbered summary email committer group= since= until= after= before= author= no-merges merges all", operands: files, judge: judgeGitFormat},
		"rev-list":             {value: "n", number: true, long: "count all max-count= skip= since= until= after= before= author= grep= no-merges merges first-parent reverse left-right oneline branches[=] tags[=] remotes[=] parents date-order topo-order abbrev-commit objects", operands: files},
		"branch":               {short: "arvi", long: "all remotes verbose list show-current abbrev= no-abbrev column[=] no-column " + gitRefLong, operands: anyWords, judge: judgeGitRefs}, // not -l: old versions create a reflog
		"tag":                  {short: "lni", long: "list column[=] no-column " + gitRefLong, operands: anyWords, judge: judgeGitRefs},
		"for-each-ref":         {long: "count= " + gitRefLong, operands: anyWords, judge: judgeGitFormat},
		"show-ref":             {short: "sdq", long: "heads tags branches head hash[=] abbrev[=] verify dereference quiet", operands: anyWords},
		"remote":               {short: "v", long: "verbose", operands: none},
		"remote get-url":       {long: "all push", operands: operands{max: 1, text: 1}},
		"rev-parse":            {short: "q", long: "abbrev-ref[=] short[=] verify quiet show-toplevel show-prefix show-cdup show-superproject-working-tree git-dir git-common-dir absolute-git-dir is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository symbolic symbolic-full-name all branches[=] tags[=] remotes[=] path-format= show-object-format[=] git-path=", operands: files},
		"config":               {long: "get get-all local global system worktree show-origin show-scope", operands: operands{max: 1, text: 1}, judge: judgeGitConfig},
		"ls-files":             {short: "cdoismutvkz", value: "x", long: "cached deleted modified others ignored stage directory no-empty-directory unmerged killed exclude= exclude-standard error-unmatch full-name abbrev[=] eol deduplicate", operands: files},
		"ls-tree":              {short: "drtlz", long: "long name-only name-status object-only full-name full-tree abbrev[=]", operands: files},
		"cat-file":             {short: "tsep", operands: operands{max: 2}},
		"blame":                {value: "L", short: "ewlstfnpcb", long: "show-name show-number show-email show-stats score-debug porcelain line-porcelain incremental root since= date= abbrev= ignore-rev= first-parent minimal", operands: files},
		"describe":             {long: "all tags contains abbrev= candidates= exact-match long match= exclude= always first-parent dirty[=]", operands: anyWords},
		"merge-base":           {short: "a", long: "all octopus independent is-ancestor fork-point", operands: anyWords},
		"worktree list":        {short: "vz", long: "porcelain verbose", operands: none},
		"count-objects":        {short: "vH", long: "verbose human-readable", operands: none},
		"check-ignore":         {short: "vnq", long: "verbose non-matching quiet no-index", operands: files},
		"diff-tree|diff-index": {short: "prtscm", value: "USG", long: gitDiffLong + " cached root no-commit-id cc", operands: files},
		"grep": {short: "nilwEFGPcvhHIaoLpWqz", value: "eABCm", number: true, operands: patternThenFiles, recursive: always, // not -O --open-files-in-pager --no-index --ext-grep -f --textconv
			long: "cached text ignore-case word-regexp invert-match full-name extended-regexp basic-regexp perl-regexp fixed-strings line-number column files-with-matches name-only files-without-match only-matching count color[=] no-color break heading show-function context= after-context= before-context= max-count= function-context all-match and or not quiet max-depth= recursive"},
	})
})

// gitConfigSections are the parts of git's configuration that hold no secrets.
var gitConfigSections = set("user core init branch remote pull push fetch merge diff color rebase commit status log gc tag alias i18n advice extensions")

// findTests are the parts of a find expression that only look. The value says whether a value follows.
var findTests = map[string]bool{
	"-name": true, "-iname": true, "-path": true, "-ipath": true, "-wholename": true, "-iwholename": true,
	"-regex": true, "-iregex": true, "-lname": true, "-ilname": true, "-regextype": true,
	"-type": true, "-xtype": true, "-size": true, "-perm": true, "-user": true, "-group": true, "-uid": true, "-gid": true,
	"-links": true, "-inum": true, "-fstype": true, "-maxdepth": true, "-mindepth": true,
	"-mtime": true, "-atime": true, "-ctime": true, "-mmin": true, "-amin": true, "-cmin": true,
	"-newer": true, "-anewer": true, "-cnewer": true, "-samefile": true, "-newermt": true, "-printf": true,
	"-empty": false, "-readable": false, "-writable": false, "-executable": false, "-nouser": false, "-nogroup": false,
	"-depth": false, "-xdev": false, "-mount": false, "-daystart": false, "-follow": false, "-noleaf": false,
	"-prune": false, "-quit": false, "-true": false, "-false": false,
	"-print": false, "-print0": false, "-ls": false,
	"-not": false, "-a": false, "-and": false, "-o": false, "-or": false, "!": false, "(": false, ")": false,
}

// jqWords are the words of the jq language that only look at the input: no env, no files, no endless loops
// (index("") never ends in jq 1.6).
var jqWords = set("and or not if then elif else end null true false empty error length utf8bytelength keys keys_unsorted values " +
	"has in map map_values path del to_entries from_entries with_entries select arrays objects iterables booleans numbers nulls strings scalars " +
	"add any all flatten floor sqrt tostring tonumber type sort sort_by group_by min max min_by max_by unique unique_by reverse contains " +
	"inside startswith endswith ltrimstr rtrimstr split join ascii_downcase ascii_upcase tojson fromjson test first last nth " +
	"paths leaf_paths transpose todate fromdate abs ceil round")

// procFiles are the files below /proc that tell of the machine, not of a process.
var procFiles = set("/proc/cpuinfo /proc/meminfo /proc/version /proc/uptime /proc/loadavg /proc/filesystems")

// The rest of this file serves commands that are not read-only: it is used to name what they do, and to ban
// grants, never to accept anything.

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

// reaches are programs that reach the network; with words, only when one of them is there.
var reaches = spread(map[string]map[string]bool{
	"curl|wget|http|https|xh|aria2c|ssh|scp|sftp|ftp|lftp|telnet|nc|ncat|netcat|socat|rsync|mosh|dig|nslookup|host|whois|ping|ping6|traceroute|mtr|nmap|openssl|rclone|s3cmd|aws|gcloud|az|gsutil|kubectl|helm|gh|glab|hub|npx|bunx|uvx|pipx|apt|apt-get|dnf|yum|pacman|apk|brew|snap|flatpak|lynx|w3m|links|yt-dlp|youtube-dl|ngrok|tailscale|cloudflared|vercel|netlify|heroku|fly|flyctl|firebase|wrangler|terraform|ansible|ansible-playbook": nil,
	"git":                 set("clone fetch pull push ls-remote remote submodule"),
	"npm|pnpm|yarn|bun":   set("install i ci add update publish exec dlx audit view info login whoami outdated create init"),
	"pip|pip3|uv|poetry":  set("install download add sync lock search publish"),
	"go":                  set("get install mod"),
	"cargo":               set("install fetch update add publish search"),
	"docker|podman":       set("pull push run build login search"),
	"gem|bundle|composer": set("install update push require"),
})

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
	"nohup|setsid|time|command|builtin|exec|noglob|nocorrect|coproc|caffeinate|unbuffer|proxychains|proxychains4|firejail|dbus-run-session|xvfb-run|chronic|eatmydata|fakeroot|rlwrap|busybox|toybox|parallel|entr|direnv|torsocks|chroot|unshare|nsenter|systemd-run|runuser|pkexec|gosu|setpriv|prlimit|numactl|catchsegv|valgrind|gdb|lldb|perf|hyperfine": {},
	"eval": {text: true},
})

// shells run a script that they are given.
var shells = set("sh bash zsh dash ksh mksh fish csh tcsh ash rbash pwsh powershell cmd elvish nu xonsh")

// interpreters run a program that they are given in another language.
var interpreters = set("python pythonw pypy ipython py pyw node nodejs deno bun tsx ts-node perl ruby irb php lua luajit julia r rscript " +
	"osascript awk gawk mawk nawk sed gsed tclsh wish expect groovy scala kotlin java jshell ghc runghc swift erl elixir iex guile racket sbcl clojure " +
	"sqlite3 psql mysql ed ex vi vim nvim emacs nano bc dc m4 gdb lldb make gmake cmake ninja just task rake gulp grunt npx bunx uvx pipx nix nix-shell " +
	"ssh mosh screen tmux zellij docker podman kubectl crontab at batch launchctl systemctl source . eval exec trap alias")

// bannedPrograms never make the start of a grant: with other operands they do anything. All wrappers, shells,
// interpreters and writers are banned as well.
var bannedPrograms = set("curl wget nc ncat netcat socat telnet ftp lftp sftp rclone openssl dd mkfs kill killall pkill reboot shutdown " +
	"mount umount passwd chpasswd usermod useradd visudo iptables nft ufw find fd fdfind rg git-shell hub dbus-send gdbus busctl qdbus " +
	"xdotool ydotool wtype dotool xte wmctrl export declare typeset local readonly set unset shopt setopt enable hash cd pushd popd printf read test [ let " +
	"mapfile readarray bind complete compgen history fc ulimit umask open xdg-open start gpg security secret-tool pass keyring")

// namedTasks are interpreters that people do grant by a target's or sub-command's name: what runs is written
// in the project's own files.
var namedTasks = set("make gmake just task rake gulp grunt ninja docker podman kubectl systemctl bun deno")

// bannedPairs are a program and a sub-command that together run or configure anything.
var bannedPairs = set("git:config git:bisect git:submodule git:filter-branch git:difftool git:mergetool git:rebase git:grep git:daemon git:archive git:clone git:fetch git:pull git:push git:ls-remote git:hook git:credential " +
	"go:run go:generate go:env go:tool go:install go:get cargo:run cargo:install cargo:xtask npm:exec npm:x npm:explore npm:config npm:set pnpm:exec pnpm:dlx yarn:exec yarn:dlx yarn:node bun:x bun:exec bun:repl bun:eval deno:run deno:eval deno:repl deno:task deno:serve " +
	"docker:run docker:exec docker:cp docker:build docker:create docker:context podman:run podman:exec podman:cp podman:build podman:create kubectl:exec kubectl:run kubectl:cp kubectl:apply kubectl:debug kubectl:config " +
	"uv:run uv:tool uv:pip poetry:run pip:install pip3:install pipenv:run conda:run hatch:run rye:run bundle:exec mix:run gem:install dotnet:run dotnet:exec dotnet:tool dotnet:script " +
	"gh:api gh:alias gh:extension gh:codespace gh:auth glab:api glab:alias aws:configure aws:ssm gcloud:compute az:vm systemctl:link systemctl:edit systemctl:enable systemctl:start brew:sh nix:run nix:shell nix:develop rustup:run nvm:exec mise:exec mise:x asdf:exec swift:run flutter:run heroku:run fly:ssh terraform:console vault:read op:read op:run")

// deepPairs are a program and a sub-command of which the next word is what counts.
var deepPairs = set("npm:run npm:run-script pnpm:run yarn:run bun:run docker:compose docker:image docker:container docker:volume docker:network podman:image podman:container " +
	"go:mod git:stash git:remote git:notes git:lfs gh:pr gh:issue gh:run gh:repo gh:release gh:workflow gh:label glab:mr glab:issue glab:ci kubectl:get kubectl:describe kubectl:rollout helm:repo terraform:state terraform:workspace " +
	"aws:s3 aws:ec2 aws:iam aws:lambda aws:logs gcloud:projects gcloud:run az:group az:account cargo:nextest composer:run composer:run-script poetry:env uv:cache dotnet:ef dotnet:nuget flutter:pub")

// bannedThird are words behind a deepPairs pair that run anything: docker compose exec.
var bannedThird = set("run exec cp create eval shell console ssh")

// screenPrograms press keys, move the pointer, click or speak for the human on the screen, in a terminal or
// on the session bus. They could answer nod's own prompts.
var screenPrograms = set("xdotool ydotool ydotoold wtype dotool dotoolc kdotool xte xvkbd xnee cnee gnee xwit wmctrl wlrctl wayvnc vncdo vncdotool x11vnc xmacroplay " +
	"evemu-play evemu-event evemu-device uinput-mouse osascript automator cliclick hammerspoon hs dbus-send gdbus busctl qdbus qdbus6 qdbus-qt5 dbus-test-tool " +
	"swaymsg hyprctl i3-msg niri kwin_wayland autokey autokey-run autokey-gtk sikulix actiona ttyecho conspy writevt reptyr tiocsti " +
	"nircmd autohotkey autohotkey64 nod-desktop sendkeys pyautogui pynput robotjs nut-js uiautomation dogtail ldtp pykeyboard keyboard_event xtestfakekeyevent xtestfakebuttonevent")

// multiplexers type into a terminal when told to; with one of these words they only look.
var multiplexers = map[string]map[string]bool{
	"tmux":    set("ls list-sessions list-windows list-panes list-clients list-keys list-commands list-buffers lsw lsp lsc lsk info server-info capture-pane capturep show-options show-environment has-session has -V"),
	"screen":  set("-ls -list -v --version"),
	"zellij":  set("list-sessions ls --version"),
	"kitty":   set("--version"),
	"kitten":  set("--version icat diff"),
	"wezterm": set("--version"),
}
