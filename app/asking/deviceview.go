package asking

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

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

// timePlace marks where the page inserts the time until the caller stops waiting.
const timePlace = "{time}"

// pageView is a prompt as a page shows it. The requester's text is escaped already, so that invisible characters show;
// a page must insert it as text, never as markup. It does not show fields that are missing.
type pageView struct {
	ID       interact.ID `json:"id"`
	Revision string      `json:"revision"`
	Kind     api.Kind    `json:"kind"` // approve, ask, confirm or form
	ArmMS    int64       `json:"arm_ms"`
	Head     pageHead    `json:"head"`

	// Of an approval.
	Level    string      `json:"level,omitempty"`    // of the worst that is known of it
	Facts    []pageFact  `json:"facts,omitempty"`    // what nod worked out: what the call can do first, then the worst
	Reporter string      `json:"reporter,omitempty"` // whose word Reported, Parts and Why are; empty: nod's here
	Reported []pageFact  `json:"reported,omitempty"` // what the asking machine reports besides Facts
	Dangers  []string    `json:"dangers,omitempty"`  // the dangerous parts of a long command
	Warnings []string    `json:"warnings,omitempty"`
	Lines    []pageLine  `json:"lines,omitempty"` // the exact input; of a question or a confirmation its text
	Must     int         `json:"must,omitempty"`  // the first so many lines must have been in view; 0: all of them
	TooLong  bool        `json:"too_long"`        // it cannot be shown whole, so it cannot be allowed
	Prose    bool        `json:"prose,omitempty"` // the lines are a plan, to be read rather than executed
	Parts    []pagePart  `json:"parts,omitempty"` // of a command line: what of it the rules let pass
	Raw      []pageLine  `json:"raw,omitempty"`   // the whole input as JSON, where Lines show it in another way
	Says     string      `json:"says,omitempty"`  // the agent's own description
	WhyLabel string      `json:"why_label,omitempty"`
	Why      string      `json:"why,omitempty"`    // why the user is asked
	Title    string      `json:"title,omitempty"`  // of a form
	Silence  string      `json:"silence,omitzero"` // what happens without an answer, with {time} for when
	Fields   []pageField `json:"fields,omitempty"` // of a question one, of a form all

	Affirm []pageYes `json:"affirm,omitempty"` // the buttons that say yes; none when this device may not
	Refuse *pageNo   `json:"refuse,omitempty"` // the button that says no; nil when this device may not
	Limit  string    `json:"limit,omitempty"`  // what this device may not do here, and why
}

type pageHead struct {
	Agent   string     `json:"agent"`
	Project string     `json:"project,omitempty"`
	Wish    string     `json:"wish"`              // as in "wants to run"
	Object  string     `json:"object,omitempty"`  // of that, in the requester's own word: set it apart
	Machine string     `json:"machine,omitempty"` // as in "on build-1"; empty: on the desk's own
	Origin  []pageFact `json:"origin"`            // caution for what is not verified
}

type pageFact struct {
	Label string `json:"label,omitempty"` // of an origin, as in "verified"
	Text  string `json:"text"`
	Level string `json:"level"` // note, caution or danger
}

type pageLine struct {
	// Style is text, added, removed, title (big), key (name of a field), note (nod's own words), rule (separates two
	// sections, with or without nod's own words) or cut (something is left out here).
	Style string     `json:"style"`
	Lead  string     `json:"lead,omitempty"` // in front of it, where no text of a requester gets: numbers, + and -
	Spans []pageSpan `json:"spans,omitempty"`
}

type pageSpan struct {
	Text string `json:"text"`
	Kind string `json:"kind,omitempty"` // hidden, run or suspicious, as package safetext has them; empty: plain
	Why  string `json:"why,omitempty"`  // what is odd about it
}

type pagePart struct {
	Text  string `json:"text"`
	State string `json:"state"` // as [policy.PartState]
	Note  string `json:"note,omitempty"`
}

// pageYes is a button that says yes.
type pageYes struct {
	Label      string `json:"label"`
	Suggestion int    `json:"suggestion,omitempty"` // goes into the answer
}

// pageNo is the button that says no.
type pageNo struct {
	Label       string `json:"label"`
	Why         string `json:"why,omitempty"`         // the label of what asks for a reason; empty: none can be given
	Send        string `json:"send,omitempty"`        // the label while there is one
	Placeholder string `json:"placeholder,omitempty"` // of the field for it
}

type pageField struct {
	ID          string       `json:"id"` // key in an answer's values; of a question that is not in a form empty
	Header      string       `json:"header,omitempty"`
	Question    []pageLine   `json:"question"`
	Input       string       `json:"input"` // choice or text
	Required    bool         `json:"required"`
	Hint        string       `json:"hint,omitempty"`
	Placeholder string       `json:"placeholder,omitempty"`
	Multiline   bool         `json:"multiline,omitempty"`
	Format      string       `json:"format,omitempty"` // of a text: email, uri, date, date-time, integer, number
	Multi       bool         `json:"multi,omitempty"`  // of a choice: more than one may be picked
	Other       bool         `json:"other,omitempty"`  // of a choice: a text of one's own will do, too
	Options     []pageOption `json:"options,omitempty"`
	Default     []string     `json:"default,omitempty"` // of a choice what is picked, else the text
	Min         *float64     `json:"min,omitempty"`
	Max         *float64     `json:"max,omitempty"`
}

type pageOption struct {
	Value       string     `json:"value"` // goes into the answer as it is; never shown
	Label       string     `json:"label"`
	Description string     `json:"description,omitempty"`
	Recommended bool       `json:"recommended,omitempty"`
	Preview     []pageLine `json:"preview,omitempty"`
}

// revisionOf returns a revision of the view for a device with these permissions. It changes whenever the view does.
func revisionOf(p operator.Prompt, may remote.May) string {
	return fmt.Sprintf("%d %t %s", p.Revision, may.Questions, may.Approvals)
}

// headlineOf returns a prompt in one line, without its times.
func headlineOf(p operator.Prompt, may remote.May) device.Headline {
	r := titled(*p.Request)
	return device.Headline{
		ID: r.ID, Revision: revisionOf(p, may), Kind: r.Body.Kind(), Agent: prompt.AgentOf(r.Requester),
		Summary: prompt.SummaryOf(r),
	}
}

// deviceView returns a prompt for a device with these permissions: what a window shows, in the same words. The device
// can allow it only after armAfter.
func deviceView(p operator.Prompt, may remote.May, armAfter time.Duration) (device.View, error) {
	v := pageViewOf(p, may)
	v.ArmMS = armAfter.Milliseconds()
	text, err := json.Marshal(v)
	all := device.View{
		Text: text, Revision: v.Revision, Kind: v.Kind, ArmAfter: armAfter, Refuses: v.Refuse != nil, Limit: v.Limit,
	}
	all.Suggestions = each(v.Affirm, func(b pageYes) int { return b.Suggestion })
	all.Facts = each(v.Facts, func(f pageFact) string { return f.Text })
	return all, err
}

func pageViewOf(p operator.Prompt, may remote.May) pageView {
	r, why := titled(*p.Request), p.Why
	if b, ok := r.Body.(interact.Approve); ok {
		why.Class = classOf(r, b, p.Why)
	}
	said := prompt.ViewOf(r, why)
	v := pageView{
		ID: r.ID, Revision: revisionOf(p, may), Kind: r.Body.Kind(), Head: deviceHead(said.Head),
		Silence: prompt.Silence(r, timePlace),
	}
	if b, ok := r.Body.(interact.Approve); ok {
		return approvalView(v, said, r, b, why.Class, p, may)
	}
	yes, no := lang.L("Submit"), lang.L("Decline")
	switch b := r.Body.(type) {
	case api.Ask:
		v.Fields = []pageField{askField(b)}
	case api.Form:
		v.Title = prompt.PlainText(b.Title)
		v.Fields = each(b.Questions, questionField)
	case api.Confirm:
		v.Lines = proseLines(b.Message)
		yes, no = prompt.ConfirmLabels(b)
	}
	if !may.Questions {
		v.Limit = lang.L("This device may not answer questions: answer at the desk.")
		return v
	}
	v.Affirm, v.Refuse = []pageYes{{Label: yes}}, &pageNo{Label: no}
	return v
}

func deviceHead(said prompt.Head) pageHead {
	h := pageHead{
		Agent: said.Agent, Project: said.Project, Wish: said.Wish, Object: said.Object, Machine: said.Machine,
		Origin: []pageFact{},
	}
	for _, o := range said.Origin {
		level := shell.Note
		if o.From == prompt.Unverified {
			level = shell.Caution
		}
		h.Origin = append(h.Origin, pageFact{o.Label, o.Text, levelOf(level)})
	}
	return h
}

func approvalView(
	v pageView, said prompt.View, r interact.Request, b interact.Approve, counts policy.Class, p operator.Prompt,
	may remote.May,
) pageView {
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
	v.Refuse = &pageNo{
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

// classOf returns the class of an approval. It believes the class that another machine reports only where the text does
// not tell more, so that a lying relay cannot get a device to allow what its user reserves for the desk.
func classOf(r interact.Request, b interact.Approve, why policy.Decision) policy.Class {
	if !r.Requester.IsRemote() {
		return why.Class
	}
	return policy.TextClass(b.Call(r.Requester), why.Class)
}

// care returns the class that decides what a device may allow. What nod finds dangerous counts as destructive, whatever
// it is. A shell's class says nothing, so its commands are judged by what they do: one that calls for care may delete.
// With other tools a field named command proves nothing: the requester can add one to any call.
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

// affirmations returns the ways to allow a call once.
func affirmations(b interact.Approve, yes string) []pageYes {
	if ask, pass, ok := prompt.PlanWays(b); ok && prompt.IsPlan(b) {
		return []pageYes{
			{Label: lang.L("Approve, ask for each edit"), Suggestion: ask + 1},
			{Label: lang.L("Approve, allow edits"), Suggestion: pass + 1},
		}
	}
	return []pageYes{{Label: yes}}
}

// maxRaw is the longest input, in bytes, that is also sent to a device as JSON.
const maxRaw = 64 << 10

func rawOf(b interact.Approve) []prompt.Line {
	if len(b.Input) > maxRaw || !json.Valid(b.Input) {
		return nil
	}
	return prompt.RawLines(b.Input)
}

// each applies as to every element and returns the results.
func each[T, U any](all []T, as func(T) U) (list []U) {
	for _, one := range all {
		list = append(list, as(one))
	}
	return list
}

func deviceFacts(facts []prompt.Fact) []pageFact {
	return each(facts, func(f prompt.Fact) pageFact { return pageFact{Text: f.Text, Level: levelOf(f.Level)} })
}

func levelOf(l shell.Level) string {
	switch {
	case l >= shell.Danger:
		return "danger"
	case l > shell.Note:
		return "caution"
	}
	return "note"
}

func deviceParts(parts []policy.CommandPart) []pagePart {
	return each(prompt.PartRows(parts), func(p prompt.PartRow) pagePart {
		return pagePart{Text: p.Text, State: string(p.State), Note: p.Note}
	})
}

var styles = map[prompt.LineStyle]string{
	prompt.LineText: "text", prompt.LineAdded: "added", prompt.LineRemoved: "removed", prompt.LineTitle: "title",
	prompt.LineKey: "key", prompt.LineNote: "note", prompt.LineRule: "rule", prompt.LineCut: "cut",
}

// kinds names what is unusual about a piece of text.
var kinds = map[safetext.Kind]string{safetext.Hidden: "hidden", safetext.Run: "run", safetext.Suspicious: "suspicious"}

func deviceLines(lines []prompt.Line) []pageLine {
	return each(lines, func(l prompt.Line) pageLine {
		return pageLine{Style: styles[l.Style], Lead: l.Lead, Spans: deviceSpans(l.Spans)}
	})
}

func deviceSpans(spans []safetext.Span) []pageSpan {
	return each(spans, func(s safetext.Span) pageSpan {
		span := pageSpan{Text: s.Text, Kind: kinds[s.Kind]}
		if why := s.Why(); why != "" {
			span.Why = lang.L(why)
		}
		return span
	})
}

func proseLines(text string) []pageLine {
	return each(safetext.Prose(text), func(r safetext.Row) pageLine {
		return pageLine{Style: styles[prompt.LineText], Spans: deviceSpans(r.Spans)}
	})
}

func askField(b api.Ask) pageField {
	f := pageField{
		Question: proseLines(b.Question), Input: interact.Text, Required: true, Multiline: b.Multiline,
		Placeholder: prompt.PlainText(b.Placeholder),
	}
	if len(b.Options) > 0 {
		f.Input, f.Other = interact.Choice, b.OffersOther()
	}
	f.Options = each(b.Options, func(o string) pageOption { return pageOption{Value: o, Label: prompt.PlainText(o)} })
	return f
}

func questionField(q api.Question) pageField {
	f := pageField{
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
		option := pageOption{
			Value: o.Value, Label: prompt.PlainText(o.Label), Description: prompt.Explanation(o.Description),
			Recommended: o.Recommended,
		}
		if o.Preview != "" {
			option.Preview = proseLines(o.Preview)
		}
		f.Options = append(f.Options, option)
	}
	return f
}
