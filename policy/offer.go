package policy

import "time"

// Offers are all that a prompt may say and offer about one call.
type Offers struct {
	Parts  []CommandPart `json:"parts,omitempty"` // of a command line that can be judged in parts
	Grants []Offer       `json:"grants,omitempty"`
}

// An Offer is what an allow can keep.
type Offer struct {
	Scope Scope `json:"scope"`
	Cover Cover `json:"cover"`
	// Object is the tool, host or folder that it covers; empty for what the call itself says.
	Object string `json:"object,omitempty"`
	Text   string `json:"text"` // what will be saved, word for word: what all of it shares, then a line for each grant
}

// GrantText is the text of an offer; empty where nothing is offered.
func (o Offers) GrantText(scope Scope, cover Cover) string { return o.Grant(scope, cover).Text }

// Grant is the offer of that scope and cover; the zero Offer where there is none.
func (o Offers) Grant(scope Scope, cover Cover) Offer {
	for _, offer := range o.Grants {
		if offer.Scope == scope && offer.Cover == cover {
			return offer
		}
	}
	return Offer{}
}

// NewOffers works out what a prompt may offer for a call, beside the grants that the policy has. While the
// configuration is broken the parts are judged by what is left of the policy, and the offers by the last good one.
func NewOffers(c Call, parts, good *Compiled, now time.Time) Offers {
	f := newFacts(&c, good, now)
	offers := Offers{Grants: f.offers()}
	if parts != good {
		f = newFacts(&c, parts, now)
	}
	offers.Parts = f.commandParts()
	return offers
}

// offers lists what can be kept, by what it covers and from the narrowest scope.
func (f *facts) offers() []Offer {
	if f.call.Refused {
		return nil
	}
	var offers []Offer
	for _, cover := range Covers {
		list, err := f.grantsFor(cover)
		for _, scope := range Scopes {
			if err != nil || f.maySpan(scope, cover) != nil {
				continue
			}
			for i := range list {
				list[i].Scope = scope
			}
			home := f.policy.places.Home
			offers = append(offers, Offer{scope, cover, list[0].object(home), grantsText(list, home)})
		}
	}
	return offers
}

// commandParts says of each part of a command line what it is to the policy. There are none for calls that run no
// command, and where the command can only be judged as a whole.
func (f *facts) commandParts() []CommandPart {
	verdicts, _ := f.judgeParts()
	var parts []CommandPart
	for _, v := range verdicts {
		part := CommandPart{Text: v.part.Text, State: v.state, By: v.by.Rule, Why: v.part.Why}
		if v.file != nil {
			part.Text, part.Why = "> "+v.file.clean, ""
		}
		parts = append(parts, part)
	}
	return parts
}
