package device_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// Whatever stands where a signature belongs, nobody is let in who has not signed.
func FuzzAuthorization(f *testing.F) {
	for _, header := range []string{
		"", "Nod", "Nod key=, nonce=, sig=", "Bearer x", "Nod key=a, nonce=b, sig=c, more=d", "nod key=a, nonce=b, sig=c",
		"Nod key=AAAA, nonce=AAAA, sig=" + strings.Repeat("A", 86),
	} {
		f.Add(header, "/prompts")
	}
	f.Fuzz(func(t *testing.T, header, path string) {
		synctest.Test(t, func(t *testing.T) {
			d, _, p := paired(t)
			d.Show(Views()...)
			r := p.Request("GET", "/prompts", nil)
			r.Header.Set("Authorization", header)
			r.RequestURI = path
			if w := p.Send(r); w.Code != http.StatusUnauthorized {
				t.Errorf("%q is let in: %d %s", header, w.Code, w.Body)
			}
		})
	})
}
