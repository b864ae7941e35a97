package asking

import (
	"encoding/json"
	"fmt"
	"slices"

	"fyne.io/fyne/v2/lang"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
	"nod/interact"
	"nod/ipc/device"
	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/policy"
	"nod/policy/shell"
)

// timePlace is where the page puts how long it is until nobody waits any longer.
const timePlace = "{time}"

// revisionOf is another one when the view is, for a device that may answer so much.
func revisionOf(p operator.Prompt, may remote.May) string {
	return fmt.Sprintf("%d %t %s", p.Revision, may.Questions, may.Approvals)
}

// headlineOf is a prompt in one line, without its times.
func headlineOf(p operator.Prompt, may remote.May) device.Headline {
	r := titled(*p.Request)
	return device.Headline{
		ID: r.ID, Revision: revisionOf(p, may), Kind: r.Body.Kind(), Agent: prompt.AgentOf(r.Requester),
		Summary: prompt.SummaryOf(r),
	}
}

// deviceView is a prompt as a device shows it that may answer so much: what a window shows, in the same words.
func deviceView(p operator.Prompt, may remote.May) device.View {
	r, why := titled(*p.Request), p.Why
	if b, ok := r.Body.(interact.Approve); ok {
		why.Class = classOf(r, b, p.Why)
	}
	said := prompt.ViewOf(r, why)
	v := device.View{
		ID: r.ID, Revision: revisionOf(p, may), Kind: r.Body.Kind(), Head: deviceHead(said.Head),
		Silence: prompt.Silence(r, timePlace),
	}
	if b, ok := r.Body.(interact.Approve); ok {
		return approvalView(v, said, r, b, why.Class, p, may)
	}
	yes, no := lang.L("Submit"), lang.L("Decline")
	switch b := r.Body.(type) {
	case api.Ask:
		v.Fields = []device.Field{askField(b)}
	case api.Form:
		v.Title = prompt.PlainText(b.Title)
		for _, q := range b.Questions {
			v.Fields = append(v.Fields, questionField(q))
		}
	case api.Confirm:
		v.Lines = proseLines(b.Message)
		yes, no = prompt.ConfirmLabels(b)
	}
	if !may.Questions {
		v.Limit = lang.L("This device may not answer questions: answer at the desk.")
		return v
	}
	v.Affirm, v.Refuse = []device.Affirmation{{Label: yes}}, &device.Refusal{Label: no}
	return v
}

func deviceHead(said prompt.Head) device.Head {
	h := device.Head{
		Agent: said.Agent, Project: said.Project, Wish: said.Wish, Object: said.Object, Machine: said.Machine,
		Origin: []device.Origin{},
	}
	for _, o := range said.Origin {
		level := device.Note
		if o.From == prompt.Unverified {
			level = device.Caution
		}
		h.Origin = append(h.Origin, device.Origin{Label: o.Label, Level: level, Text: o.Text})
	}
	return h
}

func approvalView(
	v device.View, said prompt.View, r interact.Request, b interact.Approve, counts policy.Class, p operator.Prompt,
	may remote.May,
) device.View {
	v.Level, v.Facts, v.Reported = levelOf(said.Level), deviceFacts(said.Facts), deviceFacts(said.Reported)
	switch class := deviceFacts([]prompt.Fact{said.Class}); {
	case !said.SaysClass:
	case r.Requester.IsRemote() && counts == p.Why.Class:
		v.Reported = append(v.Reported, class...) // its relay has found that
	default:
		v.Facts = append(class, v.Facts...)
	}
	v.Prose, v.Warnings, v.Must, v.TooLong = said.Plan != "", said.Warnings, said.Must, said.TooLong
	for _, d := range said.Dangers {
		v.Dangers = append(v.Dangers, d.Text)
	}
	v.Lines, v.Raw = deviceLines(said.Lines), deviceLines(rawOf(b))
	v.Says, v.WhyLabel, v.Why, v.Reporter = said.Says, said.WhyLabel, said.WhyBeside(p.Offers.Parts), said.Reporter
	v.Parts = deviceParts(p.Offers.Parts)

	labels := prompt.LabelsOf(b)
	v.Refuse = &device.Refusal{
		Label: labels.No, Why: labels.Why, Send: labels.Send, Placeholder: labels.Placeholder,
	}
	switch {
	case said.TooLong:
		v.Limit = lang.L("Too long to show in full, so you can't allow it.")
	case !may.Allows(care(counts, b.Call(r.Requester), said.Content)):
		v.Limit = lang.L("This device may not allow this: allow it at the desk. You can deny it here.")
	default:
		v.Affirm = affirmations(b, labels.Yes)
	}
	return v
}

// classOf is the class of an approval. What another machine reports is believed only where the text does not tell more:
// a relay that lies has no device allow what its user keeps for the desk.
func classOf(r interact.Request, b interact.Approve, why policy.Decision) policy.Class {
	if !r.Requester.IsRemote() {
		return why.Class
	}
	return policy.TextClass(b.Call(r.Requester), why.Class)
}

// care is the class that counts for what a device may allow. What nod finds dangerous destroys, whatever it is. A
// shell's class says nothing, so its commands go by what they are found to do: one that calls for care may delete. Of
// another tool, a field that is called a command says nothing: who asks can add one to any call.
func care(class policy.Class, call policy.Call, c prompt.Content) policy.Class {
	level := prompt.Worst(c.AllFacts())
	switch isCommand := class == policy.Unknown && policy.OnlyRuns(call); {
	case isCommand && level == shell.Note:
		return policy.Execute
	case isCommand, level >= shell.Danger && class != policy.Unknown:
		return policy.Destructive
	}
	return class
}

// affirmations are the ways to allow a call, once.
func affirmations(b interact.Approve, yes string) []device.Affirmation {
	if ask, pass, ok := prompt.PlanWays(b); ok && prompt.IsPlan(b) {
		return []device.Affirmation{
			{Label: lang.L("Approve, ask for each edit"), Suggestion: ask + 1},
			{Label: lang.L("Approve, allow edits"), Suggestion: pass + 1},
		}
	}
	return []device.Affirmation{{Label: yes}}
}

// maxRaw is how long an input is at most, in bytes, that goes to a device as JSON, too.
const maxRaw = 64 << 10

func rawOf(b interact.Approve) []prompt.Line {
	if len(b.Input) > maxRaw || !json.Valid(b.Input) {
		return nil
	}
	return prompt.RawLines(b.Input)
}

func deviceFacts(facts []prompt.Fact) []device.Fact {
	var all []device.Fact
	for _, f := range facts {
		all = append(all, device.Fact{Text: f.Text, Level: levelOf(f.Level)})
	}
	return all
}

func levelOf(l shell.Level) device.Level {
	switch {
	case l >= shell.Danger:
		return device.Danger
	case l > shell.Note:
		return device.Caution
	}
	return device.Note
}

func deviceParts(parts []policy.CommandPart) []device.Part {
	var all []device.Part
	for _, p := range prompt.PartRows(parts) {
		all = append(all, device.Part{Text: p.Text, State: string(p.State), Note: p.Note})
	}
	return all
}

var styles = map[prompt.LineStyle]string{
	prompt.LineText: "text", prompt.LineAdded: "added", prompt.LineRemoved: "removed", prompt.LineTitle: "title",
	prompt.LineKey: "key", prompt.LineNote: "note", prompt.LineRule: "rule", prompt.LineCut: "cut",
}

// kinds are the names of what is not plain about a piece of text.
var kinds = map[safetext.Kind]string{safetext.Hidden: "hidden", safetext.Run: "run", safetext.Suspicious: "suspicious"}

func deviceLines(lines []prompt.Line) []device.Line {
	var all []device.Line
	for _, l := range lines {
		all = append(all, device.Line{Style: styles[l.Style], Lead: l.Lead, Spans: deviceSpans(l.Spans)})
	}
	return all
}

func deviceSpans(spans []safetext.Span) []device.Span {
	var all []device.Span
	for _, s := range spans {
		span := device.Span{Text: s.Text, Kind: kinds[s.Kind]}
		if why := s.Why(); why != "" {
			span.Why = lang.L(why)
		}
		all = append(all, span)
	}
	return all
}

func proseLines(text string) []device.Line {
	var all []device.Line
	for _, row := range safetext.Prose(text) {
		all = append(all, device.Line{Style: styles[prompt.LineText], Spans: deviceSpans(row.Spans)})
	}
	return all
}

func askField(b api.Ask) device.Field {
	f := device.Field{
		Question: proseLines(b.Question), Input: interact.Text, Required: true, Multiline: b.Multiline,
		Placeholder: prompt.PlainText(b.Placeholder),
	}
	if len(b.Options) > 0 {
		f.Input, f.Other = interact.Choice, b.OffersOther()
	}
	for _, o := range b.Options {
		f.Options = append(f.Options, device.Option{Value: o, Label: prompt.PlainText(o)})
	}
	return f
}

func questionField(q api.Question) device.Field {
	f := device.Field{
		ID: q.ID, Header: prompt.PlainText(q.Header), Question: proseLines(q.Question), Input: q.InputType,
		Required: q.IsRequired(), Hint: prompt.HintOf(q), Placeholder: prompt.PlainText(q.Placeholder), Format: q.Format,
		Multi: q.MultiSelect, Default: slices.Clone(q.Default.Items), Min: q.Min, Max: q.Max,
	}
	if q.InputType != interact.Choice {
		f.Input = interact.Text
		return f
	}
	f.Other = q.OffersOther()
	for _, o := range q.Options {
		option := device.Option{
			Value: o.Value, Label: prompt.PlainText(o.Label), Description: prompt.PlainText(o.Description),
			Recommended: o.Recommended,
		}
		if o.Preview != "" {
			option.Preview = proseLines(o.Preview)
		}
		f.Options = append(f.Options, option)
	}
	return f
}
