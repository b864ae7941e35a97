// Has the compiler take functions without a body, see fonts.go.
