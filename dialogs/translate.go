package dialogs

import "fyne.io/fyne/v2/lang"

// values fill the places of a translated sentence. A requester's text may be a value, never a key: keys are templates
// and would be executed.
type values map[string]any

func tr(key string, v ...values) string {
	if len(v) == 0 {
		return lang.L(key)
	}
	return lang.L(key, map[string]any(v[0]))
}
