//go:build !unix

package policy

// isNotFolder is only ever true where the system has an error of its own for it.
func isNotFolder(error) bool { return false }
