// Package page is the page with which a phone answers: what its browser loads from nod, and nothing that decides.
//
// It is plain HTML, CSS and JavaScript as it stands in this folder. All that it knows of the desk it gets over the
// protocol of package device; what it is handed it shows as text, never as markup.
package page

import "embed"

// Files are those of the page: index.html, and what that names.
//
//go:embed index.html *.css *.js *.json *.png manifest.webmanifest
var Files embed.FS
