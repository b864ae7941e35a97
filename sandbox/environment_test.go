package sandbox

import (
	"slices"
	"strings"
	"testing"
)

func TestEnvironment(t *testing.T) {
	for pair, want := range map[string]string{
		"PATH=/usr/bin": "PATH=/usr/bin", "HOME=/home/u": "HOME=/home/u", "LANG=C.UTF-8": "LANG=C.UTF-8",
		"GOFLAGS=-mod=mod": "GOFLAGS=-mod=mod", "NODE_ENV=test": "NODE_ENV=test", "EMPTY=": "EMPTY=", "CI=1": "CI=1",
		"TMPDIR=/home/u/tmp": "TMPDIR=/tmp", "KEYBOARD=us": "KEYBOARD=us", "API_URL=http://x:1": "API_URL=http://x:1",
		"GITHUB_TOKEN=x": "", "NPM_TOKEN=x": "", "MY_SECRET=x": "", "DB_PASSWORD=x": "", "AWS_PROFILE=x": "",
		"ANTHROPIC_API_KEY=x": "", "SSH_AUTH_SOCK=/x": "", "GPG_AGENT_INFO=x": "", "DBUS_SESSION_BUS_ADDRESS=x": "",
		"DISPLAY=:0": "", "WAYLAND_DISPLAY=x": "", "XDG_RUNTIME_DIR=/run/user/1": "", "XAUTHORITY=/x": "",
		"http_proxy=x": "", "HTTPS_PROXY=x": "", "no_proxy=x": "", "npm_config_https_proxy=x": "", "DOCKER_HOST=x": "",
		"DB_PASS=x": "", "PGPASS=x": "", "DB_PASS_RO=x": "", "ADMIN_PW=x": "", "SIGNINGKEY=x": "",
		"github_token=x": "", "DATABASE_URL=x": "", "URL=postgres://u:p@host/db": "", "NOD_HOME=/x": "",
		"GOPROXY=https://proxy.golang.org,https://u:p@goproxy.corp": "", "JWT_JSON=x": "JWT_JSON=x", "JOB_JWT=x": "",
		"Connections__Main=Server=db;User Id=sa;Password=p;": "", "JDBC_URL=jdbc:postgresql://h/db?user=a&password=p": "",
		"MAVEN_OPTS=-Drepo.password=p": "", "AUTHORIZATION=Bearer p": "", "GIT_CONFIG_COUNT=1": "",
		"GIT_CONFIG_VALUE_0=Authorization: p": "", "GIT_CONFIG_PARAMETERS='http.extraHeader=Authorization: p'": "",
		"GOPROXY=https://proxy.golang.org,https://u@b.c:80/x@v1": "GOPROXY=https://proxy.golang.org,https://u@b.c:80/x@v1",
		"STRANGE=ghp_" + strings.Repeat("a1B2c3D4e5", 4)[:36]:    "",
	} {
		var is string
		if out := environment([]string{pair}, "/tmp", false, false); len(out) > 0 {
			is = out[0]
		}
		if is != want {
			t.Errorf("%s: %q", pair, is)
		}
	}
	with := environment([]string{"https_proxy=http://outside:1"}, "/tmp", true, false)
	for _, want := range []string{"HTTPS_PROXY=http://127.0.0.1:61080", "https_proxy=http://127.0.0.1:61080"} {
		if !slices.Contains(with, want) {
			t.Errorf("%q lacks %s", with, want)
		}
	}
	isDirect := func(pair string) bool { return strings.HasPrefix(strings.ToLower(pair), "no_proxy=") }
	if near := environment(nil, "/tmp", true, true); !slices.ContainsFunc(with, isDirect) ||
		slices.ContainsFunc(near, isDirect) {
		t.Errorf("who reaches this computer directly: %q, %q", with, near)
	}
}
