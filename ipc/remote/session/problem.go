package session

import (
	"errors"
	"strings"

	"nod/ipc/remote"
)

// What a line's State tells the user, in nod's own words. What commands and machines print goes only to the log.
const (
	problemOtherDesk    = "the relay there belongs to another desk, which must pair this one first"
	problemOtherKey     = "another machine answers there: it has a different key"
	problemChatter      = "the reply is not from nod: shell start-up files there must print nothing"
	problemNotInstalled = "the connection command is not installed on this computer"
	problemHostChanged  = "the host's key has changed: find out why before you remove the old one"
	problemHostUnknown  = "ssh does not know the host's key yet: connect once in a terminal"
	problemDenied       = "ssh was refused: it needs a key that asks for no passphrase, such as one in ssh-agent"
	problemName         = "ssh cannot find a host with that name"
	problemUnreachable  = "the host does not answer"
	problemNoNod        = "nod is not installed there, or not in the PATH that ssh gives commands"
	problemOldNod       = "the nod there is too old to be a relay: install the version that runs here"
	problemNoRelay      = "no relay is running there, and none could be started: run nod relay there to see why"
	problemNoContainer  = "no such container is running"
	problemNoEngine     = "the container engine is not running, or refuses this user"
	problemEnded        = "the connection command failed: the log has its output"
)

// Problems lists everything that a line's State says in nod's own words, for windows to translate.
var Problems = []string{
	problemNotInstalled, problemOtherDesk, problemOtherKey, problemChatter,
	problemHostChanged, problemHostUnknown, problemDenied, problemName,
	problemUnreachable, problemNoNod, problemOldNod, problemNoRelay,
	problemNoContainer, problemNoEngine, problemEnded,
	remote.ErrProtocol.Error(),
}

// The statuses with which a shell and a container engine report that a program does not exist or cannot run.
const (
	statusNotRunnable = 126
	statusNotFound    = 127
)

// meanings are words that programs print, and what they mean. The first match counts, so words of ssh precede those
// that the machine may have printed.
var meanings = []struct{ program, words, problem string }{
	{"ssh", "REMOTE HOST IDENTIFICATION HAS CHANGED", problemHostChanged},
	{"ssh", "Host key verification failed", problemHostUnknown},
	{"ssh", "Permission denied (", problemDenied},
	{"ssh", "Too many authentication failures", problemDenied},
	{"ssh", "Could not resolve hostname", problemName},
	{"ssh", "Connection refused", problemUnreachable},
	{"ssh", "Connection timed out", problemUnreachable},
	{"ssh", "Operation timed out", problemUnreachable},
	{"ssh", "No route to host", problemUnreachable},
	{"ssh", "Network is unreachable", problemUnreachable},
	{"docker", "No such container", problemNoContainer},
	{"docker", "is not running", problemNoContainer},
	{"docker", "Cannot connect to the Docker daemon", problemNoEngine},
	{"docker", "docker daemon", problemNoEngine},
	{"podman", "no such container", problemNoContainer},
	{"podman", "container state improper", problemNoContainer},
	{"podman", "no container with name", problemNoContainer},
	{"", "unknown command \"relay\"", problemOldNod},
	{"", "not the public key of a nod", problemOldNod},
	{"", "nod: command not found", problemNoNod},
	{"", "nod: not found", problemNoNod},
	{"", "reach the relay:", problemNoRelay},
}

// problemSaid returns why a program ended with this status, judging by what it printed.
func problemSaid(program string, status int, said string) string {
	for _, t := range meanings {
		if (t.program == "" || t.program == program) && strings.Contains(said, t.words) {
			return t.problem
		}
	}
	switch status {
	case 0, -1: // it was told to end, or killed
		return ""
	case statusNotFound, statusNotRunnable:
		return problemNoNod
	}
	return problemEnded
}

// problemOf returns why a connection ended with err, or "" if err says only that it ended.
func problemOf(err error) string {
	switch {
	case errors.Is(err, remote.ErrProtocol):
		return remote.ErrProtocol.Error()
	case errors.Is(err, remote.ErrNotPaired):
		return problemOtherDesk
	case errors.Is(err, errNotRPC), errors.Is(err, errTooLong), isChatter(err):
		return problemChatter
	}
	return ""
}
