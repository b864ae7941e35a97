package language

import (
	"strings"
	"testing"
)

func TestJQ(t *testing.T) {
	for _, filter := range jqAccepted {
		if err := JQ(filter, []string{"k", "v"}); err != nil {
			t.Errorf("JQ(%q) = %v", filter, err)
		}
	}
	for _, filter := range jqRefused {
		if err := JQ(filter, []string{"k", "v", "ENV", "__loc__"}); err == nil {
			t.Errorf("JQ(%q) is accepted", filter)
		}
	}
}

var jqAccepted = []string{
	"", ".", "..", ".a.b[]?", ".[\"a b\"]", ".[0:2]", ".[-1]", ".[]", ".[\"a\",\"b\"]", "keys[]", "keys", "length",
	".env", ".a, .b", ".items[] | .name", "[.[] | (.a, .b)]", ".dependencies + .devDependencies | keys",
	".items | map(select(.name == \"x\")) | length", "{a: .name, b: (.items | length)}",
	"{a, \"b\": .c, (.k): .v, $k}", "{env: .env}", ".[$k]", ".[] | select(.key == $k and .value != $v)",
	".[] | \"\\(.name): \\(.v)\"", ".x // \"d\"", ".x // empty", "to_entries",
	"to_entries[] | \"\\(.key)=\\(.value)\"", "to_entries | map(\"\\(.key)=\\(.value)\") | join(\",\")",
	"with_entries(select(.value != null))",
	".[] | select(.name | test(\"^a.*b$\"; \"i\"))", "map(.x) | add", "sort_by(.x) | reverse | .[0:10]",
	"group_by(.x) | map({x: .[0].x, n: length})", "unique_by(.x) | length", "[.[].a] | unique | join(\", \")",
	"if .a then .b elif .c then .d else null end", ".a | ascii_downcase", ".a | split(\",\") | .[0]",
	".a | split(\"/\")[-1]", ".a | ltrimstr(\"v\")", "now | todate",
	".a | gsub(\"[0-9]+\"; \"N\")", ".a | sub(\"^v\"; \"\")", ".a | gsub(\",\"; \", \")",
	".a | gsub(\"(?<x>[a-z])-\"; \"\\(.x)_\")", ".a | capture(\"(?<y>[0-9]{4})-(?<m>[0-9]{2})\")",
	"[.a | match(\"x\"; \"g\").offset]", "[.a | scan(\"[a-z]+\")]",
	"limit(3; .[])", "first(.[] | select(.x))", "[limit(5; inputs)]", "input", "[inputs]",
	"any(.[]; . == 1)", "all(.x)", "[.[] | .size] | add / length", ".a * 100 | round / 100",
	"length * 2",
	"[paths | join(\".\")]", "[leaf_paths]",
	".. | objects | select(has(\"x\")) | .x", "[.. | .name? // empty] | unique",
	"del(.a, .b)", "tojson",
	"@json", ".[] | [.a, .b] | @csv", ".[] | [.a, .b, .c] | @tsv", "@sh \"x \\(.a)\"", "@base64d",
	"@html \"<b>\\(.a)</b>\"",
	"try .a catch \"x\"", ".a? // .b?", "-1", "-(.a)", ".a - 1", ".a % 2 == 0", "map_values(length)", "tostream",
	"fromjson", ".a | tonumber > 3", "input_line_number", "debug", "error(\"x\")",
	"[.[] | {a, b, c, d: .d.e, f: (.g | length), h: \"\\(.i)-\\(.j)\"}]",
	".scripts | to_entries | map(select(.key | startswith(\"test\"))) | from_entries",
	".[] | select(.labels[].name == \"bug\") | .number",
	".packages | to_entries[] | select(.value.version) | \"\\(.key) \\(.value.version)\"",
	"[.[] | select(.state == \"OPEN\")] | sort_by(.createdAt) | .[] | " +
		"\"#\\(.number) \\(.title) (\\(.author.login)) \\(.labels | map(.name) | join(\", \"))\"",
	".results[] | select(.status != \"passed\") | {name: .fullName, " +
		"msg: (.failureMessages[0] // \"\" | split(\"\\n\")[0:5] | join(\"\\n\"))}",
	"# comment\n.a", "\n.a\n| .b\n",
	".message.content | if type == \"string\" then . else map(.text // empty) | join(\" \") end | .[0:200]",
	"[.[] | .duration] | {min: min, max: max, n: length, sum: add, avg: (add / length)}",
	"@text", "@csv", "@uri", "not", "flatten | length", "min_by(.x).name", "type",
	"{a: .items[].n, b: .owner, c: .name}", "[.[] | length] | map(. + 1) | add",
	"has(\"a\") and (.a | contains([\"x\"]))", "getpath([\"a\", \"b\"])",
	"to_entries | sort_by(-.value) | .[0:5][] | \"\\(.value)\\t\\(.key)\"",
}

var jqRefused = []string{
	".t | strftime(\"%Y-%m-%d\")", ".a | index(\",\")", ".a | indices(\", \")", "[range(10)]",
	"[paths(type == \"number\")]", "transpose | .[0]",
	".[] as $x | $x.name", ".a as $x | .b[] | select(.id == $x) | .name", ".a as $v | .b | map(. + $v)",
	".[] as $u | $u.tags[] | {name: $u.name, tag: .}", "(.a | length) as $n | .b / $n", ".a as $x | {$x}",
	"reduce .[] as $x (0; . + $x)", "reduce .[] as $x (0; . + $x.size)", "reduce .[] as $i ({}; . + {($i.k): $i.v})",
	"reduce .[] as $x ([]; . + [$x.a, $x.b])", "reduce .[] as $x (0; if $x.ok then . + 1 else . end)",
	"[.[] | .size] | reduce .[] as $x (0; . + $x)", "reduce .[] as $x (0; if $x > . then $x else . end)",
	"reduce .[] as $x (0; . - ($x | length))", "reduce range(10) as $i (\"\"; . + \"x\")",
	"range(0; 10; 2)", "recurse(.children[]?) | .name", "[recurse(.[]?; . != null)] | length",
	"walk(if type == \"object\" then del(.x) else . end)", ".a as $v" + strings.Repeat("|[.[]|$v[]]", 3),
	"reduce .[] as $x ([]; . + [$x[] | $x[] | $x])",
	"env", "$ENV", "$ENV.HOME", ".x | env", ". env", "[env]", "{env: env}", "\"\\(env)\"", "{(env.A): 1}", ".[env.A]",
	"if env then 1 else 2 end", "try env", "map(env)", "@sh \"\\(env)\"", "{\"\\(env)\": 1}", "{$ENV}", "{$__loc__}",
	"$__loc__", "$__prog_args", "$x", "{$x}", ". as $x | $x", ". as [$a] | $a", ".a as [$x] | $x",
	".a as $ENV | $ENV", ".a as $__loc__ | 1", ".a as $x | $y", "(.a as $x | 1) | $x", ".a as $x | .b as $y | $x",
	".[] as $x | env", ".[] as $x | $ENV", "reduce .[] as $x (env; .)", "reduce .[] as $x (0; . + env)",
	"reduce .[] as $x (0; . + .)", "reduce .[] as $x (\"a\"; . + . + $x)", "reduce .[] as $x ([1]; . + [.])",
	"reduce .[] as $x ([1]; [.[], .[]])", "reduce .[] as $x (\"a\"; \"\\(.)\\(.)\")", "reduce .[] as $x (1; $x + .)",
	"reduce .[] as $x ([1]; . + tojson)", "reduce .[] as $x (.; . * 2)", "reduce .[] as $x (0; (., 1))",
	"reduce .[] as $x ([]; if $x then . + . else . end)", "reduce .[] as $x ([]; .[$x] = 1)",
	".[] as $x | walk($x)", ".a as $x | \"a\"" + strings.Repeat("|[$x,.]+[$x,.]", 40),
	".a as $x" + strings.Repeat("|[$x+$x]|[.[]+.[]]", 4), "reduce range(100000) as $x (\"a\"; . + \"" +
		strings.Repeat("a", 500) + "\")",
	"input_filename", "get_search_list", "modulemeta", "import \"x\" as y; .", "include \"x\"; .", "x::y", "$x::y",
	"def f: f; f", "def f: 1; .", "module {}; .", "halt_error", "builtins", "@base99", "nosuch", "getpath(env)",
	"label $f | 1, break $f", "foreach .[] as $x (0; .)",
	".a = 1", ".a |= 1", ".[999999999] = 1", ".a += 1", ".a //= 1", "setpath([\"a\"]; 1)", "to_entries(1)",
	"repeat(1)", "[limit(3; repeat(1))]", "range(1e9)", "range(.n)", "range(0; 10; 0)", "range(infinite)",
	"until(false; .)", "while(true; .)", "recurse(.a)", "recurse(.)", "recurse(.[0])", "recurse(.[\"a\"][])",
	"recurse(. + 1)", "recurse(.[], .[])", "recurse(.[]?; (true, true))", "combinations", "walk([., .])",
	"walk(. + .)", "walk(., .)", "input | recurse(input)",
	".a | index(\"\")", ".a | index(.b)", ".a | indices(\"\")", ".a | gsub(\"\"; \"x\")", ".a | gsub(\"^\"; \"x\")",
	".a | gsub(\"x*\"; \"y\")", ".a | gsub(\"\\\\s*$\"; \"\")", ".a | sub(\"x*\"; \"y\"; \"g\")",
	".a | gsub(.b; \"x\")", ".a | test(.b)", ".a | test(\"((a{1,1000}){1,1000}){1,1000}\")",
	".a | test(\"a\"; \"x\")", ".a | gsub(\"a\"; (\"b\", \"c\"))", ".a | sub(\"a\"; env)",
	".a * .b", "\"a\" * 1000000000", ".a * 1e9", "1e9 * .a", ".a | strftime(\"%10000000Y\")", ".a | strftime(.b)",
	"1" + strings.Repeat("|(.,.)", 40), "[1]" + strings.Repeat("|(.[],.[])|[.]", 40),
	"\"aaaaaaaa\"" + strings.Repeat("|.+.", 40), "\"a\"" + strings.Repeat("|tojson|.+.", 40),
	"\"\\\"\"" + strings.Repeat("|tojson", 40), "." + strings.Repeat("|[.,.]", 40),
	"." + strings.Repeat("|{a:.,b:.}", 40), "{}" + strings.Repeat("|[.,.]", 40),
	"{a:.[],b:.,c:.}|{a:.[],b:.}", "." + strings.Repeat("|\"\\(.)\\(.)\"", 40),
	"." + strings.Repeat("|[.[]+.[]]", 5), "[1,2]" + strings.Repeat("|[.[]+.[]]", 5),
	"." + strings.Repeat("|@html", 20), "." + strings.Repeat("|[.[],.[]]", 40), "." + strings.Repeat("|join(.)", 5),
	"." + strings.Repeat("|gsub(\"a\";\"aaaaaaaaaa\")", 20), "." + strings.Repeat("|[..]", 20),
	"." + strings.Repeat("|map(.,.)", 40), "." + strings.Repeat("|with_entries(.,.)", 40),
	"." + strings.Repeat("|if (.,.) then . else . end", 40), "." + strings.Repeat("|select(.==.,true)", 40),
	"." + strings.Repeat("|.[.,.]", 40), "." + strings.Repeat("|try (.,.)", 40), "." + strings.Repeat("|-(.,.)", 40),
	"." + strings.Repeat("|add(.,.)", 40), "." + strings.Repeat("|to_entries", 40),
	"." + strings.Repeat("|transpose", 5), "." + strings.Repeat("|explode", 40),
	"." + strings.Repeat("|limit(9;(.,.))", 40), "range(1000000)|range(1000000)", "# \\\nenv", "# \renv", "[", ".a |",
	"\"", strings.Repeat("[", 5000), strings.Repeat(".", 20_000),
}
