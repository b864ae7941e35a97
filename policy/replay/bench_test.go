package replay_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"nod/agents/claude"
	"nod/policy"
	"nod/policy/replay"
)

// BenchmarkRun replays 100,000 calls.
func BenchmarkRun(b *testing.B) {
	b.Setenv("HOME", "/home/dev")
	var files []replay.File
	for _, name := range []string{"claude-go.jsonl", "claude-typescript.jsonl", "claude-python.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			b.Fatal(err)
		}
		for i := range 112 {
			project := bytes.ReplaceAll(text, []byte("/home/dev/"), []byte("/home/dev/p"+strconv.Itoa(i%40)+"/"))
			files = append(files, replay.File{
				Name: name, Size: int64(len(project)),
				Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(project)), nil },
				Read: claude.Agent.Transcripts.Read,
			})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		sim, err := policy.NewSimulation(policy.Default(), policy.DefaultPlaces())
		if err != nil {
			b.Fatal(err)
		}
		report, err := replay.Run(b.Context(), files, sim, replay.Options{})
		if err != nil || report.Calls < 100_000 {
			b.Fatalf("%+v, %v", report, err)
		}
	}
}
