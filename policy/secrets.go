package policy

import (
	"path"
	"strings"
)

// secretFolders are files and folders whose contents open doors elsewhere, and so does everything in them.
// In lower case, like the lists below.
var secretFolders = map[string]bool{
	".ssh": true, ".gnupg": true, ".aws": true, ".azure": true, ".kube": true, ".password-store": true,
	".secrets": true, "secrets": true, "keychains": true, "keyrings": true, "kwalletd": true,
	".mozilla": true, ".thunderbird": true, "bravesoftware": true,
}

// secretFiles are names of files that mean nothing as the name of a folder.
var secretFiles = map[string]bool{
	".netrc": true, "_netrc": true, ".pgpass": true, ".my.cnf": true, ".npmrc": true, ".pypirc": true,
	".git-credentials": true, ".vault-token": true, ".dockercfg": true, ".htpasswd": true,
	".bash_history": true, ".zsh_history": true, ".python_history": true, ".psql_history": true,
	"credentials": true, "credentials.json": true, ".credentials.json": true, "oauth_creds.json": true,
	"token": true, ".token": true, "token.json": true, "tokens.json": true, "auth.json": true,
	"secrets.json": true, "secrets.yaml": true, "secrets.yml": true,
	"shadow": true, "gshadow": true, "sudoers": true,
	"cookies": true, "cookies.sqlite": true, "login data": true, "logins.json": true, "key4.db": true,
}

// secretEndings are the ends of names of files that hold keys and tokens.
var secretEndings = []string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc.key", ".token"}

// secretPaths are longer ends, where the last name alone says too little.
var secretPaths = []string{
	".docker/config.json", ".config/gcloud", ".config/gh", ".config/hub", ".config/google-chrome",
	".config/chromium", ".config/microsoft-edge", ".config/rclone", ".cargo/credentials.toml",
	"google/chrome", "application support/firefox", "microsoft/edge", ".terraform.d/credentials.tfrc.json",
}

// holdsSecrets reports whether the path is, or is inside of, something that keeps secrets. It is a guard
// for what passes without a prompt, not a list that anything is safe outside of.
func holdsSecrets(p string) bool {
	p = strings.ToLower(p)
	for rest := p; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		if secretFolders[name] || strings.HasPrefix(name, ".env") || isKeyName(name) || (rest == "" && secretFiles[name]) {
			return true
		}
	}
	for _, s := range secretPaths {
		if i := strings.Index(p, "/"+s); i >= 0 && isWithin(p[i+1:], s) {
			return true
		}
	}
	return false
}

// isKeyName knows the names of private keys: id_rsa and its kin, and what ends like a key.
func isKeyName(name string) bool {
	if strings.HasPrefix(name, "id_") && path.Ext(name) == "" {
		return true
	}
	for _, kind := range [...]string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"} {
		if strings.HasPrefix(name, kind) && !strings.HasSuffix(name, ".pub") {
			return true
		}
	}
	for _, end := range secretEndings {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
