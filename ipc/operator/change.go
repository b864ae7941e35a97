package operator

import (
	"context"
	"errors"

	"nod/policy/config"
)

// maxTries is how often a change is tried while others change the configuration, too.
const maxTries = 5

// Change makes a change of the configuration, which is f, from base on: more than once where somebody else changes it
// meanwhile. It returns the configuration as it then is. The error is [config.ErrChanged] when it keeps changing.
func Change(ctx context.Context, o Operator, base config.Config, f func(*config.Config) error) (config.Config, error) {
	err := error(config.ErrChanged)
	for range maxTries {
		next := base.Clone()
		if err := f(&next); err != nil {
			return base, err
		}
		if err = o.Replace(ctx, base, next); err == nil {
			return next, nil
		}
		if !errors.Is(err, config.ErrChanged) {
			break
		}
		s, err := o.State(ctx)
		if err != nil {
			return base, err
		}
		base = s.Config
	}
	return base, err
}
