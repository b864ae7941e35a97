package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"

	"nod/packaging/tree"
)

// bill writes the bill of materials (CycloneDX) of what is linked into the programs, and returns its path. Go itself
// has written down in each program which modules are in it.
func (r release) bill(programs []string) (string, error) {
	modules, err := tree.Modules(r.Root, programs)
	if err != nil {
		return "", err
	}
	nod := component("nod", r.Version, cdx.ComponentTypeApplication)
	nod.Licenses = &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}
	parts := []cdx.Component{component("std", strings.TrimPrefix(runtime.Version(), "go"), cdx.ComponentTypeLibrary)}
	for _, m := range modules {
		c := component(m.Path, m.Version, cdx.ComponentTypeLibrary)
		if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) == 32 {
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
		}
		parts = append(parts, c)
	}
	linked := []string{}
	for _, c := range parts {
		linked = append(linked, c.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte(nod.PackageURL+"?commit="+r.Commit)).URN()
	bom.Metadata = &cdx.Metadata{Timestamp: r.Date.UTC().Format(time.RFC3339), Component: &nod}
	bom.Components, bom.Dependencies = &parts, &[]cdx.Dependency{{Ref: nod.BOMRef, Dependencies: &linked}}
	var b bytes.Buffer
	if err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return "", err
	}
	path := filepath.Join(r.to, "nod-"+r.Version+".cdx.json")
	return path, os.WriteFile(path, b.Bytes(), 0o644)
}

func component(name, version string, kind cdx.ComponentType) cdx.Component {
	url := "pkg:golang/" + strings.ToLower(name) + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cdx.Component{BOMRef: url, Type: kind, Name: name, Version: version, PackageURL: url}
}
