package ipc

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"strings"

	"github.com/swaggest/jsonschema-go"
	"github.com/swaggest/openapi-go"
	"github.com/swaggest/openapi-go/openapi31"

	"nod/api"
)

// everyone lists the statuses of the problems that every route has.
var everyone = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusInternalServerError,
}

// posting lists those that every route with a body has besides.
var posting = []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}

// described is what the description says of a route besides what the table of routes does.
type described struct {
	id       string // for those who generate clients; empty: the last part of the path
	summary  string
	params   any   // what of it stands in its URL; nil: nothing
	request  any   // example of the body; nil: none
	reply    any   // example of the reply
	later    bool  // it may also reply 202
	problems []int // statuses of the problems that it has besides everyone's
}

// The statuses of problems that asking can end in.
var (
	asking = []int{
		http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests, http.StatusNotImplemented,
	}
	approving = []int{http.StatusConflict, http.StatusTooManyRequests, http.StatusNotImplemented}
	notifying = []int{http.StatusTooManyRequests}
	looking   = []int{http.StatusNotFound}
)

var descriptions = map[string]described{
	"POST /v1/ask": {
		summary: "Ask a question",
		request: api.AskRequest{}, reply: api.AskReply{}, later: true, problems: asking,
	},
	"POST /v1/confirm": {
		summary: "Ask yes or no",
		request: api.ConfirmRequest{}, reply: api.ConfirmReply{}, later: true, problems: approving,
	},
	"POST /v1/form": {
		summary: "Ask several questions on one page",
		request: api.FormRequest{}, reply: api.FormReply{}, later: true, problems: asking,
	},
	"POST /v1/approve": {
		summary: "Ask for approval of one tool call",
		request: api.ApproveRequest{}, reply: api.ApproveReply{}, later: true, problems: approving,
	},
	"POST /v1/notify": {
		summary: "Show a notification",
		request: api.NotifyRequest{}, reply: api.NotifyReply{}, later: true, problems: notifying,
	},
	"POST /v1/evaluate": {
		summary: "Say what the policy would decide, without asking",
		request: api.ApproveRequest{}, reply: api.EvaluateReply{},
	},
	"POST /v1/hooks/{agent}/{event}": {
		id: "hook", summary: "Answer an agent's hook in the agent's own words; 204 is no decision",
		params: hookParams{}, request: hookPayload{}, reply: hookReply{}, problems: looking,
	},
	"GET /v1/requests": {
		id: "listRequests", summary: "List the caller's own requests",
		reply: api.ListReply{},
	},
	"GET /v1/requests/{id}": {
		id: "fetchRequest", summary: "Fetch the outcome of a request",
		params: waitParams{}, reply: api.RequestReply{}, problems: looking,
	},
	"DELETE /v1/requests/{id}": {
		id: "withdrawRequest", summary: "Withdraw a request",
		params: idParam{}, reply: api.RequestReply{}, problems: looking,
	},
	"GET /v1/health": {
		summary: "Say that nod runs",
		reply:   api.HealthReply{},
	},
	"GET /v1/openapi.json": {
		id: "describe", summary: "Return this description",
		reply: map[string]any{},
	},
}

// hookPayload is whatever an agent sends to its hooks, hookReply whatever it wants to read.
type (
	hookPayload map[string]any
	hookReply   map[string]any
)

// keyParam is the header that every request that asks may carry.
type keyParam struct {
	Key string `header:"Idempotency-Key" description:"same as idempotency_key in the body"`
}

// What stands in the URLs of some routes.
type (
	idParam struct {
		ID string `path:"id" description:"the request's id"`
	}
	waitParams struct {
		idParam
		Wait float64 `query:"wait" minimum:"0" maximum:"60" description:"seconds to wait for an end"`
	}
	hookParams struct {
		Agent    string `path:"agent" description:"as in: nod hook AGENT"`
		Event    string `path:"event" description:"as the agent names it"`
		Headless bool   `query:"headless" description:"the agent runs without a terminal"`
		Version  string `query:"version" description:"the agent's version, as it says" example:"2.1.330"`
		Gate     bool   `query:"gate" description:"the agent's own prompt is switched off"`
	}
)

// codes are all that a problem can have.
var codes = []api.Code{
	api.CodeInvalidParam, api.CodeInvalidPath, api.CodeUnauthorized, api.CodeForbidden, api.CodeNotFound,
	api.CodeMethodNotAllowed, api.CodeTimeout, api.CodeCancelled, api.CodeTooLarge, api.CodeUnsupportedMedia,
	api.CodeRateLimited, api.CodeNotSupported, api.CodeInternal,
}

// buildDescription makes openapi.json, the OpenAPI 3.1 document of the interface, from the table of routes.
func buildDescription(version string) ([]byte, error) {
	r := openapi31.NewReflector()
	r.DefaultOptions = append(r.DefaultOptions,
		jsonschema.InterceptDefName(func(t reflect.Type, _ string) string { return schemaName(t) }),
		jsonschema.InterceptSchema(interceptSchema),
		jsonschema.InterceptNullability(neverNull),
	)
	r.Spec.Info.WithTitle("nod").WithVersion(version).WithDescription(
		"Local agents ask their user through this interface: approve this tool call, answer this question. " +
			"Nothing here decides: the user answers in a window. The address and the token are in endpoint.json.")
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
	about, ok := descriptions[route.method+" "+route.path]
	if !ok {
		return errors.New("nothing is known of it: add it to descriptions")
	}
	op, err := r.NewOperationContext(route.method, route.path)
	if err != nil {
		return err
	}
	op.SetSummary(about.summary)
	op.SetID(cmp.Or(about.id, path.Base(route.path)))
	if about.request != nil {
		op.AddReqStructure(about.request)
	}
	if about.params != nil {
		op.AddReqStructure(about.params)
	}
	if route.effect() == effectAsk {
		op.AddReqStructure(keyParam{})
	}
	op.AddRespStructure(about.reply)
	if about.later {
		op.AddRespStructure(api.PendingReply{}, openapi.WithHTTPStatus(http.StatusAccepted))
	}
	statuses := append([]int(nil), everyone...)
	if about.request != nil {
		statuses = append(statuses, posting...)
	}
	for _, status := range append(statuses, about.problems...) {
		op.AddRespStructure(api.Problem{},
			openapi.WithHTTPStatus(status), openapi.WithContentType("application/problem+json"))
	}
	if err := r.AddOperation(op); err != nil {
		return err
	}
	if body := op.(openapi31.OperationExposer).Operation().RequestBody; body != nil {
		body.RequestBodyEns().WithRequired(true)
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
	case t == reflect.TypeFor[api.Value]():
		text, list := jsonschema.String.ToSchemaOrBool(), jsonschema.Array.ToSchemaOrBool()
		list.TypeObject.ItemsEns().WithSchemaOrBool(text)
		*p.Schema = jsonschema.Schema{}
		p.Schema.WithOneOf(text, list)
		return true, nil
	case t == reflect.TypeFor[json.RawMessage]():
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
	for name, member := range p.Schema.Properties {
		complete(member.TypeObject, t.Name(), name)
	}
	return false, nil
}

// long holds the descriptions that do not fit into a struct tag on one line, by the names of type and member, or of
// the member where it means the same in all types.
var long = map[string]string{
	"timeout":         "seconds that the request stays open; 0: the configured default",
	"idempotency_key": "a repeated key of the same caller joins the first request and gets its answer",
	"hold":            "seconds without an answer after which 202 is returned; the request stays open",
	"silence": "what the caller does if nobody decides, for the prompt to say: asks in its terminal or its own " +
		"window; absent: takes it as no",
	"input_type": "default: choice when there are options, else text",
	"format":     "text: what the answer must be",
	"min":        "least value, length, or number of picks",
	"preview":    "what picking it looks like, such as code; shown as plain text",
	"tool":       "the tool's name, as the agent spells it",
	"input":      "the tool's input, shown unchanged",
	"class":      "what the caller says the tool does; relaxes nod only for policy.trusted_agents; empty: nothing",
	"outcome":    "how it ended",
	"by":         "who decided; absent when nobody did",
	"scope":      "how long the user's allow holds",
	"covers": "what an allow for longer than once covers: this input, the new parts of the command, edits in the " +
		"project, all calls of the tool, all pages of the host, or reading in the folder",
	"code":                "stable name of the problem",
	"Problem.outcome":     "how the request ended, if there was one",
	"EvaluateReply.class": "the class that counts",
	"RequestReply.answer": "once answered: the body that the request itself would have got, or a problem",
}

// complete adds to a member of an object what its tag does not say.
func complete(member *jsonschema.Schema, object, name string) {
	if text, ok := long[object+"."+name]; ok {
		member.WithDescription(text)
	} else if text, ok := long[name]; ok && member.Description == nil {
		member.WithDescription(text)
	}
	switch {
	case name == "answer" && object == "RequestReply":
		member.Type = nil // whatever there is
	case name == "code":
		member.WithEnum(anys(codes)...)
	case name == "class" && object == "ApproveRequest":
		member.WithEnum("read_only", "write", "mutating", "execute", "network", "destructive", "unknown", "")
	case name == "status" && (object == "RequestReply" || object == "Listed"):
		member.WithEnum(anys(api.Outcomes)...)
	}
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// isSent reports whether objects of type t are what callers send.
func isSent(t reflect.Type) bool {
	for _, about := range descriptions {
		if reflect.TypeOf(about.request) == t {
			return true
		}
	}
	return t == reflect.TypeFor[api.Question]() || t == reflect.TypeFor[api.Option]()
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
