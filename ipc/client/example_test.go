package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/e2e/ipctest"
	"nod/interact"
	"nod/ipc/client"
	"nod/ipc/interrupt"
)

// answering returns a client of a nod-desktop before which somebody answers everything with a.
func answering(a interact.Answer) (c *client.Client, stop func()) {
	person := &interacttest.Prompter{Answer: interacttest.Always(a)}
	s, err := ipctest.Start(person, &interacttest.Policy{})
	if err != nil {
		log.Fatal(err)
	}
	return s.Client, func() {
		if err := s.Close(); err != nil {
			log.Fatal(err)
		}
	}
}

// An agent that waits for the user.
func ExampleApprover() {
	c, stop := answering(interact.Answer{Outcome: api.Denied, Reason: "not on a Friday"}) // client.Discover()
	defer stop()
	var gate client.Gate = &client.Approver{Client: c, Common: api.Common{Agent: "deployer"}}

	d, err := gate.Approve(context.Background(), "deploy", json.RawMessage(`{"to":"production"}`), "execute")
	switch {
	case err != nil:
		fmt.Println("nobody decided, so stop:", err)
	case d.Allowed:
		fmt.Println("deploy")
	default:
		fmt.Println("tell the model:", d.Reason)
	}
	// Output: tell the model: not on a Friday
}

// An agent that stops while the user thinks, and goes on in another process.
func ExampleApprover_interrupt() {
	c, stop := answering(interact.Answer{Outcome: api.Allowed}) // client.Discover()
	defer stop()
	approver := &client.Approver{Client: c, Interrupt: true, Common: api.Common{Agent: "deployer", Timeout: 86_400}}
	deploy := func(ctx context.Context) error {
		d, err := approver.Approve(ctx, "deploy", json.RawMessage(`{"to":"production"}`), "execute")
		if err == nil {
			fmt.Println("allowed:", d.Allowed)
		}
		return err
	}

	var state []byte // in a file, a database, …
	if i, ok := interrupt.Get(deploy(context.Background())); ok {
		state, _ = json.Marshal(i)
	}
	if state == nil {
		return // the user was quick
	}

	var i interrupt.Error // the next day
	if err := json.Unmarshal(state, &i); err != nil {
		log.Fatal(err)
	}
	if _, err := c.Request(context.Background(), i.RequestID, time.Minute); err != nil {
		log.Fatal(err)
	}
	if err := deploy(interrupt.WithResumeValue(context.Background(), &i)); err != nil {
		log.Fatal(err)
	}
	// Output: allowed: true
}

// What to do when nobody decided.
func ExampleAsker() {
	c, stop := answering(interact.Answer{Outcome: api.Dismissed}) // client.Discover()
	defer stop()
	asker := &client.Asker{Client: c}

	r, err := asker.Ask(context.Background(), api.AskRequest{
		Ask: api.Ask{Question: "Which database?", Options: []string{"SQLite", "Postgres"}},
	})
	if u, ok := errors.AsType[*interrupt.UndecidedError](err); ok {
		fmt.Println("tell the model that there is no answer:", u.Outcome)
	} else if err == nil {
		fmt.Println("use", r.Answer)
	}
	// Output: tell the model that there is no answer: dismissed
}
