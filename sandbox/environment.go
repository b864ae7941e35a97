package sandbox

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"nod/interact/secrets"
)

// private are the names of variables that hold secrets, or lead outside the sandbox.
var private = []string{
	"*TOKEN*", "*SECRET*", "*PASS", "*_PASS_*", "*PASSW*", "*PASSPHRASE*", "*CREDENTIAL*", "*KEY", "*_KEY_*", "*APIKEY*",
	"*_PAT", "*_AUTH", "*_PW", "*_PWD", "*_DSN", "*COOKIE*", "*DATABASE_URL", "*CONNECTION_STRING*", "*WEBHOOK*",
	"*_JWT", "AUTHORIZATION", "NETRC", "KUBECONFIG", "PGPASSFILE",
	"GIT_CONFIG_COUNT", "GIT_CONFIG_VALUE_*", "GIT_CONFIG_PARAMETERS", // git fails if it gets only some of them
	"AWS_*", "AZURE_*", "ARM_*", "GOOGLE_*", "GCLOUD_*", "CLOUDSDK_*", "VAULT_*", "OP_*", "BW_*", "DOCKER_*",
	"ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "OPENROUTER_*", "COPILOT_*", "CODEX_*", "MCP_*", "NOD_*",
	"SSH_*", "GPG_*", "GNUPGHOME", "DBUS_*", "DISPLAY", "WAYLAND_*", "XDG_RUNTIME_DIR", "XDG_SESSION_*", "XAUTHORITY",
	"SESSION_MANAGER", "ICEAUTHORITY", "PULSE_*", "PIPEWIRE_*", "AT_SPI_*", "I3SOCK", "SWAYSOCK", "HYPRLAND_*",
	"KITTY_LISTEN_ON", "TMUX", "TMUX_PANE", "STY", "VSCODE_*", "GIT_ASKPASS", "SUDO_ASKPASS", "INVOCATION_ID",
	"JOURNAL_STREAM", "NOTIFY_SOCKET", "LISTEN_*", "MAIL", "*_SOCK", "*_SOCKET",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY", "*_HTTP_PROXY", "*_HTTPS_PROXY", "*_PROXY_URL",
}

// Prepare looks for secrets in these variables in advance: that is the slowest part of [Engine.Run].
func Prepare(env []string) { environment(env, "", false, false) }

// proxyPort is the port of the proxy in the sandbox, outside the range of ephemeral ports.
const proxyPort = 61080

// temporary are the variables for temporary files, of which a sandbox has a single place.
var temporary = []string{"TMPDIR", "TMP", "TEMP", "TEMPDIR"}

// fits remembers for each variable, with its value, whether a command may have it.
var fits sync.Map

// environment returns the caller's variables that a command gets: those without secrets, plus the place for temporary
// files and the proxy's address, which with near also serves this computer's own servers.
func environment(env []string, temp string, proxy, near bool) (out []string) {
	for _, pair := range env {
		name, value, ok := strings.Cut(pair, "=")
		fit, isKnown := fits.Load(pair)
		if !isKnown {
			fit = ok && utf8.ValidString(pair) && !isPrivate(name) && !isSecret(name, value)
			fits.Store(pair, fit)
		}
		if slices.Contains(temporary, name) {
			value = temp
		}
		if fit.(bool) {
			out = append(out, name+"="+value)
		}
	}
	if temp != "/tmp" {
		out = append(out, "TMPDIR="+temp, "TMPPREFIX="+temp+"/zsh") // the second is a shell's own
	}
	if !proxy {
		return out
	}
	url := fmt.Sprintf("http://127.0.0.1:%d", proxyPort)
	// Not SOCKS for what has no variable of its own: Python's httpx then fails without a library for it.
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		out = append(out, name+"="+url, strings.ToLower(name)+"="+url)
	}
	if out = append(out, "NODE_USE_ENV_PROXY=1"); near {
		return out
	}
	const local = "localhost,127.0.0.1,::1"
	return append(out, "NO_PROXY="+local, "no_proxy="+local)
}

func isPrivate(name string) bool {
	upper := strings.ReplaceAll(strings.ToUpper(name), "/", "_")
	return slices.ContainsFunc(private, func(pattern string) bool {
		ok, _ := path.Match(pattern, upper)
		return ok
	})
}

// hasPassword matches addresses with a password, and settings of one: a variable may hold several of both.
var hasPassword = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)://[^/@\s]*:[^/@\s]+@|(passw(or)?d|pwd)\s*[=:]`)
})

// isSecret reports whether the rules for secrets find one in a variable, or its value has a password.
func isSecret(name, value string) bool {
	if hasPassword().MatchString(value) {
		return true
	}
	text, err := json.Marshal(map[string]string{name: value})
	return err != nil || len(secrets.Find(text)) > 0
}
