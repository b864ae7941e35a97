package prompt

import (
	"slices"

	"nod/assets"
	"nod/dialogs/safetext"
	"nod/interact"
	"nod/policy"
	"nod/policy/shell"
)

// View is a prompt in neutral data. Whatever shows the prompt draws this, and works out nothing of its own about
// dangers, parts or places.
type View struct {
	Head Head

	// The rest is of approvals.
	Content
	TooLong       bool // the lines are only the beginning: it can be denied, never allowed
	Class         Fact
	Says          string // the agent's description
	WhyLabel, Why string // why the user is asked
	Reporter      string // names the machine whose report nod could not verify; "" for none
}

// Head says who wants what. Names of the requester are escaped, and "" if there is none.
type Head struct {
	Agent, Project, Machine, Wish, Object string
	Origin                                []Origin
}

// ViewOf returns the view of a request that the policy decided on. It reads the files that the request would change.
func ViewOf(r interact.Request, why policy.Decision) View {
	v := View{Head: headOf(r)}
	a, isApproval := r.Body.(interact.Approve)
	if !isApproval {
		return v
	}
	v.Content = assess(r, a)
	if v.Plan == "" {
		v.Lines, v.TooLong = TooLong(v.Lines)
	}
	v.noteOdd(v.TooLong)
	v.Class = v.ClassFact(why.Class)
	v.Says = PlainText(v.AgentSays)
	if a.Description != "" {
		v.Says = PlainText(a.Description)
	}
	v.Why, v.WhyLabel = PlainText(assets.Reason(why.Reason)), tr("Why you're asked:")
	if who := r.Requester; who.IsRemote() { // its relay gives the reason
		v.WhyLabel = tr("Why you're asked, as {{.Machine}} reports:", values{"Machine": MachineName(who.Machine)})
		v.Reporter = reportedBy(who.Machine)
	}
	return v
}

func headOf(r interact.Request) Head {
	wish, object := wishOf(r)
	return Head{
		Agent: AgentOf(r.Requester), Project: safetext.Line(r.Requester.Project(), MaxName),
		Machine: OnMachine(r.Requester), Wish: wish, Object: object, Origin: originOf(r),
	}
}

// Level is the highest level among the class and all facts.
func (v View) Level() shell.Level { return max(v.Class.Level, Worst(v.AllFacts())) }

// FactGroup are facts under a heading; "" for none.
type FactGroup struct {
	Heading string
	Facts   []Fact
}

// FactGroups returns all facts, most serious first: nod's own, and those that another machine reports.
func (v View) FactGroups() []FactGroup {
	if v.Reporter == "" {
		return []FactGroup{{"", append([]Fact{v.Class}, v.Facts...)}}
	}
	own, reported := FactGroup{"", v.Facts}, FactGroup{v.Reporter, append(slices.Clone(v.Reported), v.Class)}
	if Worst(v.Reported) > Worst(v.Facts) {
		own.Heading = tr("read by nod here")
		return []FactGroup{reported, own}
	}
	return []FactGroup{own, reported}
}

// PartRow is a line in the list of a command's parts.
type PartRow struct {
	State   policy.PartState
	Text    string // safe to show
	Note    string // what covers the part, or why nod asks about it; "" for none
	Summary bool   // it stands for parts that are not listed
}

// PartRows lists the parts of a command, each with its state in the policy, so that the user reads only what is new. It
// returns nothing if the list would add nothing: there are no parts, or only one, which only reads.
func PartRows(parts []policy.CommandPart) []PartRow {
	if len(parts) == 0 || len(parts) == 1 && parts[0].State == policy.PartReads {
		return nil
	}
	shown, onlyRead, left := pickParts(parts)
	var rows []PartRow
	for _, p := range shown {
		row := PartRow{State: p.State, Text: SafeEnds(p.Text)}
		if p.State != policy.PartReads && p.State != policy.PartCovered { // a relay may say anything
			row.State = policy.PartNew
		}
		if len(parts) > 1 {
			row.Note = partNote(p)
		}
		rows = append(rows, row)
	}
	if onlyRead > 0 {
		text := tr("{{.Count}} more parts", values{"Count": onlyRead})
		rows = append(rows, PartRow{State: policy.PartReads, Text: text, Summary: true})
	}
	if left > 0 {
		text := tr("{{.Count}} more parts: read the whole command", values{"Count": left})
		rows = append(rows, PartRow{State: policy.PartNew, Text: text, Summary: true})
	}
	return rows
}
