package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// model plays the models of all agents, in the four APIs that these speak. It says that all is done, and keeps the
// tools that it is offered.
type model struct {
	mu      sync.Mutex          // guards the fields below
	offered map[string][]string // the fields of each tool's input
	asked   bool                // with any tools
	told    func()              // called when it is asked first; may be nil
}

// forget returns what was offered since it was last asked.
func (m *model) forget() map[string][]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	offered := m.offered
	m.offered = map[string][]string{}
	return offered
}

// whenAsked calls told once an agent asks with tools. What it returns reports whether one has.
func (m *model) whenAsked(told func()) func() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked, m.told = false, told
	return func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.asked
	}
}

// take keeps the tools in a request.
func (m *model) take(request map[string]any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.offered)
	offers(m.offered, "", request["tools"])
	input, _ := request["input"].([]any)
	for _, item := range input { // the newest models of Codex have them among the messages
		if item, _ := item.(map[string]any); item["type"] == "additional_tools" {
			offers(m.offered, "", item["tools"])
		}
	}
	if (request["tools"] != nil || len(m.offered) > before) && !m.asked {
		m.asked = true
		m.told()
	}
}

// ServeHTTP implements [http.Handler].
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&in) != nil {
		http.NotFound(w, r)
		return
	}
	m.take(in)
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "count_tokens"):
		fmt.Fprint(w, `{"input_tokens":1}`)
	case strings.HasSuffix(path, ":countTokens"):
		fmt.Fprint(w, `{"totalTokens":1}`)
	case strings.HasSuffix(path, ":generateContent"):
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, geminiDone)
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		for _, data := range done(path) {
			var event struct{ Type string }
			if json.Unmarshal([]byte(data), &event) == nil && event.Type != "" {
				fmt.Fprintf(w, "event: %s\n", event.Type)
			}
			fmt.Fprintf(w, "data: %s\n\n", data)
		}
	}
}

const geminiDone = `{"candidates":[{"content":{"role":"model","parts":[{"text":"all done"}]},"finishReason":"STOP",` +
	`"index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`

// done is what a model streams to say that all is done.
func done(path string) []string {
	switch {
	case strings.HasSuffix(path, ":streamGenerateContent"):
		return []string{geminiDone}
	case strings.HasSuffix(path, "/responses"):
		const message = `{"type":"message","role":"assistant","id":"m","content":[{"type":"output_text","text":"all done"}]}`
		return []string{
			`{"type":"response.created","response":{"id":"r"}}`,
			`{"type":"response.output_item.done","output_index":0,"item":` + message + `}`,
			`{"type":"response.completed","response":{"id":"r","output":[` + message + `],` +
				`"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}}`,
		}
	case strings.HasSuffix(path, "/messages"):
		const usage = `"usage":{"input_tokens":1,"output_tokens":1}`
		return []string{
			`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"test","content":[],` +
				`"stop_reason":null,"stop_sequence":null,` + usage + `}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"all done"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},` + usage + `}`,
			`{"type":"message_stop"}`,
		}
	}
	const chunk = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"test","choices":[{"index":0,`
	return []string{
		chunk + `"delta":{"role":"assistant","content":"all done"}}]}`,
		chunk + `"delta":{},"finish_reason":"stop"}]}`, "[DONE]",
	}
}

// offers adds the tools in a part of a request, whichever API it is of. Tools may lie in a list or in a namespace,
// whose name hooks put right before theirs; nod knows those of MCP servers by other means.
func offers(all map[string][]string, namespace string, part any) {
	if list, ok := part.([]any); ok {
		for _, p := range list {
			offers(all, namespace, p)
		}
	}
	tool, _ := part.(map[string]any)
	if tool == nil {
		return
	}
	name, _ := tool["name"].(string)
	for _, key := range []string{"function", "functionDeclarations", "function_declarations"} {
		if inner, ok := tool[key]; ok {
			offers(all, namespace, inner)
			return
		}
	}
	switch inner, isSpace := tool["tools"]; {
	case strings.HasPrefix(name, "mcp__"):
	case isSpace && name == "functions": // where Codex keeps what is in none
		offers(all, "", inner)
	case isSpace:
		offers(all, name, inner)
	default:
		if name == "" {
			name, _ = tool["type"].(string)
		}
		add(all, namespace+name, schemaOf(tool))
		description, _ := tool["description"].(string)
		inCode(all, description)
	}
}

// add adds the fields of a tool.
func add(all map[string][]string, name string, found map[string]bool) {
	for _, field := range all[name] {
		found[field] = true
	}
	all[name] = slices.Sorted(maps.Keys(found))
}

// schemaOf are the fields in the schema of a tool's input, those of objects inside behind a dot, as in nod's data.
func schemaOf(tool map[string]any) map[string]bool {
	found := map[string]bool{}
	for _, key := range []string{"input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema"} {
		collect(found, "", tool[key], tool[key], 0)
	}
	return found
}

// maxDepth is how deep objects lie in each other at most: a schema may contain itself.
const maxDepth = 6

func collect(found map[string]bool, prefix string, schema, root any, depth int) {
	s, _ := schema.(map[string]any)
	if s == nil || depth > maxDepth {
		return
	}
	if ref, ok := s["$ref"].(string); ok {
		collect(found, prefix, follow(root, ref), root, depth+1)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		ways, _ := s[key].([]any)
		for _, way := range ways {
			collect(found, prefix, way, root, depth)
		}
	}
	collect(found, prefix, s["items"], root, depth)
	inner, _ := s["properties"].(map[string]any)
	for name, field := range inner {
		within := map[string]bool{}
		collect(within, prefix+name+".", field, root, depth+1)
		if len(within) == 0 {
			within[prefix+name] = true
		}
		maps.Copy(found, within)
	}
}

// follow returns what a reference inside a schema leads to.
func follow(root any, ref string) any {
	for key := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at, _ := root.(map[string]any)
		root = at[key]
	}
	return root
}
