// Package page contains the page on which a phone answers: what its browser loads from nod, and nothing that decides.
//
// It is plain HTML, CSS and JavaScript as in this folder. It learns everything about the desk through the protocol of
// package device, and shows what it gets as text, never as markup.
package page

import "embed"

// Files are those of the page: index.html, and what that names.
//
//go:embed index.html *.css *.js *.json *.png manifest.webmanifest
var Files embed.FS
