package assets

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
)

// translations holds nod's sentences in other languages, by their English text.
//
//go:embed translations/*.json
var translations embed.FS

// Sentences returns nod's sentences in a language, by their English text.
func Sentences(language string) (map[string]string, error) {
	sentences, err := readSentences(language, chinese+".json")
	if err != nil {
		return nil, err
	}
	if language != chinese {
		for english := range sentences {
			sentences[english] = english
		}
	}
	return sentences, nil
}

// readSentences reads a file of sentences by their English text, for a language.
func readSentences(language, file string) (map[string]string, error) {
	text, err := translations.ReadFile("translations/" + file)
	if err != nil {
		return nil, fmt.Errorf("language %q: %w", language, err)
	}
	sentences := map[string]string{}
	if err := json.Unmarshal(text, &sentences); err != nil {
		return nil, fmt.Errorf("language %q: %w", language, err)
	}
	return sentences, nil
}

const chinese = "zh-CN"

// SetLanguage sets the language: "en", "zh-CN", or that of the system for any other name. Call it before windows are
// built; existing ones do not change.
//
// Fyne always uses the language of the system. So the sentences are registered for the locale of the system, and for
// English, which Fyne falls back to if the locale has no language ("C").
func SetLanguage(name string) error {
	system := lang.SystemLocale()
	language := languageFor(name, system)
	sentences, err := Sentences(language)
	if err != nil {
		return err
	}
	setReasons(language)
	words, err := json.Marshal(sentences)
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

// Language returns the language that a setting selects on this system.
func Language(name string) string { return languageFor(name, lang.SystemLocale()) }

func languageFor(name string, system fyne.Locale) string {
	switch {
	case name == "en", name == chinese:
		return name
	case strings.HasPrefix(system.String(), "zh"):
		return chinese
	}
	return "en"
}
