#!/bin/sh
# Installs nod from the folder that this is in, or takes it away again. It needs no root where PREFIX can be written.
# Usage: [PREFIX=DIR] [DESTDIR=DIR] ./install.sh [install|uninstall]
#   PREFIX   where nod goes; ~/.local unless it is set
#   DESTDIR  put before every path that is written, for those who make packages
# Over another version it replaces that. A copy of this script in PREFIX/lib/nod knows where it is installed.
# PREFIX/lib/nod/installed lists the files that it put there and the folders that it made: uninstall removes those and
# nothing else. Settings, history and hooks of agents stay.
set -eu

die() {
	printf 'install.sh: %s\n' "$*" >&2
	exit 1
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
[ -n "${PREFIX:-}" ] || if [ -e "$here/installed" ]; then
	PREFIX=${here%/lib/nod}
else
	PREFIX=${HOME:?set PREFIX or HOME}/.local
fi
while [ "$PREFIX" != "${PREFIX%/}" ]; do PREFIX=${PREFIX%/}; done
case $PREFIX in
*[\\\"\`\$%\&\|\'[:cntrl:]]*) die "PREFIX must not contain quotes, \\ \$ % & | or control characters: $PREFIX" ;;
*/./* | */../* | */. | */..) die "PREFIX must not contain . or ..: $PREFIX" ;;
/*) ;;
*) die "PREFIX must be an absolute path below /: ${PREFIX:-/}" ;;
esac
root=${DESTDIR:-}$PREFIX
list=lib/nod/installed

# target says where a file of the archive goes. systemd reads the units of a home in share only.
target() {
	case $1:$PREFIX/ in
	lib/systemd/*:"${HOME:-/nowhere}"/*) echo "share/${1#lib/}" ;;
	*) echo "$1" ;;
	esac
}

# contents prints a file of the archive as it is to be installed: what starts nod-desktop needs no PATH.
contents() {
	case $1 in
	*.desktop) sed "s|^Exec=nod-desktop|Exec=\"$PREFIX/bin/nod-desktop\"|; s|^TryExec=nod-desktop|TryExec=$PREFIX/bin/nod-desktop|" ;;
	*.service) sed "s|/usr/bin/|$PREFIX/bin/|" ;;
	*) cat ;;
	esac <"$here/$1"
}

# make_folder makes a folder below PREFIX and those above it, and prints which it made.
make_folder() {
	[ ! -d "$root/$1" ] || return 0
	case $1 in
	*/*) make_folder "${1%/*}" ;;
	*) mkdir -p -- "$root" ;;
	esac && mkdir -m 755 -- "$root/$1" && echo "$1/"
}

# put prints the name of a file, and writes it at once, so that the program that it replaces can run on.
put() {
	{ make_folder "${2%/*}" && echo "$2"; } || return 1
	contents "$1" >"$root/$2.new" && chmod "$(mode "$1")" "$root/$2.new" && mv -f -- "$root/$2.new" "$root/$2" && return
	rm -f -- "$root/$2.new"
	return 1
}

mode() {
	case $1 in
	bin/* | lib/nod/* | install.sh) echo 755 ;;
	*) echo 644 ;;
	esac
}

# files prints what the archive has to install.
files() { (cd -- "$here" && find bin lib share -type f | LC_ALL=C sort); }

put_all() {
	files | {
		while IFS= read -r file; do put "$file" "$(target "$file")" || return 1; done
	} && put install.sh lib/nod/install.sh
}

# foreign prints a file or link that is in the way and that this script did not put there.
foreign() {
	files | while IFS= read -r file; do
		to=$(target "$file")
		[ ! -e "$root/$to" ] && [ ! -L "$root/$to" ] || grep -qxF -- "$to" "$root/$list" 2>/dev/null || {
			echo "$root/$to"
			break
		}
	done
}

# remove takes away what is listed on its input: files, then the folders that are empty after that.
remove() {
	LC_ALL=C sort -r | while IFS= read -r path; do
		case $path in
		'' | /* | ../* | */../*) ;;
		*/) rmdir -- "$root/$path" 2>/dev/null || : ;;
		*) rm -f -- "$root/$path" ;;
		esac
	done
}

# merge_broken adds to the list what an installation that broke off has put there.
merge_broken() {
	[ -e "$root/$list.new" ] || return 0
	cat -- "$root/$list.new" >>"$root/$list"
	rm -f -- "$root/$list.new"
}

install_nod() {
	[ -x "$here/bin/nod" ] || die "there is no nod beside $0"
	merge_broken
	other=$(foreign)
	[ -z "$other" ] || die "$other is there, and not from this script: move it away"
	old=$root/$list new=$root/$list.new
	{ made=$(make_folder "${list%/*}") && printf '%s\n' "$made" >"$new"; } ||
		die "cannot write below $root: set PREFIX to where you may"
	if put_all >>"$new"; then
		[ ! -e "$old" ] || grep '/$' "$old" >>"$new" || : # those stay nod's own; files that this version lacks go
		[ ! -e "$old" ] || grep -vxF -f "$new" "$old" | remove
		mv -f -- "$new" "$old"
	else # what is there can still be removed
		merge_broken
		die "nod is not wholly installed below $root: see above"
	fi
	[ -z "${DESTDIR:-}" ] || return 0
	echo "nod is installed below $PREFIX. To start it: $PREFIX/bin/nod start"
	case :$PATH: in
	*":$PREFIX/bin:"*) ;;
	*) echo "$PREFIX/bin is not in PATH: add it, so that you can type nod alone." ;;
	esac
}

uninstall_nod() {
	merge_broken
	[ -e "$root/$list" ] || die "nod was not installed below $root by this script"
	all=$(cat -- "$root/$list")
	printf '%s\n' "$all" $list | remove
	[ -n "${DESTDIR:-}" ] || echo "nod is removed from $PREFIX. Your settings and history are where they were."
}

case $#:${1:-install} in
0:install | 1:install) install_nod ;;
1:uninstall) uninstall_nod ;;
*) die 'usage: [PREFIX=DIR] [DESTDIR=DIR] ./install.sh [install|uninstall]' ;;
esac
