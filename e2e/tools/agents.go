package main

// An agent is a release of a coding agent, and how to start it so that it talks to our model and to nobody else. In
// texts {model} is the address of the model, {project} the folder that it works in.
type agent struct {
	name    string   // as nod knows it
	program string   // below the folder of all releases
	version string   // the folder of the package that says it
	types   string   // a file with the types of its tools' input; empty: there is none
	setup   []string // arguments that have it take note of the model; nil: its files do
	env     []string
	files   map[string]string // by their paths at home
	starts  []start           // ways to start it: each may offer other tools
}

// A start is one way to start an agent.
type start struct {
	terminal bool
	args     []string
	env      []string
}

var agents = []agent{
	claude("oldest", ""), claude("newest", "claude-code-newest/sdk-tools.d.ts"),
	{
		name: "codex", program: ".bin/codex", version: "@openai/codex", env: []string{"TEST_KEY=x"},
		files: map[string]string{".codex/config.toml": codexConfig},
		starts: []start{
			// Its tools depend on what it knows of the model. The newest are offered most of them inside "exec".
			{args: []string{"exec", "--skip-git-repo-check", "do it"}},
			{args: []string{"exec", "--skip-git-repo-check", "-m", "gpt-5.5", "do it"}},
			{args: []string{"exec", "--skip-git-repo-check", "-m", "gpt-6-sol", "do it"}},
			{terminal: true, args: []string{"--no-daemon", "do it"}}, // which would stay
		},
	},
	{
		name: "gemini-cli", program: ".bin/gemini", version: "@google/gemini-cli",
		env: []string{"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL={model}", "GEMINI_CLI_NO_RELAUNCH=true", "NO_BROWSER=true"},
		files: map[string]string{".gemini/settings.json": `{
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false},
  "experimental": {"taskTracker": true}}`},
		starts: []start{
			{args: []string{"--model", "test", "--approval-mode", "plan", "-p", "do it"}},
			{terminal: true, args: []string{"--model", "test", "-i", "do it"}},
		},
	},
	{
		name: "opencode", program: ".bin/opencode", version: "opencode-ai",
		env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
			"OPENCODE_EXPERIMENTAL=1"},
		files: map[string]string{".config/opencode/opencode.json": `{
  "model": "test/test", "small_model": "test/test", "autoupdate": false, "share": "disabled",
  "provider": {"test": {"npm": "@ai-sdk/openai-compatible", "name": "Test",
    "options": {"baseURL": "{model}/v1", "apiKey": "x"}, "models": {"test": {"name": "Test", "tool_call": true},
    "gpt-5": {"name": "Test", "tool_call": true}}}}}`},
		starts: []start{
			{args: []string{"run", "do it"}},
			{args: []string{"run", "--model", "test/gpt-5", "do it"}},
			{terminal: true, args: []string{"--prompt", "do it"}},
		},
	},
	{
		name: "qwen-code", program: ".bin/qwen", version: "@qwen-code/qwen-code",
		env: []string{"OPENAI_BASE_URL={model}/v1", "OPENAI_API_KEY=x", "OPENAI_MODEL=test", "QWEN_CODE_NO_RELAUNCH=true"},
		files: map[string]string{".qwen/settings.json": `{
  "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": false}},
  "tools": {"toolSearch": {"threshold": 100}},
  "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}}`},
		starts: []start{{terminal: true, args: []string{"-i", "do it"}}},
	},
	{
		name: "copilot-cli", program: ".bin/copilot", version: "@github/copilot",
		env: []string{"COPILOT_PROVIDER_BASE_URL={model}/v1", "COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_API_KEY=x",
			"COPILOT_MODEL=test", "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false"},
		files:  map[string]string{".copilot/config.json": `{"trustedFolders": ["{project}"]}`},
		starts: []start{{terminal: true, args: []string{"-i", "do it", "--experimental"}}},
	},
	{
		name: "kimi-code", program: ".bin/kimi", version: "@moonshot-ai/kimi-code",
		env:    []string{"KIMI_DISABLE_TELEMETRY=1", "KIMI_CODE_NO_AUTO_UPDATE=1"},
		files:  map[string]string{".kimi-code/config.toml": kimiConfig},
		starts: []start{{args: []string{"-p", "do it"}}},
	},
	{
		name: "cline", program: ".bin/cline", version: "cline",
		setup:  []string{"auth", "-p", "openai-compatible", "-k", "x", "-m", "test", "-b", "{model}/v1"},
		env:    []string{"CLINE_SESSION_BACKEND_MODE=local", "CLINE_TELEMETRY_DISABLED=1", "CLINE_NO_AUTO_UPDATE=1"},
		starts: []start{{args: []string{"do it"}}},
	},
	{
		name: "letta", program: ".bin/letta", version: "@letta-ai/letta-code",
		env: []string{"LMSTUDIO_BASE_URL={model}/v1", "LETTA_CODE_TELEM=0", "LETTA_SKIP_KEYCHAIN_CHECK=1",
			"DISABLE_AUTOUPDATER=1"},
		starts: []start{{args: []string{
			"--backend", "local", "--model", "lmstudio/test", "--new-agent", "-p", "do it",
		}}},
	},
}

func claude(age, types string) agent {
	return agent{
		name: "claude-code", program: "claude-code-" + age + "/bin/claude.exe", version: "claude-code-" + age, types: types,
		env: []string{"ANTHROPIC_BASE_URL={model}", "ANTHROPIC_API_KEY=sk-ant-test", "DISABLE_TELEMETRY=1",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
			"IS_SANDBOX=1"}, // or root may not bypass permissions
		files: map[string]string{".claude.json": `{"hasCompletedOnboarding": true, "bypassPermissionsModeAccepted": true,
  "customApiKeyResponses": {"approved": ["sk-ant-test"], "rejected": []},
  "projects": {"{project}": {"hasTrustDialogAccepted": true}}}`},
		starts: []start{
			{args: []string{"-p", "do it"}},
			// Without the search every tool is offered at once.
			{terminal: true, args: []string{"--permission-mode", "default", "do it"},
				env: []string{"ENABLE_TOOL_SEARCH=false"}},
		},
	}
}

const codexConfig = `model = "test"
model_provider = "test"
check_for_update_on_startup = false
[model_providers.test]
name = "Test"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "TEST_KEY"
[projects."{project}"]
trust_level = "trusted"
`

const kimiConfig = `default_model = "test"
telemetry = false
[providers.test]
type = "openai"
base_url = "{model}/v1"
api_key = "x"
[models.test]
provider = "test"
model = "test"
max_context_size = 200000
`
