package imports_test

import (
	"testing"

	"nod/policy"
	"nod/policy/imports"
)

// Gemini CLI's tables are told apart by case: [[Rule]] is none of its rules, and takes none away.
func TestGeminiRuleInAnotherCase(t *testing.T) {
	const text = "[[rule]]\ntoolName = \"a\"\ndecision = \"deny\"\npriority = 9\n" +
		"[[Rule]]\ntoolName = \"b\"\ndecision = \"allow\"\npriority = 1\n"
	got, err := translate("gemini-cli", []imports.File{{Path: "p.toml", Text: []byte(text)}}, nil)
	if err != nil || len(got.Rules) != 1 || got.Rules[0].Effect != policy.Deny || len(got.Left) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"rule = 1", "rule = [1]", "rule = [{}, 1]", "rule = {}", "[rule]\n"} {
		if _, err := translate("gemini-cli", []imports.File{{Path: "p.toml", Text: []byte(text)}}, nil); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}
