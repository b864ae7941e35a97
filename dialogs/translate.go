package dialogs

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"nod/assets"
)

// SetLanguage makes every window of nod speak the language: "en", "zh-CN", or any other name to follow the
// system. It is for the UI goroutine, before the windows are built; what is built already keeps its words.
//
// Fyne has no way to choose a language, it takes the system's. So the wanted words are filed under the name
// of the system's locale, and under English, which Fyne falls back to where the locale says nothing ("C").
func SetLanguage(name string) error {
	system := lang.SystemLocale()
	words, err := assets.Translations.ReadFile("translations/" + languageFor(name, system) + ".json")
	if err != nil {
		return fmt.Errorf("language %q: %w", name, err)
	}
	for _, locale := range []fyne.Locale{"en", fyne.Locale(system.LanguageString())} {
		if strings.HasPrefix(locale.String(), "und") { // the system names no language
			continue
		}
		if err := lang.AddTranslationsForLocale(words, locale); err != nil {
			return fmt.Errorf("language %q: %w", name, err)
		}
	}
	return nil
}

// languageFor is the one of nod's languages that is meant.
func languageFor(name string, system fyne.Locale) string {
	switch {
	case name == "en", name == "zh-CN":
		return name
	case strings.HasPrefix(system.String(), "zh"):
		return "zh-CN"
	}
	return "en"
}

// values fill the places of a translated sentence. What a requester wrote may be a value, never a key: keys
// are templates and would be executed.
type values map[string]any

// tr translates one of nod's own sentences.
func tr(key string, v ...values) string {
	if len(v) == 0 {
		return lang.L(key)
	}
	return lang.L(key, map[string]any(v[0]))
}
