package language

import (
	"math"

	"github.com/itchyny/gojq"
)

// boundBits stand for the length of a bound variable where it is used, for it does not depend on the input there: with
// so many bits it cannot be taken for any other length.
const boundBits = 1000

// bound bounds a sum over the values of a variable, which are count in number and total in length. What is as long as
// a power of the variable is so altogether as that of the total at most.
func (a growth) bound(count, total growth) growth {
	times := math.Round(a.log / boundBits)
	a.log -= times * boundBits
	if times == 0 {
		return a.times(count)
	}
	for range int(times) {
		a = a.times(total)
	}
	return a
}

// bound is a filter that runs for each output of another one, which a variable is bound to.
func (f flow) bound(source flow) flow {
	sum := func(a growth) growth { return a.bound(source.count, source.total) }
	return flow{sum(f.count), sum(f.total), source.work.plus(source.total).plus(sum(f.work))}
}

// binding judges what a filter does with a variable. Of two inside each other nobody knows how they grow together.
func (r *jqReader) binding(source *gojq.Query, patterns []*gojq.Pattern, body func(source flow) flow) flow {
	from := r.query(source)
	if len(patterns) != 1 || patterns[0].Name == "" || !isFree(patterns[0].Name[1:]) || r.bound != "" {
		return r.refuse(refusal("The jq filter binds a variable in a way that nod does not follow."))
	}
	r.bound = patterns[0].Name
	defer func() { r.bound = "" }()
	return body(from)
}

// reduce adds to a state for each output of a filter. What is added must not depend on how long the state is.
func (r *jqReader) reduce(t *gojq.Reduce) flow {
	start := r.single(t.Start)
	return r.binding(t.Query, t.Patterns, func(source flow) flow {
		step := r.step(t.Update)
		total := start.total.plus(step.total.bound(source.count, source.total))
		work := step.work.bound(source.count, source.total).of(total)
		return flow{once, total, start.work.plus(source.work).plus(source.total).plus(work).plus(source.count.times(total))}
	})
}

// step is what reduce adds to its state.
func (r *jqReader) step(q *gojq.Query) flow {
	isTerm := q.Term != nil && len(q.Term.SuffixList) == 0
	switch {
	case isTerm && q.Term.Type == gojq.TermTypeIdentity:
		return flow{once, once, once}
	case isTerm && q.Term.Type == gojq.TermTypeQuery:
		return r.step(q.Term.Query)
	case isTerm && q.Term.Type == gojq.TermTypeIf && len(q.Term.If.Elif) == 0 && q.Term.If.Else != nil:
		added, other := r.step(q.Term.If.Then), r.step(q.Term.If.Else)
		return added.or(other).with(r.added(q.Term.If.Cond))
	case (q.Op == gojq.OpAdd || q.Op == gojq.OpSub) && q.Left != nil && len(q.Patterns) == 0 && len(q.FuncDefs) == 0:
		return r.step(q.Left).with(r.added(q.Right))
	}
	return r.added(q)
}

// added judges a filter of which one output, of a length of its own, becomes a part of the state.
func (r *jqReader) added(q *gojq.Query) flow {
	f := r.query(q)
	if f.count != once || f.total.degree > 0 {
		r.refuse(errJQGrows)
	}
	return f
}
