package app

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"nod/ipc/endpoint"
)

func TestLimits(t *testing.T) {
	whole := endpoint.Endpoint{Socket: "/run/nod.sock"}
	if said := limits(nil, nil, whole); len(said) != 0 {
		t.Errorf("nothing is missing, and nod says %q", said)
	}
	said := limits(errors.New("no log"), errors.New("no seal"), whole)
	if len(said) != 2 || !strings.Contains(said[0], "no log") || !strings.Contains(said[1], "no seal") {
		t.Errorf("nod says %q", said)
	}
	if said := limits(nil, nil, endpoint.Endpoint{}); runtime.GOOS != "windows" && len(said) != 1 {
		t.Errorf("without a socket nod says %q", said)
	}
}
