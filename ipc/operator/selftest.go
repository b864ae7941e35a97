package operator

// SelfTestFlag makes the windows process print a [SelfTest] as JSON and exit.
const SelfTestFlag = "--self-test"

// SelfTest says whether the windows process works in its session.
type SelfTest struct {
	Version string   `json:"version"`
	Problem string   `json:"problem,omitempty"` // why it can show no window; may be empty
	Undrawn []Script `json:"undrawn,omitempty"` // scripts that no installed font can draw
}

// Script is a kind of characters that needs its own fonts.
type Script string

// The scripts of a [SelfTest].
const (
	Chinese  Script = "Chinese"
	Japanese Script = "Japanese"
	Korean   Script = "Korean"
	Emoji    Script = "emoji"
)

// Sample is a character of the script.
func (s Script) Sample() rune {
	return map[Script]rune{Chinese: '请', Japanese: 'か', Korean: '한', Emoji: '😀'}[s]
}
