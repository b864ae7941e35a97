// Package agents has a folder for each coding agent with all that nod knows of it. The package itself is what the
// policy reads of them.
package agents

import "embed"

// Tools are the files in which the agents' tools are described: tools.txt in the folder of each.
//
//go:embed */tools.txt
var Tools embed.FS
