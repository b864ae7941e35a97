//go:build !linux

package sandbox

import (
	"context"
	"errors"
)

// Engine runs commands in a sandbox.
type Engine struct{}

// Main does nothing where there is no sandbox.
func Main() {}

var errNone = errors.New("the sandbox needs Linux")

// New fails: there is no sandbox on this system.
func New(Kind, string) (*Engine, error) { return nil, errNone }

// Temp returns the same path as outside.
func (*Engine) Temp(p *Profile) string { return p.Temp() }

// Find fails: there is no sandbox on this system.
func Find(context.Context, string) (Trial, error) { return Trial{}, errNone }

// Uncover does nothing where there is no sandbox.
func (*Profile) Uncover() {}

func mark(string) string { return "" }

// Run fails: there is no sandbox on this system.
func (*Engine) Run(context.Context, Command) (int, error) { return 0, errNone }
