//go:build !linux

package inside

// Main does nothing where there is no sandbox.
func Main() {}
