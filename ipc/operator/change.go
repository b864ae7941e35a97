package operator

import (
	"context"
	"errors"

	"nod/policy/config"
)

// maxTries limits the attempts of a change while others change the configuration, too.
const maxTries = 5

// Change applies f to the configuration, starting from base, and tries again if somebody else changes it meanwhile. It
// returns the new configuration. It fails with [config.ErrChanged] after maxTries attempts.
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
