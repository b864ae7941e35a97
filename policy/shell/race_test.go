//go:build race

package shell

// overhead is how many times the memory reading takes under the race detector, at most.
const overhead = 4
