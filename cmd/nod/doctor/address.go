package doctor

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"

	"nod/ipc/peer"
	"nod/policy/config"
)

func checkAddress(_ context.Context, e *exam) []Finding {
	wanted := e.config.IPC.Address
	if set := getenv(e.environ)("NOD_IPC_ADDRESS"); set != "" {
		wanted = set
	}
	at, err := netip.ParseAddrPort(wanted)
	if err != nil || at.Port() == 0 {
		return nil // the configuration's check reports it
	}
	if e.isRunning() {
		if has, err := url.Parse(e.at.URL); err == nil && has.Port() == fmt.Sprint(at.Port()) {
			return []Finding{ok("%s, nod's own", wanted)}
		}
		if e.Listen(wanted) == nil {
			return []Finding{warning(restart(), "%s is free now, but nod-desktop uses %s until you restart it", wanted,
				e.at.URL)}
		}
		return []Finding{warning(restart(), "%s: nod-desktop uses %s until you restart it; agents find it, programs "+
			"with a fixed address do not", taken(wanted, at), e.at.URL)}
	}
	if e.hangs() {
		return nil // it has it, or not: that is not what is wrong
	}
	if err := e.Listen(wanted); err == nil {
		return []Finding{ok("%s is free", wanted)}
	}
	if wanted == config.Default().IPC.Address {
		return []Finding{warning(run("nod settings"), "%s: nod-desktop will use another one", taken(wanted, at))}
	}
	return []Finding{failure(run("nod settings"), "%s: nod-desktop cannot start", taken(wanted, at))}
}

// taken says which process has the address.
func taken(wanted string, at netip.AddrPort) string {
	switch p := peer.Listener(at); {
	case p.PID == 0:
		return fmt.Sprintf("an unknown program uses %s", wanted)
	case p.Exe == "":
		return fmt.Sprintf("process %d uses %s", p.PID, wanted)
	default:
		return fmt.Sprintf("%s (process %d) uses %s", filepath.Base(p.Exe), p.PID, wanted)
	}
}
