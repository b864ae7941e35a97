package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"time"

	"nod/packaging/tree"
)

// archive writes the files into one archive, below a folder of its name, and returns its path: for Windows a zip, for
// others a compressed tar. It depends on nothing but the files.
func (r release) archive(name string, t tree.Tree, p tree.Platform) (string, error) {
	name += "-" + r.Version + "-" + p.String()
	pack, ext := tarball, ".tar.gz"
	if p.OS == "windows" {
		pack, ext = zipped, ".zip"
	}
	data, err := pack(name, t, r.Date.UTC())
	if err != nil {
		return "", err
	}
	path := filepath.Join(r.to, name+ext)
	return path, os.WriteFile(path, data, 0o644)
}

func tarball(folder string, t tree.Tree, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, f := range t {
		if err := w.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: folder + "/" + f.Path, Mode: int64(f.Mode), Size: int64(len(f.Data)), ModTime: date,
		}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

func zipped(folder string, t tree.Tree, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range t {
		header := &zip.FileHeader{Name: folder + "/" + f.Path, Method: zip.Deflate, Modified: date}
		header.SetMode(f.Mode)
		to, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(f.Data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
