package policy

import "testing"

// A name that can be cut in several ways, or has no server, is nothing that a rule allows; one that denies takes any
// cut.
func TestServerThatCanBeCutTwice(t *testing.T) {
	for _, server := range []string{"_", "*", "?", "a", "a_", "__a"} {
		allow, err := Compile(Policy{Rules: []Rule{{ID: "x", Effect: Allow, Server: server}}}, Places{Home: "/home/ann"})
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range []string{
			"mcp__", "mcp____b", "mcp_____b", "mcp______b", "mcp__a___b", "mcp__a____b", "mcp____a__b",
		} {
			c := bash("x")
			c.Tool = tool
			if d := Decide(c, allow, testNow); d.Effect == Allow {
				t.Errorf("server %s, tool %s: %+v", server, tool, d)
			}
		}
	}
}
