package ipc

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/swaggest/jsonschema-go"
	"github.com/swaggest/openapi-go"
	"github.com/swaggest/openapi-go/openapi31"

	"nod/interact"
)

// describe serves the description of this interface.
func describe(s *Server, _ *http.Request, _ []byte) (reply, error) {
	text, err := s.description()
	return reply{body: json.RawMessage(text)}, err
}

// everyone lists the statuses of the problems that every route has.
var everyone = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusInternalServerError,
}

// posting lists those that every route with a body has besides.
var posting = []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}

// buildDescription makes the OpenAPI 3.1 document of the interface from the table of routes.
func buildDescription(version string) ([]byte, error) {
	r := openapi31.NewReflector()
	r.DefaultOptions = append(r.DefaultOptions,
		jsonschema.InterceptDefName(func(t reflect.Type, _ string) string { return schemaName(t) }),
		jsonschema.InterceptSchema(interceptSchema),
		jsonschema.InterceptNullability(neverNull),
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
	return json.Marshal(r.Spec)
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
	op.AddRespStructure(route.reply)
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
	if err := r.AddOperation(op); err != nil {
		return err
	}
	if body := op.(openapi31.OperationExposer).Operation().RequestBody; body != nil {
		body.RequestBodyEns().WithRequired(true)
	}
	return nil
}

// operationID names an operation for those who generate clients.
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
	case "POST hooks/{agent}/{event}":
		return "hook"
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
	type hooking struct {
		Agent    string `path:"agent" description:"as in: nod hook AGENT"`
		Event    string `path:"event" description:"as the agent names it"`
		Headless bool   `query:"headless" description:"the agent runs without a terminal"`
		Gate     bool   `query:"gate" description:"the agent's own prompt is switched off"`
	}
	switch {
	case strings.Contains(route.path, "{agent}"):
		return hooking{}
	case len(route.query) > 0:
		return waiting{}
	case strings.Contains(route.path, "{id}"):
		return id{}
	}
	return nil
}

// schemaName names a type in the document.
func schemaName(t reflect.Type) string {
	name := t.Name()
	return strings.ToUpper(name[:1]) + name[1:]
}

// interceptSchema says what reflection cannot see: what writes its own JSON, that the objects that are sent
// are closed, and which members a reply always has.
func interceptSchema(p jsonschema.InterceptSchemaParams) (bool, error) {
	t := p.Value.Type()
	switch {
	case t == reflect.TypeFor[interact.Value]():
		text, list := jsonschema.String.ToSchemaOrBool(), jsonschema.Array.ToSchemaOrBool()
		list.TypeObject.ItemsEns().WithSchemaOrBool(text)
		*p.Schema = jsonschema.Schema{}
		p.Schema.WithOneOf(text, list)
		return true, nil
	case t == rawType:
		*p.Schema = jsonschema.Schema{}
		p.Schema.WithType(jsonschema.Object.Type())
		return true, nil
	case !p.Processed || t.Kind() != reflect.Struct:
		return false, nil
	case isSent(t):
		closed := jsonschema.SchemaOrBool{}
		p.Schema.WithAdditionalProperties(*closed.WithTypeBoolean(false))
	default:
		p.Schema.WithRequired(always(t)...)
	}
	return false, nil
}

// isSent reports whether objects of type t are what callers send.
func isSent(t reflect.Type) bool {
	for _, route := range routes() {
		if reflect.TypeOf(route.request) == t {
			return true
		}
	}
	return t.PkgPath() == reflect.TypeFor[interact.Form]().PkgPath()
}

// always lists the members that a reply of type t always has.
func always(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && !strings.Contains(options, "omit") {
			names = append(names, name)
		}
	}
	return names
}

// neverNull takes back that a pointer or a slice may be null: a body that holds a null is refused, and a
// reply holds none.
func neverNull(p jsonschema.InterceptNullabilityParams) { p.Schema.RemoveType(jsonschema.Null) }
