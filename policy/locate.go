package policy

// Location says where a path of a tool's input leads and what is special there, for the eyes of a human.
type Location struct {
	Path    string // absolute, symbolic links followed; empty when nobody can tell
	Inside  bool   // in the project's folder, by its text and with links followed
	Linked  bool   // symbolic links lead elsewhere than the text says
	Guarded string // the name of a guarded file or folder that it is or lies in, or empty
	Secret  bool   // keeps keys or tokens
	Own     bool   // one of nod's own files
}

// Locate looks at path as a tool that works in the folder cwd would. The path need not exist.
func Locate(path, cwd string) Location {
	places := DefaultPlaces()
	p := locate(path, cwd, places.Home)
	if p.lost {
		return Location{Guarded: guardedBy(p.clean), Secret: holdsSecrets(p.clean)}
	}
	l := Location{Path: p.real, Linked: fold(p.clean) != fold(p.real), Own: newGuard(places).isOwn(p.real)}
	if root := locate(cwd, "", places.Home); !root.lost {
		l.Inside = isWithin(fold(p.clean), fold(root.clean)) && isWithin(fold(p.real), fold(root.real))
	}
	for _, path := range []string{p.clean, p.real} {
		if l.Guarded == "" {
			l.Guarded = guardedBy(path)
		}
		l.Secret = l.Secret || holdsSecrets(path)
	}
	return l
}
