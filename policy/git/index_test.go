package git

import "testing"

func FuzzGitlinks(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\xe0\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		paths, err := gitlinks(data)
		if err != nil && paths != nil || len(paths) > maxGitlinks {
			t.Errorf("%d paths, %v", len(paths), err)
		}
	})
}
