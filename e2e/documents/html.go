package documents

import (
	"bytes"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// html notes the tags, links, pictures and anchors in a piece of HTML.
func (r *reader) html(line int, source []byte) {
	for tokens := html.NewTokenizer(bytes.NewReader(source)); tokens.Next() != html.ErrorToken; {
		token := tokens.Token()
		if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken {
			continue
		}
		r.Tags = append(r.Tags, Span{line, token.Data})
		attributes := map[string]string{}
		for _, a := range token.Attr {
			attributes[a.Key] = a.Val
		}
		if id := attributes["id"]; id != "" {
			r.Anchors = append(r.Anchors, id)
		}
		if href := attributes["href"]; href != "" {
			r.Links = append(r.Links, Link{Line: line, Target: href})
		}
		if token.Data == "img" {
			r.Links = append(r.Links, Link{Line: line, Target: attributes["src"], Image: true, Text: attributes["alt"]})
		}
		if set := attributes["srcset"]; set != "" { // of <source>, beside an <img> that says what it shows
			r.Links = append(r.Links, Link{Line: line, Target: strings.Fields(set)[0]})
		}
	}
}

func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }
