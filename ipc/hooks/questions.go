package hooks

import (
	"errors"
	"fmt"
	"strings"

	"nod/api"
	"nod/interact"
)

// Question is one question in the form of Claude Code, Codex, Gemini CLI and opencode, which differ only in the name of
// the field for several answers and in what may be omitted.
type Question struct {
	ID          string   `json:"id"`
	Question    string   `json:"question"`
	Header      string   `json:"header"`
	Type        string   `json:"type"` // Gemini CLI: choice, text, yesno
	Options     []option `json:"options"`
	MultiSelect bool     `json:"multiSelect"`
	Multiple    bool     `json:"multiple"`     // opencode
	Several     bool     `json:"multi_select"` // Kimi Code
	Custom      *bool    `json:"custom"`       // opencode
	Placeholder string   `json:"placeholder"`
}

type option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Preview     string `json:"preview"`
}

// Asks makes the step ask questions. The agent reads what reply returns for the picks for each question, in order.
// Without an answer the agent asks them itself, as [Step.Silence] says.
func (s Step) Asks(questions []Question, reply func(picks [][]string) (any, error)) (Step, error) {
	f, err := form(questions)
	if err != nil {
		return Step{}, err
	}
	s.Ask = f
	s.Reply = Answered(func(a interact.Answer) (any, error) { return reply(picks(questions, a)) })
	return s, nil
}

// NoRefusal precedes answers that are passed on as the reason of a denial.
const NoRefusal = "This is not a refusal: the user has answered in another window."

// form converts an agent's questions to one form. The ids of the answers are "0", "1", … in order.
func form(questions []Question) (api.Form, error) {
	if len(questions) == 0 {
		return api.Form{}, errors.New("no questions")
	}
	var f api.Form
	for i, q := range questions {
		out := api.Question{
			ID: fmt.Sprint(i), Question: q.Question, Header: q.Header, Placeholder: q.Placeholder,
			MultiSelect: q.MultiSelect || q.Multiple || q.Several, AllowOther: q.Custom, InputType: interact.Choice,
		}
		for _, o := range q.Options {
			out.Options = append(out.Options, o.interact())
		}
		switch {
		case q.Type == "yesno":
			out.Options = []api.Option{{Label: "Yes"}, {Label: "No"}}
		case len(q.Options) == 0:
			out.InputType = interact.Text
			out.MultiSelect = false
		}
		f.Questions = append(f.Questions, out)
	}
	return f, nil
}

// interact converts the mark that models put into a label to nod's badge. The answer is the original label.
func (o option) interact() api.Option {
	out := api.Option{Label: o.Label, Value: o.Label, Description: o.Description, Preview: o.Preview}
	for _, mark := range []string{"(recommended)", "(推荐)", "（推荐）"} {
		label := strings.TrimSpace(o.Label)
		if n := len(label) - len(mark); n > 0 && strings.EqualFold(label[n:], mark) {
			out.Label, out.Recommended = strings.TrimSpace(label[:n]), true
		}
	}
	return out
}

func picks(questions []Question, a interact.Answer) [][]string {
	all := make([][]string, len(questions))
	for i := range questions {
		all[i] = []string{}
		for _, item := range a.Values[fmt.Sprint(i)].Items {
			if item != "" {
				all[i] = append(all[i], item)
			}
		}
	}
	return all
}
