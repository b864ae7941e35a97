//go:build !unix

package ownlog

// noFollow adds no flags here.
const noFollow = 0
