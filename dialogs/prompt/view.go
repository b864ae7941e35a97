package prompt

import (
	"fmt"
	"slices"
	"strings"

	"nod/assets"
	"nod/dialogs/safetext"
	"nod/interact"
	"nod/policy"
	"nod/policy/shell"
)

// View is a prompt as neutral data. Every display of the prompt draws this, and finds out nothing itself about dangers,
// parts or places.
type View struct {
	Head Head

	// The rest is only for approvals.
	Content
	TooLong       bool // the lines are only the beginning: it can be denied, never allowed
	HasHidden     bool // the input contains invisible characters, which are spelled out
	Class         Fact
	SaysClass     bool        // the class adds something to what the head and the facts say
	Level         shell.Level // the highest among the class and all facts
	Says          string      // the agent's description
	SaysLabel     string      // whose words that are
	why, WhyLabel string      // why the user is asked; "" if there is nothing to say
	Reporter      string      // names the machine whose report nod could not verify; "" for none

	Machine string // that reports, by the user's name for it; "" for this one

	byRule bool // a rule or a guard asks, and not the mere want of a rule
}

// Head says who wants what. Names from the requester are escaped, and "" if missing.
type Head struct {
	Agent, Project, Machine, Wish, Object string
	Action                                interact.Action // of an approval
	Origin                                []origin
}

// ViewOf returns the view of a request that the policy decided on. It reads the files that the request would change.
func ViewOf(r interact.Request, why policy.Decision) View {
	a, isApproval := r.Body.(interact.Approve)
	if !isApproval {
		return View{Head: headOf(r, policy.Call{})}
	}
	a = a.Keep()
	r.Body = a
	call := a.Call(r.Requester)
	v := View{Head: headOf(r, call), Content: assess(r, a, call)}
	if v.Plan == "" {
		v.Lines, v.TooLong = TooLong(v.Lines)
	}
	v.noteOdd(v.TooLong)
	v.HasHidden = slices.ContainsFunc(v.Lines, func(l Line) bool {
		return slices.ContainsFunc(l.Spans, func(s safetext.Span) bool { return s.Kind == safetext.Hidden })
	})
	v.Class = Fact{ClassName(why.Class), classLevel(why.Class)}
	if v.isCommand && why.Class == policy.Unknown {
		v.Class.Text = ClassName(policy.Execute)
	}
	v.Level, v.SaysClass = max(v.Class.Level, Worst(v.AllFacts())), v.saysClass(v.Head.Action)
	v.Says = Remark(v.AgentSays)
	if a.Description != "" {
		v.Says = Remark(a.Description)
	}
	v.SaysLabel = tr("agent says:")
	if a.Action() == interact.ReachesOut {
		v.SaysLabel = tr("command:")
	}
	v.why, v.WhyLabel = PlainText(assets.Reason(why.Why())), tr("Why you're asked:")
	v.byRule = why.Rule != ""
	if who := r.Requester; who.IsRemote() { // its relay gives the reason
		v.WhyLabel = tr("Why you're asked, as {{.Machine}} reports:", values{"Machine": machineName(who.Machine)})
		v.Machine, v.Reporter = machineName(who.Machine), reportedBy(who.Machine)
	}
	return v
}

// WhyBeside returns why the user is asked, unless the list of the parts says so. If no rule asks, the reason is what
// the new parts do, which WhyBeside omits if the facts already tell that for each of them.
func (v View) WhyBeside(parts []policy.CommandPart) string {
	isUntold := func(p policy.CommandPart) bool {
		return p.State == policy.PartNew && !slices.Contains(v.described, p.Text)
	}
	isTold := len(parts) > 0 && !v.byRule && !slices.ContainsFunc(parts, isUntold)
	isSaid := func(p PartRow) bool { // a count may follow
		return len(p.Note) >= len(v.why) && strings.EqualFold(p.Note[:len(v.why)], v.why)
	}
	if isTold || slices.ContainsFunc(PartRows(parts), isSaid) {
		return ""
	}
	return v.why
}

func headOf(r interact.Request, call policy.Call) Head {
	wish, object := wishOf(r, call)
	var action interact.Action
	if b, ok := r.Body.(interact.Approve); ok {
		action = actionOf(b)
	}
	return Head{
		Action: action, Agent: AgentOf(r.Requester), Project: safetext.Line(r.Requester.Project(), maxName),
		Machine: onMachine(r.Requester), Wish: wish, Object: object, Origin: originOf(r),
	}
}

// factGroup is a group of facts under a heading, which may be "".
type factGroup struct {
	Heading string
	Facts   []Fact
}

func (v View) factGroups() []factGroup {
	var class []Fact
	if v.SaysClass {
		class = []Fact{v.Class}
	}
	if v.Reporter == "" {
		return []factGroup{{"", worstFirst(append(class, v.Facts...))}}
	}
	own, reported := factGroup{"", v.Facts}, factGroup{v.Reporter, worstFirst(append(class, v.Reported...))}
	if Worst(v.Reported) > Worst(v.Facts) {
		own.Heading = tr("read by nod here")
		return []factGroup{reported, own}
	}
	return []factGroup{own, reported}
}

func (v View) saysClass(action interact.Action) bool {
	if worst := Worst(v.AllFacts()); worst > shell.Note && worst >= v.Class.Level {
		return false
	}
	said, ok := map[interact.Action]policy.Class{
		interact.RunsCommand: policy.Execute, interact.EditsFile: policy.Write, interact.EditsFiles: policy.Write,
		interact.WritesFile: policy.Write, interact.Fetches: policy.Network, interact.ReachesOut: policy.Network,
		interact.OpensURL: policy.Network, interact.CarriesOut: policy.Unknown,
	}[action]
	return !ok || v.Class.Text != ClassName(said) && v.Class.Text != ClassName(policy.Unknown)
}

const maxHeadline = 4

// Said returns what is shown above the input. Headlines are sentences that show in full at any size: the warnings and
// the dangers or, if there are none, the first fact that needs attention. The rest are the other facts, worst first.
func (v View) Said() (headlines []Fact, rest []factGroup) {
	for _, warning := range v.Warnings {
		headlines = append(headlines, Fact{warning, shell.Danger})
	}
	lowest := min(shell.Danger, max(shell.Caution, Worst(v.AllFacts())))
	for _, group := range v.factGroups() {
		n := 0
		for n < min(len(group.Facts), maxHeadline) && group.Facts[n].Level >= lowest {
			if n++; lowest == shell.Caution {
				lowest = shell.Danger
			}
		}
		if n > 0 {
			text := sentence(group.Facts[:n])
			if group.Heading == v.Reporter && v.Reporter != "" {
				text = tr("{{.Machine}} reports: {{.Text}}", values{"Machine": v.Machine, "Text": text})
			}
			headlines = append(headlines, Fact{text, group.Facts[0].Level})
		}
		if group.Facts = group.Facts[n:]; len(group.Facts) > 0 {
			rest = append(rest, group)
		}
	}
	return headlines, rest
}

// PartRow is a line in the list of a command's parts.
type PartRow struct {
	State   policy.PartState
	Text    string // safe to show
	Note    string // what covers the part, or why nod asks about it; "" for none
	Summary bool   // it stands for parts that are not listed
	more    int    // number of parts like it
}

// PartRows lists the parts of a command, each with its state in the policy, so that the user reads only what is new. It
// returns nothing for a single part, which the input shows. With many parts it counts those that only read, and shows
// one for all of the same program with the same note.
func PartRows(parts []policy.CommandPart) []PartRow {
	if len(parts) < 2 {
		return nil
	}
	var rows []PartRow
	onlyRead, left := 0, 0
	isLong, alike := len(parts) > maxPartRows, map[string]int{}
	if isLong { // what is folded away is what asks nothing of the user
		parts = slices.Clone(parts)
		slices.SortStableFunc(parts, func(a, b policy.CommandPart) int { return passes(a) - passes(b) })
	}
	for _, p := range parts {
		row := PartRow{State: p.State, Text: SafeEnds(p.Text), Note: partNote(p)}
		if passes(p) == 0 {
			row.State = policy.PartNew
		}
		program, _, _ := strings.Cut(p.Text, " ")
		key := program + " " + row.Note
		at, isKnown := alike[key]
		switch {
		case isLong && row.State == policy.PartReads:
			onlyRead++
		case isLong && isKnown:
			rows[at].more++
		case len(rows) == maxNewRows:
			left++
		default:
			alike[key] = len(rows)
			rows = append(rows, row)
		}
	}
	for i, row := range rows {
		if row.more > 0 {
			rows[i].Note = strings.TrimSpace(fmt.Sprintf("%s (+%d)", row.Note, row.more))
		}
	}
	summarize := func(state policy.PartState, count int, one, many string) {
		text := tr(one)
		if count > 1 {
			text = tr(many, values{"Count": Number(count)})
		}
		if count > 0 {
			rows = append(rows, PartRow{State: state, Text: text, Summary: true})
		}
	}
	summarize(policy.PartReads, onlyRead, "1 more part", "{{.Count}} more parts")
	summarize(policy.PartNew, left, "1 more part: read the whole command",
		"{{.Count}} more parts: read the whole command")
	return rows
}

// passes returns 1 for a part that passes without the user, else 0. A relay may send any state.
func passes(p policy.CommandPart) int {
	if p.State == policy.PartReads || p.State == policy.PartCovered {
		return 1
	}
	return 0
}
