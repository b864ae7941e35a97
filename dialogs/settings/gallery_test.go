package settings

import (
	"os"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/test"

	"nod/assets"
	"nod/dialogs/dialogstest"
	"nod/ipc/remote"
)

func TestMain(m *testing.M) {
	if err := assets.SetLanguage("en"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// view is a state of the window.
type view struct {
	name string
	dark bool // there is a dark golden image, too
	size fyne.Size
	open func(t *testing.T, theme string) *Window
}

// draw opens the view and lays out what has grown, which the test's canvas does only when its size changes.
func (v view) draw(t *testing.T, theme string) fyne.Window {
	w := v.open(t, theme)
	size := v.size.Max(w.Win.Content().MinSize())
	w.Win.Resize(size.AddWidthHeight(0, 1))
	w.Win.Resize(size)
	return w.Win
}

var ordinary = fyne.NewSize(900, 600)

// pages are the pages of the window in order.
var pages = []view{
	{"general", true, ordinary, onPage(onGeneral)},
	{"allow", true, ordinary, onPage(onAllow)},
	{"answers", true, ordinary, onPage(onAnswers)},
	{"folders", true, ordinary, onPage(onFolders)},
	{"sandbox", true, ordinary, onPage(onSandboxPage)},
	{"suggestions", true, ordinary, onPage(onSuggestions)},
	{"agents", true, ordinary, onPage(onAgentsPage)},
	{"attention", true, ordinary, onPage(onAttention)},
	{"machines", true, ordinary, onPage(onMachines)},
	{"history", true, ordinary, onPage(onHistory)},
	{"about", true, ordinary, onPage(onAbout)},
}

// onPage opens the settings of somebody on a page.
func onPage(page int) func(*testing.T, string) *Window {
	return func(t *testing.T, theme string) *Window {
		w := openWindow(t, somebody(), theme)
		w.tabs.selectIndex(page)
		return w
	}
}

// states are what comes of the pages when something is done to them, and what stands in their place.
var states = []view{
	{"allow-whole", true, fyne.NewSize(900, 920), onPage(onAllow)},
	{"editor", true, fyne.NewSize(900, 760), func(t *testing.T, theme string) *Window {
		w := onPage(onAllow)(t, theme)
		w.allow.edit(w.state.Config.Policy.Rules[0])
		return w
	}},
	{"agents-setup", true, fyne.NewSize(900, 760), func(t *testing.T, theme string) *Window {
		w, c, _ := onAgents(t, somebody(), theme, "claude-code")
		test.Tap(c.setUp)
		test.Tap(buttonIn(t, c.body, lang.L("Set up")))
		test.Tap(w.cardOf(t, "gemini-cli").setUp)
		return w
	}},
	{"agents-dead", true, ordinary, func(t *testing.T, theme string) *Window {
		w, c, _ := onAgents(t, somebody(), theme, "claude-code")
		c.hooked(t, goneNod)
		w.cardOf(t, "gemini-cli").hooked(t, "/opt/nod/bin/nod")
		return w
	}},
	{"sandbox-whole", true, fyne.NewSize(900, 920), onPage(onSandboxPage)},
	{"sandbox-missing", false, ordinary, func(t *testing.T, theme string) *Window {
		o := &fakeOperator{}
		o.state.Sandbox = "bubblewrap (bwrap) is not installed: install the package bubblewrap, and start nod again."
		w := openWindow(t, o, theme)
		w.tabs.selectIndex(onSandboxPage)
		return w
	}},
	{"history-problem", false, ordinary, func(t *testing.T, theme string) *Window {
		o := &fakeOperator{}
		o.state.Config, o.state.Journal = fewRules(), someJournal()
		o.state.Journal.Problem = "the disk is full"
		w := openWindow(t, o, theme)
		w.tabs.selectIndex(onHistory)
		return w
	}},
	{"grants-held", false, ordinary, func(t *testing.T, theme string) *Window {
		o := somebody()
		o.state.HeldGrants, o.state.Grants = o.state.Grants, nil
		w := openWindow(t, o, theme)
		w.tabs.selectIndex(onAnswers)
		return w
	}},
	{"past-offer", false, fyne.NewSize(900, 580), openPast},
	{"past", false, ordinary, func(t *testing.T, theme string) *Window {
		w := openPast(t, theme)
		test.Tap(buttonIn(t, w.suggestions.replay.content, lang.L(lookAtThePast)))
		return w
	}},
	{"review", true, ordinary, func(t *testing.T, theme string) *Window {
		w, _ := tampered(t, theme, withMore)
		return w
	}},
	{"welcome", true, fyne.NewSize(900, 940), func(t *testing.T, theme string) *Window {
		return welcomed(t, somebody(), theme)
	}},
	{"machines-whole", true, fyne.NewSize(900, 2050), onPage(onMachines)},
	{"machines-none", false, fyne.NewSize(900, 1500), onPageOfNobody(onMachines)},
	{"machines-pair", false, ordinary, func(t *testing.T, theme string) *Window {
		w := onPage(onMachines)(t, theme)
		test.Tap(buttonIn(t, w.machines.content, lang.L("Pair…")))
		return w
	}},
	{"machines-held", false, ordinary, func(t *testing.T, theme string) *Window {
		o := somebody()
		o.peers.Problem = "peers.json was changed by another program, so no peer counts"
		o.peers.Held = []remote.Peer{{Name: "build-1", Role: remote.RoleMachine, Key: build1}}
		o.peers.Peers = nil
		w := openWindow(t, o, theme)
		w.tabs.selectIndex(onMachines)
		return w
	}},
	{"device-code", true, ordinary, func(t *testing.T, theme string) *Window {
		w := onPage(onMachines)(t, theme)
		w.invite(t, "Tablet")
		w.machines.phone.inviting.left.SetText(lang.L("For one device, valid for {{.Time}}", map[string]any{"Time": "4m59s"}))
		w.machines.content.(*container.Scroll).ScrollToBottom()
		return w
	}},
	{"device-asks", true, ordinary, func(t *testing.T, theme string) *Window {
		o := somebody()
		o.peers.Joining = append(o.peers.Joining, tablet)
		w := openWindow(t, o, theme)
		w.tabs.selectIndex(onMachines)
		w.machines.content.(*container.Scroll).ScrollToBottom()
		return w
	}},
	{"machines-small", false, fyne.NewSize(500, 320), onPage(onMachines)},
	{"answers-none", false, ordinary, onPageOfNobody(onAnswers)},
	{"folders-none", false, ordinary, onPageOfNobody(onFolders)},
	{"small", false, fyne.NewSize(500, 320), onPage(onGeneral)},
}

// openPast offers to look at what agents did.
func openPast(t *testing.T, theme string) *Window {
	o := somebody()
	o.suggestions = nil
	w := openWindow(t, o, theme)
	w.tabs.selectIndex(onSuggestions)
	return w
}

// onPageOfNobody opens the settings of somebody who has set nothing.
func onPageOfNobody(page int) func(*testing.T, string) *Window {
	return func(t *testing.T, theme string) *Window {
		o := &fakeOperator{}
		o.state.Config = fewRules()
		w := openWindow(t, o, theme)
		w.tabs.selectIndex(page)
		return w
	}
}

func views() []view { return append(pages[:len(pages):len(pages)], states...) }

func TestLooks(t *testing.T) {
	for _, v := range views() {
		for _, theme := range []string{"light", "dark"} {
			if theme == "light" || v.dark {
				t.Run(v.name+"/"+theme, func(t *testing.T) {
					test.AssertImageMatches(t, v.name+"-"+theme+".png", v.draw(t, theme).Canvas().Capture())
				})
			}
		}
	}
}

func TestGallery(t *testing.T) {
	var all []dialogstest.View
	for _, v := range views() {
		all = append(all, dialogstest.View{Name: v.name, Open: v.draw})
	}
	dialogstest.Gallery(t, "settings", all)
}

// Every page has a golden image.
func TestEveryPageHasAGoldenImage(t *testing.T) {
	w := openWindow(t, somebody(), "light")
	if len(w.tabs.pages) != len(pages) {
		t.Fatalf("%d pages, %d golden images", len(w.tabs.pages), len(pages))
	}
	for i, v := range pages {
		if got := v.open(t, "light").tabs.selected; got != i {
			t.Errorf("the golden image %s is of the page %s", v.name, w.tabs.pages[got].name)
		}
	}
}
