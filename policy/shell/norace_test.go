//go:build !race

package shell

// overhead is how many times the memory reading takes without the race detector.
const overhead = 1
