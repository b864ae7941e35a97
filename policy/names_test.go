package policy

import (
	"runtime"
	"strings"
	"testing"

	"nod/policy/shell"
	"nod/policy/shell/language"
)

// secretPaths are one to a line, and each must be asked about.
const secretPaths = `
/home/u/.config/nats/context/prod.json
/home/u/.local/share/nats/nsc/keys/creds/a.creds
/home/u/.mcp-auth/mcp-remote-0.1.18/a_tokens.json
/home/u/.doppler/.doppler.yaml
/home/u/.b2_account_info
/home/u/.jfrog/jfrog-cli.conf.v6
/home/u/.cache/huggingface/stored_tokens
keys/private_key.txt
secret_key.txt
.api_key
.secret_key
vpn/wg0.conf
/home/u/.acme.sh/account.conf
/home/u/.smbcredentials
/home/u/.gitlab-runner/config.toml
/home/u/.config/mutt/muttrc
/home/u/.bashrc
/home/u/.zshenv
/home/u/.config/environment.d/keys.conf
/etc/environment
/etc/apt/auth.conf.d/a.conf
/etc/postfix/sasl_passwd.db
src/.idea/dataSources.local.xml
src/.git/logs/HEAD
.local/share/crush/crush.json
/home/u/.tsh/keys/proxy/u
/home/u/.modal.toml
/home/u/.config/fish/fish_variables
local.settings.json
sftp-config.json
.env
src/.env
.env.local
.env.production.local
.env-prod
.envrc
prod.env
deploy/staging.env
.dev.vars
a.pem
SERVER.PEM
tls/site.key
a.p12
a.pfx
AuthKey_1.p8
release.jks
release.keystore
release.bks
a.kdbx
a.kdb
a.ppk
a.age
client.ovpn
a.mobileprovision
a.der
a.keytab
id_rsa
id_rsa.bak
id_ed25519
id_ecdsa_sk
id_work
deploy_rsa
ssh_host_ed25519_key
/etc/ssh/ssh_host_rsa_key
~/.ssh/config
~/.ssh/id_rsa.pub
/home/u/.ssh/known_hosts
~/.gnupg/pubring.kbx
~/.password-store/a.gpg
~/.local/share/gopass/stores/root/a
~/.config/op/config
~/.config/Bitwarden/data.json
~/.config/keepassxc/keepassxc.ini
~/Library/Application Support/1Password/a
~/Library/Keychains/login.keychain-db
~/.local/share/keyrings/login.keyring
secrets/prod.json
k8s/secrets.yaml
.secrets/x
.secrets.toml
my.secrets
/etc/ipsec.secrets
credentials
credentials.json
credentials.toml
gcp_credentials.json
client_secret_1.json
service-account-prod.json
app-firebase-adminsdk-x.json
token
auth.json
master.key
.htpasswd
.vault-token
.vault_pass.txt
wp-config.php
config/database.yml
~/.claude/.credentials.json
~/.claude.json
~/.codex/auth.json
~/.gemini/oauth_creds.json
~/.gemini/google_accounts.json
~/.local/share/opencode/auth.json
~/.config/github-copilot/hosts.json
~/.config/github-copilot/apps.json
~/.cursor/auth.json
~/.codeium/windsurf/x
~/.continue/config.yaml
~/.aider.conf.yml
~/.cache/huggingface/token
~/.kaggle/kaggle.json
~/.aws/credentials
~/.aws/sso/cache/x.json
~/.azure/msal_token_cache.json
~/.config/gcloud/credentials.db
~/.config/gcloud/application_default_credentials.json
~/.boto
~/.config/doctl/config.yaml
~/.fly/config.yml
~/.config/netlify/config.json
~/.vercel/auth.json
~/.local/share/com.vercel.cli/auth.json
~/.wrangler/config/default.toml
~/.config/configstore/firebase-tools.json
~/.config/heroku/config.json
~/.config/hcloud/cli.toml
~/.oci/config
~/.terraform.d/credentials.tfrc.json
~/.terraformrc
infra/terraform.tfstate
infra/terraform.tfstate.backup
infra/prod.tfvars
infra/prod.auto.tfvars.json
~/.pulumi/credentials.json
~/.kube/config
kubeconfig
prod.kubeconfig
~/.docker/config.json
~/.config/containers/auth.json
~/.config/helm/registry/config.json
~/.config/rclone/rclone.conf
~/.s3cfg
~/.chef/knife.rb
~/.netrc
_netrc
~/.authinfo
~/.git-credentials
~/.config/git/credentials
~/.config/gh/hosts.yml
~/.config/glab-cli/config.yml
.git/config
src/a/.git/config
~/.npmrc
.yarnrc.yml
~/.pypirc
~/.config/pip/pip.conf
~/.config/pypoetry/auth.toml
~/.cargo/credentials
~/.cargo/credentials.toml
~/.gem/credentials
~/.bundle/config
~/.composer/auth.json
~/.m2/settings.xml
~/.m2/settings-security.xml
~/.gradle/gradle.properties
NuGet.Config
~/.hex/hex.config
~/.conan/.conan.db
~/.pgpass
~/.my.cnf
~/.dbt/profiles.yml
~/.databrickscfg
~/.snowsql/config
~/.bash_history
~/.zsh_history
~/.histfile
~/.local/share/fish/fish_history
~/.python_history
~/.node_repl_history
~/.psql_history
~/.mysql_history
~/.sqlite_history
~/.rediscli_history
~/.mongosh/.mongosh_history
~/.irb_history
~/.local/state/bash/history
~/.codex/history.jsonl
~/.cursor/mcp.json
/var/lib/systemd/coredump/x
id_rsa/..namedfork/data
~/.lesshst
~/.viminfo
~/.mozilla/firefox/p/places.sqlite
~/.config/google-chrome/Default/Cookies
~/.config/chromium/Default/History
~/.config/microsoft-edge/Default/Login Data
~/.config/BraveSoftware/Brave-Browser/Default/x
~/.config/vivaldi/Default/x
~/.config/opera/x
~/Library/Safari/History.db
~/Library/Application Support/Google/Chrome/Default/Cookies
~/Library/Application Support/Firefox/Profiles/x
~/snap/firefox/common/.mozilla/x
~/.var/app/com.google.Chrome/config/x
c:/Users/u/AppData/Local/Google/Chrome/User Data/Default/x
~/.config/Signal/config.json
~/.local/share/TelegramDesktop/tdata/x
~/.config/Slack/x
~/.config/discord/x
~/.bitcoin/wallet.dat
~/.config/solana/id.json
/etc/shadow
/etc/shadow-
/etc/sudoers
/etc/sudoers.d/x
/etc/NetworkManager/system-connections/x
/etc/letsencrypt/live/x
/var/lib/NetworkManager/x
/private/etc/sudoers.d/x
/root/.claude/.credentials.json
/Users/u/Library/Mail/x
`

// openPaths are what people read all day.
const openPaths = `
README.md
main.go
src/token/token.go
src/tokenizer.ts
src/auth/auth.go
auth.ts
src/secret.go
secrets.go
credentials.go
internal/credentials/store.go
id_generator.go
ids.go
id_rsa.pub
.env.example
.env.sample
.env.template
.env.dist
environment.md
src/env.ts
.environment
config.json
docker/config.json
package.json
package-lock.json
tsconfig.json
Makefile
Dockerfile
docker-compose.yml
go.mod
Cargo.toml
.cargo/config.toml
settings.xml
pom.xml
.gitignore
.gitattributes
.github/workflows/ci.yml
.vscode/settings.json
.mcp.json
.cursor/mcp.json
.claude/settings.json
CLAUDE.md
HISTORY.md
history.go
src/history/index.ts
keys.go
key.ts
src/keystore.go
shadow.css
cookies.ts
cookie-jar.js
password.go
passwords.go
vault.go
wallet.go
.editorconfig
.eslintrc.json
/etc/hosts
/etc/passwd
/etc/os-release
/usr/share/dict/words
~/.cargo/registry/src/x/lib.rs
~/go/pkg/mod/x/y.go
~/src/google/chrome/a.cc
~/.local/share/applications/a.desktop
library/mail/a.py
/tmp/x
`

func TestSecretNames(t *testing.T) {
	n := 0
	for path := range strings.FieldsFuncSeq(secretPaths, isNewline) {
		n++
		if !IsSecret(path) {
			t.Errorf("%s holds no secrets", path)
		}
		if odd := strings.NewReplacer("s", "ſ", "k", "\u212a").Replace(path); !IsSecret(odd) ||
			!IsSecret(strings.ToUpper(path)) {
			t.Errorf("%s in other letters holds no secrets", path)
		}
	}
	if n < 150 {
		t.Errorf("%d names, want at least 150", n)
	}
	for path := range strings.FieldsFuncSeq(openPaths, isNewline) {
		if e := secrets().find(path, ""); e != nil {
			t.Errorf("%s holds secrets, as %s", path, e.text)
		}
	}
}

func isNewline(r rune) bool { return r == '\n' }

// Every entry of the lists is found by its own name, so that none is spelled in vain.
func TestNamesFindThemselves(t *testing.T) {
	for name, l := range map[string]*nameList{"secrets": secrets(), "guarded": guarded()} {
		for _, e := range l.entries {
			if e.except {
				if found := l.find(strings.ReplaceAll(e.text, "*", "x.y"), ""); found != nil && !found.below {
					t.Errorf("%s: !%s is still %s", name, e.text, found.text)
				}
				continue
			}
			path := strings.ReplaceAll(e.text, "*", "x")
			if e.root == anywhere {
				path = "/srv/" + path
			}
			if e.below {
				path += "/x/y"
			}
			if l.find(path, "") == nil {
				t.Errorf("%s: %s is not found as %s", name, e.text, path)
			}
		}
	}
}

func TestGuardedNames(t *testing.T) {
	guardedPaths := []string{
		".git/config", ".git/config.worktree", ".git/config.lock", ".git/hooks/pre-commit", ".git/info/attributes", ".git",
		".git/modules/a/config", ".git/modules/a/hooks/x", ".gitmodules", ".gitconfig", ".husky/pre-commit",
		".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/a.sh", ".claude/agents/a.md",
		".claude/commands/a.md", ".claude/skills/a/SKILL.md", ".claude/plugins/x", ".claude/CLAUDE.md", ".claude/new-thing",
		".claude/worktrees/a/.claude/settings.json", ".claude/worktrees/a/.git/hooks/x", ".claude",
		".mcp.json", ".codex/config.toml", ".gemini/settings.json", ".opencode/plugin/a.js", "opencode.json",
		"opencode.jsonc",
		".amp/settings.json", ".github/hooks/a.json", ".kimi-code/config.toml",
		".cursor/rules/a.mdc", ".cursor/mcp.json", ".windsurf/rules", ".continue/config.yaml", ".aider.conf.yml",
		".vscode/settings.json", ".vscode/tasks.json", ".vscode/launch.json", ".vscode/extensions.json", ".vscode/mcp.json",
		".vscode", "a.code-workspace", ".idea/workspace.xml", ".idea/externalTools.xml", ".nvim.lua", ".exrc", ".nvimrc",
		".vimrc", ".emacs", ".dir-locals.el", ".envrc", ".pre-commit-config.yaml", "lefthook.yml", "lefthook-local.toml",
		".config/lefthook.json", ".lefthook-local/pre-commit/x", "prek.toml",
		"mise/config.toml", "mise.ci.toml", ".npmrc", ".yarnrc",
		".yarnrc.yml", ".pnpmfile.cjs", ".cargo/config", ".cargo/config.toml", "rust-toolchain", "rust-toolchain.toml",
		".bazelrc", ".mvn/extensions.xml", "gradle/wrapper/gradle-wrapper.properties", "gradle", ".tool-versions",
		".mise.toml", ".devcontainer/devcontainer.json", ".github/workflows/ci.yml", ".gitlab-ci.yml", "sitecustomize.py",
		"usercustomize.py", "a.pth", "pip.conf", "~/.bashrc", "~/.config/fish/config.fish", "~/.config/autostart/a.desktop",
		"~/.config/systemd/user/a.service", "~/.config/environment.d/a.conf", "~/.config/hypr/hyprland.conf",
		"~/.config/i3/config", "~/.config/sway/config", "~/Library/LaunchAgents/a.plist", "~/.local/bin/a", "~/bin/a",
		"~/.ssh/authorized_keys", "~/.gnupg/gpg.conf", "/etc/profile.d/a.sh", "/var/spool/cron/crontabs/u",
		"/usr/local/bin/a",
		"~/.config", "~/.local", "/private/etc/hosts",
		"c:/Users/u/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup/a.bat",
	}
	g := newGuard(Places{Home: "/home/u"})
	judge := func(path string) string {
		path = strings.Replace(path, "~", "/home/u", 1)
		if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "c:") {
			path = "/home/u/src/shop/" + path
		}
		reason := g.judge(&access{place: place{clean: path, real: path}, kind: shell.Write}).Reason
		return reason
	}
	for _, path := range guardedPaths {
		for _, p := range []string{path, strings.ToUpper(path), strings.ReplaceAll(path, "s", "ſ")} {
			if strings.HasPrefix(path, "c:") && p != path {
				continue
			}
			if judge(p) == "" {
				t.Errorf("%s is not guarded", p)
			}
		}
	}
	for _, path := range []string{
		"main.go", "README.md", "package.json", "package-lock.json", "Makefile", "go.mod", "go.sum", "Cargo.toml",
		"Cargo.lock",
		"pyproject.toml", "setup.py", "tsconfig.json", "vite.config.ts", "a_test.go", "src/config/config.go", ".gitignore",
		".gitattributes", ".editorconfig", ".prettierrc", ".eslintrc.json", ".env", "Dockerfile", "docker-compose.yml",
		"CLAUDE.md", "AGENTS.md", "GEMINI.md", ".github/CODEOWNERS", ".github/dependabot.yml", "bin/run", "scripts/build.sh",
		"build.gradle", "settings.gradle", "pom.xml", "etc/app.conf", "lib/a.rb", "usr/bin/a", "config/settings.json",
		"git/config",
		"hooks/useThing.ts", "claude/settings.json", ".claude/plans/a.md", ".claude/worktrees/a/src/main.go", "opencode.go",
		"~/.claude/projects/x/memory/MEMORY.md", "~/.claude/plans/a.md", "~/notes/a.md", "/tmp/a", "/srv/etc/x", "/var/tmp/a",
		"src/.config/app.toml", "library/a.py", ".vscode/c_cpp_properties.json", "docs/.vitepress/config.ts",
	} {
		if reason := judge(path); reason != "" {
			t.Errorf("%s: %s", path, reason)
		}
	}
}

func TestMayMatch(t *testing.T) {
	tests := []struct {
		glob            string
		pattern, narrow bool // as a pattern of files that are read, and as one that narrows a search
	}{
		{"*.go", false, false}, {"**/*.go", false, false}, {"src/**/*.{ts,tsx}", false, false}, {"*.test.ts", false, false},
		{
			"*.json",
			false,
			false,
		}, {"**/*.{yml,yaml}", false, false}, {"go.*", true, false}, {"*_test.go", true, false}, {"test_*.py", true, false}, {
			"package.json", false, false,
		},
		{"*", true, false}, {"**/*", true, false}, {"**", true, false}, {"src/*", true, false}, {"***", true, false},
		{".env", true, true}, {".ENV", true, true}, {"**/.env", true, true}, {".env*", true, true}, {".e*", true, true},
		{".?nv", true, true}, {".[e]nv", true, true}, {"{a,.env}", true, true}, {"{a,{b,.env}}", true, true}, {
			"*env", true, true,
		},
		{"*.pem", true, true}, {"a.pem", true, true}, {"*.{go,key}", true, true}, {"*.env", true, true}, {
			"*.local", true, true,
		},
		{".env.go", true, true}, {"id_*", true, true}, {"c*", true, true}, {"cred*", true, true}, {"*auth*", true, true},
		{
			"auth*.go",
			true,
			false,
		}, {"*rsa*", true, true}, {"*secret*", true, true}, {".docker/*", true, true}, {"a/.docker/**", true, true}, {
			".ssh/**", true, true,
		},
		{"secrets/*.yaml", true, true}, {"config/*.yaml", false, false}, {"*.tfvars", true, true}, {".*", true, true},
		{"{" + strings.Repeat("a,", 100) + "b}", true, true}, {strings.Repeat("a/", 20) + "b", true, true}, {
			`\.env`, true, true,
		},
		{"app/(auth)/[id]/*.tsx", false, false},
		{"src/[ab]/*.go", false, false}, {"[", true, true}, {"", false, false}, {"}{", false, false},
	}
	for _, tt := range tests {
		if got := secrets().mayMatch(tt.glob, true); got != tt.pattern {
			t.Errorf("%q as a pattern: %v, want %v", tt.glob, got, tt.pattern)
		}
		if got := narrowsToSecrets(tt.glob); got != tt.narrow {
			t.Errorf("%q narrows to secrets: %v, want %v", tt.glob, got, tt.narrow)
		}
	}
}

// Two patterns meet when there is a name that both match: one that is found by matching is one.
func FuzzNamesMeet(f *testing.F) {
	for _, s := range [][3]string{{"*.pem", "a*", "a.pem"}, {"?", "*", "x"}, {"a*b*", "*ba*", "aba"}, {"", "*", ""}} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, a, b, name string) {
		if len(a)+len(b)+len(name) > 200 || isWild(name) {
			return
		}
		meet := namesMeet(a, b)
		if meet != namesMeet(b, a) {
			t.Fatalf("%q and %q: it depends on their order", a, b)
		}
		if language.Wildcard(a, name) && language.Wildcard(b, name) && !meet {
			t.Fatalf("%q and %q both match %q, and do not meet", a, b, name)
		}
		if !isWild(a) && meet != language.Wildcard(b, a) {
			t.Fatalf("%q and %q: meet %v", a, b, meet)
		}
	})
}

// What a pattern matches and holds secrets is what the pattern may match, for patterns without the exceptions.
func FuzzMayMatch(f *testing.F) {
	f.Add("**/.e*", "a/.env")
	f.Add("{a,b}/*.p?m", "b/x.pem")
	f.Fuzz(func(t *testing.T, glob, path string) {
		if len(glob) > 300 || len(path) > 300 {
			return
		}
		secrets().mayMatch(glob, true)
		Leaks(shell.Access{Path: glob, Kind: shell.Read})
		Leaks(shell.Access{Path: path, Kind: shell.Tree, Only: []string{glob}})
		e := secrets().find(path, "")
		if e != nil && !isWild(path) && !strings.ContainsAny(path, `[]{}\(|^#,`) && e.root == anywhere &&
			!strings.Contains(path, "//") && !strings.HasPrefix(path, "./") && strings.Count(path, "/") < maxGlobParts &&
			!secrets().mayMatch(path, true) {
			t.Fatalf("%q holds secrets as %s, and a pattern that is just that may match none", path, e.text)
		}
	})
}

func BenchmarkNames(b *testing.B) {
	for name, path := range map[string]string{
		"ASCII": "/home/u/src/shop/internal/store/store.go", "other": "/home/u/src/größe/a.go",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				secrets().find(path, "/home/u")
			}
		})
	}
	for name, glob := range map[string]string{"usual": "src/**/*.{ts,tsx}", "odd": "src/**/auth*"} {
		b.Run("glob/"+name, func(b *testing.B) {
			for b.Loop() {
				narrowsToSecrets(glob)
			}
		})
	}
}

// Names that open the same file here are one to a rule.
func TestFold(t *testing.T) {
	for _, tt := range []struct {
		path, other string
		same        bool
	}{
		{"/a/SRC", "/a/src", foldsCase},
		{"/a/cafe\u0301", "/a/café", foldsCase},
		{"/a/.env. ", "/a/.env", runtime.GOOS == "windows"},
		{"/a/.env::$DATA", "/a/.env", runtime.GOOS == "windows"},
	} {
		if same := fold(tt.path) == fold(tt.other); same != tt.same {
			t.Errorf("%q and %q are the same: %v", tt.path, tt.other, same)
		}
	}
}
