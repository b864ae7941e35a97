package app

import (
	"context"

	"nod/agents/transcript"
	"nod/app/settings"
	"nod/policy/replay"
)

// replay puts what agents did so far before the policy. It reads their transcripts and keeps nothing of them.
func (p *program) replay(ctx context.Context, progress func(part float64)) (settings.Replay, error) {
	sim, err := p.store.Simulate()
	if err != nil {
		return settings.Replay{}, err
	}
	files, err := transcript.FindAll()
	if err != nil {
		return settings.Replay{}, err
	}
	var size, read int64
	for _, f := range files {
		size += f.Size
	}
	report, err := replay.Run(ctx, files, sim, replay.Options{Suggest: true, Progress: func(n int64) {
		if read += n; size > 0 {
			progress(min(float64(read)/float64(2*size), 1)) // they are read twice, and may grow meanwhile
		}
	}})
	if err != nil {
		return settings.Replay{}, err
	}
	return replayed(report), nil
}

func replayed(r *replay.Report) settings.Replay {
	past := settings.Replay{
		Transcripts: r.Files, Calls: r.Calls, Asked: r.Asked, Always: r.Always, WithRules: r.Rules.Asked,
	}
	for _, s := range r.Rules.Rules {
		past.Rules = append(past.Rules, settings.Spared{Rule: s.Rule, Spares: s.Spares})
	}
	return past
}
