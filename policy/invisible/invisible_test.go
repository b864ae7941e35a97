package invisible

import "testing"

func TestIs(t *testing.T) {
	for _, r := range "\x00\n\t\r\x7f\u00a0\u00ad\u034f\u115f\u1160\u17b4\u200b\u200d\u200e" +
		"\u2028\u2029\u202e\u2060\u2066\u2800\u3000\u3164" +
		"\ufe0f\ufeff\uffa0\ufffc\uffff\U0001d159\U000e0001\U000e0041\U000e0100" {
		if !Is(r) {
			t.Errorf("%U is not in the list", r)
		}
	}
	for _, r := range " aZ~é漢\ufffd\u0301🦊한ق" {
		if Is(r) {
			t.Errorf("%U is in the list", r)
		}
	}
}

// Emoji are visible as they are written: a joint between them hides nothing. Anywhere else it is hidden.
func TestJoints(t *testing.T) {
	for text, want := range map[string]bool{
		"⚠\ufe0f ❤\ufe0f ℹ\ufe0f ▶\ufe0f ↔\ufe0f": false,
		"0\ufe0f\u20e3 #\ufe0f\u20e3":             false,
		"👨\u200d💻 👩🏽\u200d🔧":                      false,
		"👩\u200d❤\ufe0f\u200d👩":                   false,
		"a\ufe0f":                                 true,
		"1\ufe0f":                                 true,
		"1\ufe0f\ufe0f\u20e3":                     true,
		"⚠\ufe0f\ufe0f":                           true,
		"⚠\ufe01":                                 true,
		"\ufe0f⚠":                                 true,
		"⚠ \ufe0f":                                true,
		"👨\u200d":                                 true,
		"\u200d💻":                                 true,
		"👨\u200da":                                true,
		"👨\u200d\u200d💻":                          true,
		"a\u200db":                                true,
		"\u2800\ufe0f":                            true,
		"⚠\ufe0f\u202e":                           true,
	} {
		if In(text) != want {
			t.Errorf("In(%+q) = %v", text, !want)
		}
	}
}
