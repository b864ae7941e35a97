package policy

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"
)

var offerCalls = map[string]Call{
	"new parts":         bash("cd sub && go test ./... && make install > out.txt"),
	"a part is covered": bash("go build ./x && go vet"),
	"reads only":        bash("ls | head"),
	"an edit":           file("Write", "/home/ann/shop/a.go").with(func(c *Call) { c.CWD = "/home/ann/shop" }),
	"no session":        bash("make").with(func(c *Call) { c.Session = "" }),
	"a tool":            file("mcp__x__y", "/srv/x"),
	"a page":            page("https://docs.rs/x"),
	"a search":          call("WebSearch", `{"query":"go"}`),
	"is always asked":   bash("ls\u200b"),
	"may leak":          bash("cat .env; make"),
	"a question":        file("AskUserQuestion", ""),
}

// A prompt offers what a grant would keep, word for word, and nothing else.
func TestOffersAreWhatGrantsKeep(t *testing.T) {
	p := withGrants(t, "go build")
	for name, call := range offerCalls {
		offers, texts := NewOffers(call, p, p, testNow), 0
		for _, scope := range append([]Scope{"forever"}, Scopes...) {
			for _, cover := range append([]Cover{"all"}, Covers...) {
				text := ""
				if list, err := NewGrants(call, scope, cover, p, testNow); err == nil {
					text = grantsText(list, p.places.Home)
					texts++
				}
				if got := offers.Grant(scope, cover).Text; got != text {
					t.Errorf("%s: %s of %s: offered %q, kept %q", name, scope, cover, got, text)
				}
			}
		}
		if len(offers.Grants) != texts {
			t.Errorf("%s: %d offers, want %d", name, len(offers.Grants), texts)
		}
	}
}

// What is offered would allow the call: nobody is asked again about what they allowed for longer. A command with a path
// that nod doesn't know is not read, so nothing about files is offered for it.
func TestOffersAllowTheCall(t *testing.T) {
	p := compiled(t, Default())
	calls := maps.Clone(offerCalls)
	calls["not read"] = call("Bash", `{"command":"git push","files":"a"}`)
	for name, call := range calls {
		for _, offer := range NewOffers(call, p, p, testNow).Grants {
			list, err := NewGrants(call, offer.Scope, offer.Cover, p, testNow)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if d := Decide(call, p.WithGrants(list), testNow); d.Effect != Allow {
				t.Errorf("%s: %s of %s was allowed, and is %s: %s", name, offer.Scope, offer.Cover, d.Effect, d.Reason)
			}
		}
	}
}

func TestOffersSurviveJSON(t *testing.T) {
	p := withGrants(t, "go build")
	for name, call := range offerCalls {
		want := NewOffers(call, p, p, testNow)
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Offers
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %+v, want %+v", name, err, got, want)
		}
	}
}

func BenchmarkOffers(b *testing.B) {
	p := withGrants(b, "go build")
	for name, call := range map[string]Call{
		"short": bash("cd sub && go test ./... | tail -5"),
		"long":  bash(strings.Repeat("go test ./a && npm run lint && make x; ", 50)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				NewOffers(call, p, p, testNow)
			}
		})
	}
}
