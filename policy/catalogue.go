package policy

import "strings"

// A tool is what nod knows of one built-in tool of one agent.
type tool struct {
	class  Class
	traits trait
}

// trait says what about a tool's input matters to the policy.
type trait uint8

const (
	runsShell trait = 1 << iota // runs a command line, so its class is unknown until somebody reads the command
	question                    // asks the human something: an allow without answers would answer it with nothing
	inFolder                    // works in the current folder when its input names no path
	contents                    // reads the contents of everything under the path it is given
	patch                       // its text names the files it changes
	globs                       // its pattern or include field may lead to another folder
	posix                       // its command line is for bash, zsh or sh, and nothing else runs it first
)

// catalogue knows the tools of the agents it lists, by the exact names that those agents send. An agent
// may not be here, and a tool may be missing: then nod knows nothing and asks. Names that only look alike
// (another case, a space, a Cyrillic letter) are other names.
//
// Agents that write to their own notes and plans only (TodoWrite and the like) are still "write": the
// read-only list is closed and holds nothing but tools that look.
var catalogue = map[string]map[string]tool{
	"claude-code": claudeCode,
	"claude":      claudeCode,
	"codex":       codex,
	"gemini-cli":  geminiCLI,
	"gemini":      geminiCLI,
	"opencode":    openCode,
}

// Claude Code 2.1.
var claudeCode = map[string]tool{
	"Read":                 {ReadOnly, 0},
	"Glob":                 {ReadOnly, inFolder | globs},
	"Grep":                 {ReadOnly, inFolder | contents},
	"LSP":                  {ReadOnly, 0},
	"ListMcpResourcesTool": {ReadOnly, 0},
	"ReadMcpResourceTool":  {ReadOnly, 0},
	"TaskGet":              {ReadOnly, 0},
	"TaskList":             {ReadOnly, 0},
	"TaskOutput":           {ReadOnly, 0},
	"CronList":             {ReadOnly, 0},
	"ListAgents":           {ReadOnly, 0},
	"ToolSearch":           {ReadOnly, 0},
	"WaitForMcpServers":    {ReadOnly, 0},

	"Write":          {Write, 0},
	"Edit":           {Write, 0},
	"MultiEdit":      {Write, 0},
	"NotebookEdit":   {Write, 0},
	"TodoWrite":      {Write, 0},
	"TaskCreate":     {Write, 0},
	"TaskUpdate":     {Write, 0},
	"EnterWorktree":  {Write, 0},
	"EnterPlanMode":  {Write, 0},
	"ReportFindings": {Write, 0},

	"Agent":           {Execute, 0},
	"Task":            {Execute, 0},
	"Skill":           {Execute, 0},
	"Workflow":        {Execute, 0},
	"CronCreate":      {Execute, 0},
	"ScheduleWakeup":  {Execute, 0},
	"TaskStop":        {Execute, 0},
	"ExitPlanMode":    {Execute, 0},
	"EndConversation": {Execute, 0},

	"WebFetch":             {Network, 0},
	"WebSearch":            {Network, 0},
	"Artifact":             {Network, 0},
	"ShareOnboardingGuide": {Network, 0},
	"PushNotification":     {Network, 0},
	"RemoteTrigger":        {Network, 0},
	"SendMessage":          {Network, 0},
	"SendUserFile":         {Network, 0},

	"CronDelete":   {Destructive, 0},
	"ExitWorktree": {Destructive, 0},

	"Bash":            {Unknown, runsShell | posix},
	"PowerShell":      {Unknown, runsShell},
	"Monitor":         {Unknown, runsShell},
	"AskUserQuestion": {Unknown, question},
}

// Codex 0.169. Its hooks call every way to run a command "Bash".
var codex = map[string]tool{
	"view_image":                  {ReadOnly, 0},
	"read_file":                   {ReadOnly, 0},
	"list_dir":                    {ReadOnly, inFolder},
	"grep_files":                  {ReadOnly, inFolder | contents},
	"list_mcp_resources":          {ReadOnly, 0},
	"list_mcp_resource_templates": {ReadOnly, 0},
	"read_mcp_resource":           {ReadOnly, 0},

	"apply_patch": {Write, patch},
	"update_plan": {Write, 0},

	"spawn_agent":  {Execute, 0},
	"send_input":   {Execute, 0},
	"resume_agent": {Execute, 0},
	"close_agent":  {Execute, 0},

	"web_search": {Network, 0},

	"Bash":               {Unknown, runsShell | posix},
	"shell":              {Unknown, runsShell},
	"local_shell":        {Unknown, runsShell},
	"shell_command":      {Unknown, runsShell | posix},
	"container.exec":     {Unknown, runsShell},
	"exec_command":       {Unknown, runsShell | posix},
	"unified_exec":       {Unknown, runsShell},
	"write_stdin":        {Unknown, runsShell},
	"js_repl":            {Unknown, runsShell},
	"request_user_input": {Unknown, question},
}

// Gemini CLI 0.61, with the names that some of its tools had before.
var geminiCLI = map[string]tool{
	"read_file":           {ReadOnly, 0},
	"read_many_files":     {ReadOnly, inFolder | contents | globs},
	"list_directory":      {ReadOnly, inFolder},
	"glob":                {ReadOnly, inFolder | globs},
	"grep_search":         {ReadOnly, inFolder | contents},
	"search_file_content": {ReadOnly, inFolder | contents},
	"get_internal_docs":   {ReadOnly, 0},
	"list_mcp_resources":  {ReadOnly, 0},
	"read_mcp_resource":   {ReadOnly, 0},
	"tracker_get_task":    {ReadOnly, 0},
	"tracker_list_tasks":  {ReadOnly, 0},
	"tracker_visualize":   {ReadOnly, 0},

	"write_file":             {Write, 0},
	"replace":                {Write, 0},
	"write_todos":            {Write, 0},
	"save_memory":            {Write, 0},
	"update_topic":           {Write, 0},
	"enter_plan_mode":        {Write, 0},
	"tracker_create_task":    {Write, 0},
	"tracker_update_task":    {Write, 0},
	"tracker_add_dependency": {Write, 0},

	"activate_skill":    {Execute, 0},
	"invoke_agent":      {Execute, 0},
	"delegate_to_agent": {Execute, 0},
	"exit_plan_mode":    {Execute, 0},
	"complete_task":     {Execute, 0},

	"web_fetch":         {Network, 0},
	"google_web_search": {Network, 0},

	"run_shell_command": {Unknown, runsShell | posix},
	"ask_user":          {Unknown, question},
}

// opencode 1.18: its tools, and the permissions it asks for, which share most of their names.
var openCode = map[string]tool{
	"read":     {ReadOnly, 0},
	"glob":     {ReadOnly, inFolder | globs},
	"grep":     {ReadOnly, inFolder | contents},
	"list":     {ReadOnly, inFolder},
	"lsp":      {ReadOnly, 0},
	"todoread": {ReadOnly, 0},

	"write":       {Write, 0},
	"edit":        {Write, 0},
	"multiedit":   {Write, 0},
	"patch":       {Write, patch},
	"apply_patch": {Write, patch},
	"todowrite":   {Write, 0},
	"plan_enter":  {Write, 0},

	"task":      {Execute, 0},
	"skill":     {Execute, 0},
	"batch":     {Execute, 0},
	"plan_exit": {Execute, 0},

	"webfetch":   {Network, 0},
	"websearch":  {Network, 0},
	"codesearch": {Network, 0},

	"bash":     {Unknown, runsShell | posix},
	"question": {Unknown, question},
}

// shells and questions hold what the catalogue says of any agent: whoever sends a tool of that name, nod
// does not take it for anything more harmless.
var shells, questions = namesWith(runsShell), namesWith(question)

func namesWith(want trait) map[string]bool {
	names := map[string]bool{}
	for _, tools := range catalogue {
		for name, t := range tools {
			if t.traits&want != 0 {
				names[strings.ToLower(name)] = true
			}
		}
	}
	return names
}

// lookup finds a tool by the exact names of agent and tool.
func lookup(agent, name string) (tool, bool) {
	if isMCP(name) {
		return tool{class: Unknown}, false
	}
	t, ok := catalogue[agent][name]
	return t, ok
}

// isMCP reports whether the name has one of the forms in which agents pass on the tools of MCP servers.
func isMCP(name string) bool {
	return strings.HasPrefix(name, "mcp__") || strings.HasPrefix(name, "mcp_") || strings.HasPrefix(name, "MCP:")
}

// isShell reports whether the tool runs a command line, going by its name, whoever sends it.
func isShell(name string) bool {
	return shells[strings.ToLower(strings.TrimSpace(name))]
}

// isQuestion reports whether the tool puts a question to the human, whoever sends it.
func isQuestion(name string) bool {
	return questions[strings.ToLower(strings.TrimSpace(name))]
}
