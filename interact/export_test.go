package interact

// For the tests from outside.
const (
	MaxOptions   = maxOptions
	MaxQuestions = maxQuestions
)
