//go:build !unix

package ownlog

// noFollow has nothing to add to opening a file here.
const noFollow = 0
