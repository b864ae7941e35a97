package interact

import (
	"testing"

	"nod/api"
)

func TestNamesOfRequester(t *testing.T) {
	t.Setenv("HOME", "/home/ann")
	for _, test := range []struct {
		who              Requester
		project, program string
	}{
		{who: Requester{}},
		{who: Requester{CWD: "/"}},
		{who: Requester{CWD: "/home/ann/"}, project: "~"},
		{who: Requester{CWD: "/home/ann/src/shop", Process: api.Process{CWD: "/srv"}}, project: "shop"},
		{
			who:     Requester{Process: api.Process{CWD: "/srv/x", Exe: "/usr/bin/claude (deleted)"}},
			project: "x", program: "claude",
		},
	} {
		if project, program := test.who.Project(), test.who.Program(); project != test.project || program != test.program {
			t.Errorf("%+v: project %q, program %q; want %q, %q", test.who, project, program, test.project, test.program)
		}
	}
}
