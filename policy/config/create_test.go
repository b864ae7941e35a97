package config

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

func TestCreateWritesAFileOnlyWhenThereIsNone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "nod", "config.yaml")
	s, err := Open(path, filepath.Join(dir, "nod", "grants.json"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if created, err := s.Create(); err != nil || !created {
		t.Fatalf("Create() = %v, %v, want true", created, err)
	}
	if err := s.Err(); err != nil {
		t.Errorf("the fresh file is broken: %v", err)
	}
	mine := []byte("policy: [")
	if err := os.WriteFile(path, mine, 0o600); err != nil {
		t.Fatal(err)
	}
	if created, err := s.Create(); err != nil || created {
		t.Errorf("Create() over a file = %v, %v, want false", created, err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, mine) {
		t.Errorf("Create() changed the file to %q", got)
	}
}
