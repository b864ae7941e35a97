package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strconv"
	"strings"

	"nod/api"
	"nod/ipc/client"
	"nod/policy"
	"nod/sandbox/boundary"
)

// askAboutHosts returns what asks the user whether a command in the sandbox may reach a host: a tool call of the agent,
// so that rules and grants count as for any other.
func askAboutHosts(
	cl *client.Client, who api.Common, command string,
) func(context.Context, boundary.Target) error {
	approver := &client.Approver{Client: cl}
	return func(ctx context.Context, t boundary.Target) error {
		decision, err := approver.Decide(ctx, hostRequest(who, command, t))
		switch {
		case err != nil:
			return err
		case !decision.Allowed:
			return errors.New(decision.Reason)
		}
		return nil
	}
}

// hostRequest asks about exactly what an answer is kept for: the host or, where it is near, the address; and the port
// where it is none of the web's.
func hostRequest(who api.Common, command string, t boundary.Target) api.ApproveRequest {
	host, says := t.Host, command
	if t.Addr.IsValid() && t.Addr.String() != host {
		host, says = t.Addr.String(), command+"\n("+host+")"
	}
	address := net.JoinHostPort(host, strconv.Itoa(int(t.Port)))
	if t.Port == 443 || t.Port == 80 {
		address = strings.TrimSuffix(net.JoinHostPort(host, ""), ":")
	}
	input, err := json.Marshal(map[string]string{"url": "https://" + address})
	if err != nil {
		panic(err) // texts can be marshaled
	}
	return api.ApproveRequest{
		Approve: api.Approve{
			Tool: policy.NetworkTool, Input: input, Class: string(policy.Network), Description: says,
		},
		Common: who,
	}
}
