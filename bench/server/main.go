// Command server answers every request on a Unix socket as nod answers a call that it allows, and does nothing else:
// the least that such a server costs.
//
//	server SOCKET
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: server SOCKET")
	}
	l, err := net.Listen("unix", args[0])
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return http.Serve(l, http.HandlerFunc(allow))
}

// allow reads an approval into what it holds and replies with as much as nod does.
func allow(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tool, Class, CWD, Session string
		Input                     json.RawMessage
		Timeout                   float64
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{ // fails when the caller has left
		"id": "01900000-0000-7000-8000-000000000000", "outcome": "allowed", "decision": "allow", "reason": in.Tool,
		"by": "policy", "rule": "builtin:read_only", "shown_sha256": strings.Repeat("0", 64),
	})
}
