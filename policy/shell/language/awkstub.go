package language

// AwkProgram stands in until the reader of awk is merged.
func AwkProgram(string) (Use, error) { return Use{}, refusal("nod does not read awk yet.") }
