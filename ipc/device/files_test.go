package device_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"nod/assets"
	"nod/ipc/device/page"
)

// names are the files of the page.
func names(t testing.TB) []string {
	t.Helper()
	all, err := fs.Glob(page.Files, "*")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := page.Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Every sentence of the page is there in Chinese, in the words of the windows where these say it, too, and no other is.
func TestEverySentenceIsTranslated(t *testing.T) {
	windows, err := assets.Sentences("zh-CN")
	if err != nil {
		t.Fatal(err)
	}
	var translated map[string]string
	if err := json.Unmarshal(read(t, "zh-CN.json"), &translated); err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	sources, problems := []string{"answer.go", "problem.go", "push.go", "routes.go", "server.go"}, regexp.MustCompile(
		`(?:failed\(code\w+, |Invalid\(|Forbidden\(|code\w+, Message: )"([^"]+)"`)
	for _, name := range names(t) {
		for _, found := range regexp.MustCompile(`\bt\((?:'([^']+)'|"([^"]+)")`).FindAllSubmatch(read(t, name), -1) {
			said[string(found[1])+string(found[2])] = true
		}
	}
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range problems.FindAllSubmatch(text, -1) {
			said[string(found[1])] = true
		}
	}
	marks := regexp.MustCompile(`\{\{\.\w+\}\}`)
	for s := range said {
		chinese := translated[s]
		if chinese == "" {
			t.Errorf("%q is not translated", s)
		}
		if in := windows[s]; in != "" && in != chinese {
			t.Errorf("%q is %q here and %q in the windows", s, chinese, in)
		}
		want, got := marks.FindAllString(s, -1), marks.FindAllString(chinese, -1)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			t.Errorf("%q has the values %q, in Chinese %q", s, want, got)
		}
	}
	for s := range translated {
		if !said[s] {
			t.Errorf("%q is translated, and the page does not say it", s)
		}
	}
}

// The worker keeps all files of the page but itself: without one of them the page does not start offline.
func TestTheShellIsWhole(t *testing.T) {
	list := regexp.MustCompile(`(?s)const shell = \[(.*?)\]`).FindSubmatch(read(t, "sw.js"))
	if list == nil {
		t.Fatal("sw.js names no shell")
	}
	var kept []string
	for _, found := range regexp.MustCompile(`'/([^']*)'`).FindAllSubmatch(list[1], -1) {
		kept = append(kept, string(found[1]))
	}
	want := []string{""}
	for _, name := range names(t) {
		if name != "sw.js" && name != "index.html" {
			want = append(want, name)
		}
	}
	slices.Sort(kept)
	slices.Sort(want)
	if !slices.Equal(kept, want) {
		t.Errorf("the shell is %q, the files %q", kept, want)
	}
}

// TestNothingIsInline holds the page to what its Content-Security-Policy permits.
func TestNothingIsInline(t *testing.T) {
	index := read(t, "index.html")
	for what, pattern := range map[string]string{
		"a script": `<script(?:[^>]*)>\s*[^<\s]`, "a style": `<style|\sstyle=`, "a listener": `\son\w+=`,
		"an address elsewhere": `(?:src|href)="[^/]`,
	} {
		if found := regexp.MustCompile(pattern).Find(index); found != nil {
			t.Errorf("index.html has %s inline: %s", what, found)
		}
	}
	forbidden := regexp.MustCompile(
		`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://`)
	for _, name := range names(t) {
		if found := forbidden.Find(read(t, name)); found != nil {
			t.Errorf("%s has %s", name, found)
		}
	}
}

// BenchmarkPage reports what the page weighs, and how long after it was opened a paired device shows the first prompt:
// with nothing kept, and then with what the browser keeps.
func BenchmarkPage(b *testing.B) {
	var raw, packed int
	for _, name := range names(b) {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, _ = w.Write(read(b, name))
		_ = w.Close()
		raw, packed = raw+len(read(b, name)), packed+z.Len()
	}
	var cold, kept float64
	count := 0.0
	for b.Loop() {
		desk, s := newDesk(b, Command())
		p := newPhone(b, desk, s)
		p.pair(everything)
		kept += p.firstPrompt()
		call(p, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
		call(p, network.SetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: true})
		cold += p.firstPrompt()
		count++
	}
	b.ReportMetric(float64(raw), "bytes")
	b.ReportMetric(float64(packed), "bytes-gzip")
	b.ReportMetric(cold/count, "ms-cold")
	b.ReportMetric(kept/count, "ms-kept")
}

// firstPrompt opens the page anew and returns how many milliseconds later the prompt was drawn.
func (p *phone) firstPrompt() float64 {
	p.run(chromedp.Reload())
	p.title("wants to run")
	return eval[float64](p, `performance.getEntriesByName('prompt')[0].startTime`)
}
