//go:build !linux

package sandbox

import (
	"context"
	"errors"
)

// Engine runs commands in a sandbox.
type Engine struct{}

var errNone = errors.New("the sandbox needs Linux")

// New fails: there is no sandbox on this system.
func New(Kind, string) (*Engine, error) { return nil, errNone }

// Kind is none.
func (*Engine) Kind() (Kind, error) { return "", errNone }

// Temp is where it is outside.
func (*Engine) Temp(p *Profile) string { return p.Temp() }

// Find fails: there is no sandbox on this system.
func Find(context.Context, string) (*Engine, error) { return nil, errNone }

// Try fails: there is no sandbox on this system.
func Try(context.Context, Kind, string) (*Engine, error) { return nil, errNone }

// Uncover does nothing where there is no sandbox.
func (*Profile) Uncover() {}

func mark(string) string { return "" }

// Run fails: there is no sandbox on this system.
func (*Engine) Run(context.Context, Command) (int, error) { return 0, errNone }
