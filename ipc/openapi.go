package ipc

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/swaggest/jsonschema-go"
	"github.com/swaggest/openapi-go"
	"github.com/swaggest/openapi-go/openapi31"

	"nod/interact"
)

// describe serves the description of this interface.
func describe(s *Server, _ *http.Request, _ []byte) (reply, error) {
	text, err := description(s.endpoint.Version)
	return reply{body: json.RawMessage(text)}, err
}

// everyone lists the statuses of the problems that every route has.
var everyone = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusInternalServerError,
}

// posting lists those that every route with a body has besides.
var posting = []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}

var (
	descriptionOnce sync.Once
	descriptionText []byte
	errDescription  error
)

// description is the OpenAPI 3.1 document of the interface, made from the table of routes at its first use:
// it takes milliseconds, and most runs never need it.
func description(version string) ([]byte, error) {
	descriptionOnce.Do(func() { descriptionText, errDescription = buildDescription(version) })
	return descriptionText, errDescription
}

func buildDescription(version string) ([]byte, error) {
	r := openapi31.NewReflector()
	r.DefaultOptions = append(r.DefaultOptions,
		jsonschema.InterceptDefName(func(t reflect.Type, _ string) string { return schemaName(t) }),
		jsonschema.InterceptSchema(interceptSchema),
	)
	r.Spec.Info.WithTitle("nod").WithVersion(version).WithDescription(
		"Local agents ask their human through this interface: approve this tool call, answer this question. " +
			"Nothing here decides: the human answers in a window. The address and the token are in endpoint.json.")
	r.Spec.SetHTTPBearerTokenSecurity("token", "", "the token from endpoint.json; new at each start of nod-desktop")
	r.Spec.WithSecurity(map[string][]string{"token": {}})
	for _, route := range routes() {
		if err := addOperation(r, route); err != nil {
			return nil, fmt.Errorf("describe %s %s: %w", route.method, route.path, err)
		}
	}
	return json.MarshalIndent(r.Spec, "", "  ")
}

func addOperation(r *openapi31.Reflector, route route) error {
	op, err := r.NewOperationContext(route.method, route.path)
	if err != nil {
		return err
	}
	op.SetSummary(route.summary)
	op.SetID(operationID(route))
	if route.request != nil {
		op.AddReqStructure(route.request)
	}
	if params := parametersOf(route); params != nil {
		op.AddReqStructure(params)
	}
	if route.reply != nil {
		op.AddRespStructure(route.reply)
	} else {
		op.AddRespStructure(nil, func(u *openapi.ContentUnit) { u.ContentType, u.HTTPStatus = "application/json", http.StatusOK })
	}
	if route.later {
		op.AddRespStructure(pendingReply{}, openapi.WithHTTPStatus(http.StatusAccepted))
	}
	statuses := append([]int(nil), everyone...)
	if route.request != nil {
		statuses = append(statuses, posting...)
	}
	for _, status := range append(statuses, route.problems...) {
		op.AddRespStructure(problem{}, openapi.WithHTTPStatus(status), openapi.WithContentType("application/problem+json"))
	}
	return r.AddOperation(op)
}

// operationID names an operation for those who generate clients: askHuman is not it, ask is.
func operationID(route route) string {
	name := strings.TrimPrefix(route.path, "/v1/")
	switch route.method + " " + name {
	case "GET requests":
		return "listRequests"
	case "GET requests/{id}":
		return "fetchRequest"
	case "DELETE requests/{id}":
		return "withdrawRequest"
	case "GET openapi.json":
		return "describe"
	}
	return name
}

// parametersOf describes what of a route stands in its URL.
func parametersOf(route route) any {
	type id struct {
		ID string `path:"id" description:"the request's id"`
	}
	type waiting struct {
		id
		Wait float64 `query:"wait" minimum:"0" maximum:"60" description:"seconds to wait for an end"`
	}
	switch {
	case len(route.query) > 0:
		return waiting{}
	case strings.Contains(route.path, "{id}"):
		return id{}
	}
	return nil
}

// schemaName names a type in the document: "Ask" for askRequest's body would be a surprise, AskRequest not.
func schemaName(t reflect.Type) string {
	name := t.Name()
	return strings.ToUpper(name[:1]) + name[1:]
}

// interceptSchema says what reflection cannot see: that objects are closed, and what writes its own JSON.
func interceptSchema(p jsonschema.InterceptSchemaParams) (bool, error) {
	switch p.Value.Type() {
	case reflect.TypeFor[interact.Value]():
		text := jsonschema.String.ToSchemaOrBool()
		list := jsonschema.Array.ToSchemaOrBool()
		list.TypeObject.ItemsEns().WithSchemaOrBool(text)
		*p.Schema = jsonschema.Schema{}
		p.Schema.WithOneOf(text, list)
		return true, nil
	case rawType:
		*p.Schema = jsonschema.Schema{}
		p.Schema.WithType(jsonschema.Object.Type())
		return true, nil
	}
	return false, nil
}
