package ipc

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"strings"
)

// description is the OpenAPI 3.1 document of this interface. The tests make it from the table of routes and the types
// of package api, and fail when it is another: go test ./ipc -run Description -update.
//
//go:embed openapi.json
var description string

// versionMark stands in the description where nod's version belongs.
const versionMark = "VERSION"

func describe(s *Server, _ *http.Request, _ []byte) (reply, error) {
	version, err := json.Marshal(s.endpoint.Version)
	return reply{body: json.RawMessage(strings.Replace(description, `"`+versionMark+`"`, string(version), 1))}, err
}
