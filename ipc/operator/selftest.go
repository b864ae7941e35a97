package operator

// SelfTestFlag has the windows process say as JSON, in place of its work, what a [SelfTest] holds.
const SelfTestFlag = "--self-test"

// SelfTest is whether the windows process could do its work in the session that it was started in.
type SelfTest struct {
	Version string   `json:"version"`
	Problem string   `json:"problem,omitempty"` // why it can show no window; empty: it can
	Undrawn []Script `json:"undrawn,omitempty"` // what no font at hand can draw
}

// Script is a kind of characters that need fonts of their own.
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
