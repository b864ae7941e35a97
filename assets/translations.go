package assets

import "embed"

// Translations holds translations/<language>.json: nod's own sentences, by their English text. Both files
// have the same keys.
//
//go:embed translations/*.json
var Translations embed.FS
