package dialogs

import (
	"testing"

	"nod/interact"
	"nod/policy"
)

// samples are one of each kind of prompt.
var samples = map[string]interact.Request{
	"approve": bash("1", "mkdir -p build && rm -rf build/cache"),
	"ask": request("2", interact.Ask{
		Question: "Which database should the **shop** use?",
		Options:  []string{"SQLite", "PostgreSQL", "MariaDB"},
	}),
	"confirm": request("3", interact.Confirm{
		Message:  "Deploy version `2.4.0` to production now?",
		YesLabel: "Deploy", NoLabel: "Not yet",
	}),
	"form": request("4", interact.Form{Title: "New service", Questions: []interact.Question{
		{ID: "lang", Header: "Language", Question: "Which language?", Options: []interact.Option{
			{Label: "Go", Description: "Static binary, quick to build", Recommended: true},
			{Label: "Rust", Description: "No garbage collector"},
		}},
		{ID: "name", Header: "Name", Question: "What shall it be called?", InputType: interact.Text, Placeholder: "orders"},
	}}),
}

func TestGoldenPages(t *testing.T) {
	for name, r := range samples {
		for _, look := range []string{"light", "dark", "zh-CN"} {
			t.Run(name+"/"+look, func(t *testing.T) {
				s := newScreen(t)
				dress(t, look)
				s.open(r)
				s.ready()
				assertGolden(t, "prompt/"+name+"-"+look, s.canvas().Capture())
			})
		}
	}
}

var _ = policy.Once
