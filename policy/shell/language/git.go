package language

import (
	"slices"
	"strings"
)

const errSignature = refusal("The format makes git run the program that checks signatures.")

// gitLayouts are the named formats of git log. Any other name may be a format in the configuration.
var gitLayouts = Words("oneline short medium full fuller reference email mboxrd raw")

// gitFields are the fields that %( ) and --sort may name. For signature, git runs gpg.
var gitFields = Words("refname objecttype objectsize objectname deltabase tree parent numparent object type tag " +
	"author authorname authoremail authordate committer committername committeremail committerdate " +
	"tagger taggername taggeremail taggerdate creator creatordate describe subject body trailers contents raw " +
	"upstream push symref HEAD worktreepath ahead-behind is-base flag version v color align if then else end rest " +
	"decorate objectmode objectfile path eolinfo eolattr")

var (
	gitGPG = Compiled(`%[-+ ]*G`)
	// gitPadding is %<(N), %>>(N), %<|(N), %w(N,N,N) or %(align:N); its numbers are widths.
	gitPadding = Compiled(`%[-+ ]*(?:[<>|]+|w)\([^)]*|%\(\*?align[^)]*`)
	gitDate    = Compiled(`:format(?:-local)?:([^)]*)`)
	gitNumber  = Compiled(`[0-9]+`)
	gitField   = Compiled(`%\(\*?([^):=]*)`)
)

// GitFormat judges a format of git log, shortlog, for-each-ref, branch, tag, ls-tree and cat-file: it must not make git
// run gpg, nor pad to more than 1,000 columns. A name without % must be one of git's own layouts.
func GitFormat(format string) error {
	if err := unreadable(format); err != nil {
		return err
	}
	switch {
	case !strings.ContainsAny(format, "%: ") && format != "" && !gitLayouts.Has(format):
		return refusal("The format " + Quote(format) + " may stand for any other in git's configuration.")
	case gitGPG().MatchString(format):
		return errSignature
	case strings.Contains(format, ":remotename"):
		return refusal("It prints the names of remotes, which may be addresses with a password.")
	}
	for _, padding := range gitPadding().FindAllString(format, -1) {
		if slices.ContainsFunc(gitNumber().FindAllString(padding, -1), tooWide) {
			return errWide
		}
	}
	if err := gitDates(format); err != nil {
		return err
	}
	for _, m := range gitField().FindAllStringSubmatch(format, -1) {
		if err := knownGitField(m[1]); err != nil {
			return err
		}
	}
	return nil
}

// GitSort judges a key of --sort, as for-each-ref, branch and tag take it.
func GitSort(key string) error {
	if err := gitDates(key); err != nil {
		return err
	}
	key, _, _ = strings.Cut(strings.TrimLeft(key, "-*"), ":")
	return knownGitField(key)
}

// gitDates judges the formats of dates in fields, as in creatordate:format:%Y.
func gitDates(text string) error {
	for _, m := range gitDate().FindAllStringSubmatch(text, -1) {
		if err := timeFormat(m[1]); err != nil {
			return err
		}
	}
	return nil
}

func knownGitField(name string) error {
	switch {
	case gitFields.Has(name):
		return nil
	case strings.HasPrefix(name, "signature"):
		return errSignature
	}
	return refusal("nod doesn't know the field " + Quote(name) + " of git.")
}
