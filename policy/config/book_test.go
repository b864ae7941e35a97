package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"nod/policy"
)

func grant(input string, scope policy.Scope) policy.Grant {
	return policy.Grant{
		ID: uuid.NewString(), Scope: scope, Agent: "claude-code", CWD: "/srv", Tool: "Bash",
		InputSHA256: fmt.Sprintf("%064x", input), Created: time.Now(),
	}
}

// A call that a grant allows does not wait for the disk while the file of grants is written, and is counted later.
func TestAUseDoesNotWaitForTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grants.json")
	book := openBook(path, func() {})
	kept := grant("a", policy.Always)
	err := book.keep([]policy.Grant{kept})
	if err == nil {
		err = book.change(func() error { // as while it is being written
			book.use(kept.ID)
			return nil
		})
	}
	if err == nil {
		err = book.Close()
	}
	if list := openBook(path, func() {}).Grants(); err != nil || len(list) != 1 || list[0].Uses != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A nod that is killed has saved the uses without which a grant would rest; one that ends has saved them all.
func TestUsesThatOutliveNod(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grants.json")
	book := openBook(path, func() {})
	kept := grant("a", policy.Always)
	if err := book.keep([]policy.Grant{kept}); err != nil {
		t.Fatal(err)
	}
	saved := func(want int) {
		t.Helper()
		if list := openBook(path, func() {}).Grants(); len(list) != 1 || list[0].Uses != want {
			t.Errorf("%+v, want %d uses", list, want)
		}
	}
	book.use(kept.ID)
	book.late.Wait()
	saved(1)
	book.use(kept.ID)
	book.late.Wait()
	saved(1)
	if err := book.Close(); err != nil {
		t.Fatal(err)
	}
	saved(2)
}

// Whoever reads, or counts a use, does not wait while a change is told of.
func TestReadsDoNotWaitForAChange(t *testing.T) {
	kept := grant("a", policy.Always)
	kept.LastUsed = time.Now() // a use is no change that is told of
	var book *book
	reads := 0
	book = openBook(filepath.Join(t.TempDir(), "grants.json"), func() { // called in the midst of a change
		reads++
		book.Grants()
		_, _, _ = book.HeldGrants(), book.grantsErr(), book.Grants()
		book.use(kept.ID)
	})
	if err := book.keep([]policy.Grant{kept}); err != nil {
		t.Fatal(err)
	}
	if err := book.Revoke(kept.ID); err != nil {
		t.Fatal(err)
	}
	if reads != 2 {
		t.Errorf("%d changes were told of, want 2", reads)
	}
}

// No use is lost to a change at the same time.
func TestUsesAreCountedDuringChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grants.json")
	book := openBook(path, func() {})
	used := grant("a", policy.Always)
	if err := book.keep([]policy.Grant{used}); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				book.use(used.ID)
			}
		})
	}
	for i := range 10 {
		if err := book.keep([]policy.Grant{grant(fmt.Sprint(i), policy.Always)}); err != nil {
			t.Fatal(err)
		}
	}
	group.Wait()
	if err := book.Close(); err != nil {
		t.Fatal(err)
	}
	again := openBook(path, func() {})
	if list := again.Grants(); len(list) != 11 || list[0].Uses != 400 {
		t.Errorf("%d grants, the first used %d times, want 11 and 400 (%v)", len(list), list[0].Uses, again.grantsErr())
	}
}

// The grants of one answer are kept together, and too many of them not at all.
func TestKeepsAllOrNone(t *testing.T) {
	book := openBook(filepath.Join(t.TempDir(), "grants.json"), func() {})
	var many []policy.Grant
	for i := range policy.MaxGrants + 1 {
		many = append(many, grant(fmt.Sprint(i), policy.UntilQuit))
	}
	if err := book.keep(many); err == nil || !strings.Contains(err.Error(), "revoke some") {
		t.Errorf("too many: %v", err)
	}
	if n := len(book.Grants()); n != 0 {
		t.Errorf("%d of too many are kept", n)
	}
	if err := book.keep(many[1:]); err != nil || len(book.Grants()) != policy.MaxGrants {
		t.Errorf("just enough: %v, %d", err, len(book.Grants()))
	}
}

// A grant that the file never held is revoked without touching a file that cannot be read.
func TestRevokeLeavesABrokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grants.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	book, short := openBook(path, func() {}), grant("a", policy.UntilQuit)
	if err := book.keep([]policy.Grant{short}); err != nil {
		t.Fatal(err)
	}
	if err := book.Revoke(short.ID); err != nil || len(book.Grants()) != 0 {
		t.Errorf("%v, %d grants", err, len(book.Grants()))
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "{" {
		t.Errorf("the file is %q now (%v)", text, err)
	}
}
