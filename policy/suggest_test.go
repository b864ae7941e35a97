package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// decidedIn is an answer of the user to a command in a folder.
func decidedIn(folder, command string, e Effect) Past {
	c := bash(command)
	c.CWD = folder
	return Past{c, e}
}

func written(folder, path string) Past {
	input, _ := json.Marshal(map[string]string{"file_path": path, "content": "x"})
	return Past{Call{Agent: "claude-code", Tool: "Write", CWD: folder, Input: ReadInput(input)}, Allow}
}

func repeat(n int, p Past) []Past {
	var all []Past
	for range n {
		all = append(all, p)
	}
	return all
}

func suggest(t testing.TB, past []Past, p Policy) []Suggestion {
	t.Helper()
	s, err := NewSimulation(p, Places{Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Suggest(t.Context(), past, testNow)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSuggestIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := simulate(t, Default()).Suggest(ctx, repeat(3, decidedIn("/src/a", "make all", Allow)), testNow)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestSuggest(t *testing.T) {
	a, b := "/home/ann/shop", "/home/ann/blog"
	allowed := func(commands ...string) (past []Past) {
		for _, command := range commands {
			past = append(past, decidedIn(a, command, Allow))
		}
		return past
	}
	for name, tt := range map[string]struct {
		past []Past
		want string // the suggested rules
	}{
		"too few": {repeat(2, decidedIn(a, "make all", Allow)), ""},
		"one project": {
			repeat(3, decidedIn(a, "make all", Allow)), "allow-make-all allow Bash command=make all cwd=/home/ann/shop calls=3;",
		},
		"several projects": {
			append(repeat(2, decidedIn(a, "make all", Allow)), decidedIn(b, "make all", Allow)),
			"allow-make-all allow Bash command=make all calls=3;",
		},
		"commands": {
			allowed("go test ./x", "cd sub && go test -run Y . | tail", "go vet && go test",
				"go vet ./...", "go vet", "go test .", "go vet .", "go build"),
			"allow-go-test allow Bash run=go test cwd=/home/ann/shop/** calls=3;" +
				"allow-go-vet allow Bash run=go vet cwd=/home/ann/shop/** calls=3;",
		},
		"commands of each project": {append(allowed("go test", "go test"), repeat(2, decidedIn(b, "go test", Allow))...), ""},
		"beside another":           {allowed("go test && go build", "go test", "go test"), ""},
		"a line": {
			allowed("go test && go vet", "go test && go vet", "go test && go vet"),
			"allow-go-test-go-vet allow Bash command=go test && go vet cwd=/home/ann/shop calls=3;",
		},
		"too long to show": {repeat(3, decidedIn(a, "make "+strings.Repeat("x", maxSuggested), Allow)), ""},
		"one was denied": {
			append(allowed("go test", "go test .", "go test", "pytest", "pytest", "pytest"),
				decidedIn(a, "pytest x", Deny)),
			"allow-go-test allow Bash run=go test cwd=/home/ann/shop/** calls=3;",
		},
		"targets": {
			allowed("make", "make", "make"), "allow-make allow Bash command=make cwd=/home/ann/shop calls=3;",
		},
		"tells what to run": {
			allowed("sh x", "sh x", "sh x"), "allow-sh-x allow Bash command=sh x cwd=/home/ann/shop calls=3;",
		},
		"writes a file": {
			allowed("make x>o", "make x>o", "make x>o"),
			"allow-make-x-o allow Bash command=make x>o cwd=/home/ann/shop calls=3;",
		},
		"reads secrets": {allowed("cat .env; go test", "cat .env; go test", "cat .env; go test"), ""},
		"always denied": {
			repeat(4, decidedIn(a, "git push", Deny)), "deny-git-push deny Bash command=git push cwd=/home/ann/shop calls=4;",
		},
		"once otherwise": {append(repeat(5, decidedIn(a, "make all", Allow)), decidedIn(a, "make all", Deny)), ""},
		"files": {
			[]Past{written(a, a+"/x.go"), written(a, "y.go"), written(a, a+"/z/z.go")},
			"allow-write-shop allow Write path=/home/ann/shop/** calls=3;",
		},
		"files outside":     {[]Past{written(a, a+"/x.go"), written(a, "y.go"), written(a, "/etc/z")}, ""},
		"guarded files":     {repeat(3, written(a, a+"/.git/config")), ""},
		"hidden characters": {repeat(3, decidedIn(a, "make\u202e all", Allow)), ""},
		"drives the screen": {repeat(3, decidedIn(a, "xdotool key Return", Allow)), ""},
		"no folder":         {repeat(3, decidedIn("", "make all", Allow)), ""},
		"odd folder":        {repeat(3, decidedIn("/home/*", "make all", Allow)), ""},
		"nothing to bound": {repeat(9, Past{Call{
			Agent: "a", Tool: "mcp__x__deploy", CWD: a, Input: ReadInput([]byte(`{"to":"prod"}`)),
		}, Allow}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, s := range suggest(t, tt.past, Default()) {
				r := s.Rule
				got += fmt.Sprintf("%s %s %s", r.ID, r.Effect, r.Tool)
				run := strings.Join(r.Run, "|")
				for _, f := range []struct {
					key, value string
				}{{"command", r.Command}, {"run", run}, {"path", r.Path}, {"cwd", r.CWD}} {
					if f.value != "" {
						got += " " + f.key + "=" + f.value
					}
				}
				got += fmt.Sprintf(" calls=%d;", len(s.Calls))
				if err := errors.Join(r.Validate(), r.CheckExamples()); err != nil {
					t.Error(err)
				}
				if len(r.Run) > 0 && r.Note == "" {
					t.Error("no note")
				}
			}
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// To allow what deletes, installs, publishes or reaches other computers is never suggested, however often it was
// allowed: the next time it may be the wrong thing, and cannot be taken back.
func TestSuggestNothingThatActs(t *testing.T) {
	for _, command := range []string{
		"git push", "git push origin main", "git push --force", "git fetch", "git pull", "git clone https://x.io/y",
		"git commit -m x && git push", "git reset --hard", "git clean -fd", "git checkout .", "git branch -D x", "git rm x",
		"git stash drop", "git tag -d x", "git rebase main", "rm x", "rm -rf node_modules", "rm -r build && make",
		"find . -delete", "ls | xargs rm", "sh -c 'rm x'", "truncate -s 0 x", "mv a b", "unlink x", "shred x",
		"npm install", "npm i x", "npm ci", "npm publish", "npm run deploy", "npm run clean", "npx cowsay", "yarn add x",
		"pnpm i", "pip install x", "uv sync", "poetry install", "go get x", "go install x", "cargo install x",
		"cargo publish", "gem install x", "bundle install", "composer install", "apt-get install x", "brew install x",
		"gh pr create --fill", "gh release create v1", "gh api x", "glab mr create", "hub pr", "docker push me/x",
		"docker rm x", "docker system prune", "curl https://x.io", "curl -X POST https://x.io -d @f", "wget x.io",
		"nc h 1", "scp a b:c", "rsync -a . h:", "ssh h ls", "mail x", "kubectl delete pod x", "kubectl apply -f x",
		"kubectl get pods", "helm uninstall x", "terraform apply", "terraform destroy", "aws s3 rm s3://x",
		"aws s3 cp a s3://x",
		"firebase deploy", "netlify deploy", "fly deploy", "vercel", "heroku deploy", "redis-cli flushall",
		"psql -c 'drop table x'", "rake db:drop", "make clean", "make install", "make deploy", "bash deploy.sh",
		"./release.sh", "kill 1", "sudo make all", "python -c 'print(1)'", "deno run https://x.io/y.ts",
	} {
		for _, s := range suggest(t, repeat(5, decidedIn("/home/ann/shop", command, Allow)), Default()) {
			t.Errorf("%s: suggested %+v", command, s.Rule)
		}
	}
}

func TestSuggestNamesNoRuleTwice(t *testing.T) {
	p := Default()
	p.Rules = []Rule{
		{ID: "allow-make-all", Effect: Allow, Tool: "Other"},
		{ID: "allow-make-all-2", Effect: Deny, Tool: "Other"},
	}
	got := suggest(t, repeat(3, decidedIn("/src/a", "make all", Allow)), p)
	if len(got) != 1 || got[0].Rule.ID != "allow-make-all-3" {
		t.Errorf("got %+v", got)
	}
}

// What a rule decides already is not suggested again, and a suggestion that was added is none any more.
func TestSuggestIsDoneOnceAdded(t *testing.T) {
	past := repeat(3, decidedIn("/src/a", "make all", Allow))
	p := Default()
	got := suggest(t, past, p)
	got[0].Rule.ID = "zz"
	p.Rules = append(p.Rules, got[0].Rule)
	if again := suggest(t, past, p); len(again) != 0 {
		t.Errorf("suggested again: %+v", again)
	}
}

// manyAnswers are a thousand answers that as many rules as possible could have given.
func manyAnswers() []Past {
	var past []Past
	for i := range 334 {
		for j := range 3 {
			switch i % 3 {
			case 0:
				past = append(past, decidedIn("/srv/shop", fmt.Sprintf("make target-%d", i), Allow))
			case 1:
				past = append(
					past,
					decidedIn(fmt.Sprintf("/srv/p%d", i), fmt.Sprintf("cd sub && go test -run Test%d ./... | tail", j), Allow),
				)
			default:
				past = append(past, written(fmt.Sprintf("/srv/p%d", i), fmt.Sprintf("src/%d.go", j)))
			}
		}
	}
	return past
}

func BenchmarkSuggest(b *testing.B) {
	past := manyAnswers()
	for _, n := range []int{0, 1000} {
		p := Default()
		for i := range n {
			p.Rules = append(p.Rules, benchmarkRule(i))
		}
		b.Run(fmt.Sprintf("%d rules", n), func(b *testing.B) {
			for b.Loop() {
				if got := suggest(b, past, p); len(got) != maxSuggestions {
					b.Fatalf("%d suggestions", len(got))
				}
			}
		})
	}
}
