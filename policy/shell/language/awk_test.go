package language

import (
	"strings"
	"testing"
)

func TestAwk(t *testing.T) {
	for _, program := range awkAccepted {
		if err := Awk(program, []string{"pat=foo", "n=3", "OFS=,"}); err != nil {
			t.Errorf("Awk(%q) = %v", program, err)
		}
	}
	for _, program := range awkRefused {
		if err := Awk(program, nil); err == nil {
			t.Errorf("Awk(%q) is accepted", program)
		}
	}
}

var awkAccepted = []string{
	"", "1", "{print}", "{print $1}", "{print $1, $NF}", "{print $(NF-1)}", "NR==5", "NR>=10 && NR<=20", "NR%2",
	"END{print NR}", "/re/", "!/re/", "/a/,/b/", "$3 > 100 {print $1}", "$1 ~ /^x/ {print $2}", "$1 == \"a\"",
	"length($0) > 80", "length > 80", "NF",
	"{sum += $1} END {print sum}", "{sum+=$1} END {print sum/NR}", "{printf \"%s %d\\n\", $1, $2}",
	"{printf(\"%-10s|%5.2f%%\\n\", $1, $2)}", "BEGIN{FS=\":\"; OFS=\"\\t\"} {print $1, $3}", "BEGIN{print 1+1}",
	"!seen[$0]++", "!seen[$1]++ {print $1}",

	"/x/{f=1} f; /y/{f=0}", "/^func /{name=$2} /TODO/{print name, $0}",
	"{gsub(/x/, \"y\"); print}", "{gsub(/^[ \\t]+|[ \\t]+$/, \"\"); print}", "{sub(/#.*/, \"\"); if (NF) print}",
	"{gsub(/\\033\\[[0-9;]*m/, \"\"); print}",
	"{n=split($0, a, \",\"); print a[1], a[n]}",
	"{print substr($0, 1, 80)}", "{print toupper($1) tolower($2)}", "{print index($0, \"x\")}",
	"match($0, /[0-9]+/) {print substr($0, RSTART, RLENGTH)}",

	"NR==FNR{a[$1]=1; next} $1 in a", "NR==FNR{a[$1]=$2;next} ($1 in a){print $0, a[$1]}", "{ $3 = \"\"; print }",
	"{$1=$1; print}", "{$1=\"\"; sub(/^ /, \"\"); print}", "NR>1{print prev} {prev=$0}",
	"{if (length($0) > m) {m = length($0); l = $0}} END{print m, l}", "{print NR\": \"$0}",
	"{print FILENAME \":\" FNR \": \" $0}", "FNR==1{print FILENAME}",
	"$0 ~ pat", "$0 ~ \"^\" pat", "{print $n}", "NR==n", "{exit}", "NR>5{exit} {print}", "{print; next}",
	"{print $1} # first", "{ print\n}\nEND { print NR }", "{print (a > b)}", "{print ($1 > 5 ? \"big\" : \"small\")}",
	"BEGIN{srand(); print int(rand()*10)}",
	"{min=(NR==1||$1<min)?$1:min} END{print min}",
	"{ printf \"%s\", sprintf(\"%05d\", $1) }",
	"/^---$/{exit} {print}", "{delete a; a[1]=2}", "$2/$3 > 0.5", "{print $1/2}",
	"{print a[1]/2}", "{print $1 / $2, (3)/4}",
	"/\\[x\\]\\/y/", "/[^\\/]+/", "$1 ~ /[\\/]/ || /a|b/", "{print \"a|b > c\"}", "{print \"system(1)\"}",
	"/getline/", "{ if ($1 in a) print; else a[$1] }", "{a[NR] = prev; prev = $0}", "{k = $1 \"-\" $2; n[k]++}",
	"{k = substr(prev, 1, 3); n[k]++; prev = $1}", "{k = FILENAME \":\" $1; n[k]++}", "{k = pat $1; n[k]++}",
	"{n = split($0, p, \":\"); seen[p[1] \"/\" p[2]]++}", "/^#/{head = $2} {n[head \"/\" $1]++}",
}

var awkRefused = []string{
	"{a[$1]++} END{for (k in a) print k, a[k]}",
	"{for (i=1; i<=NF; i++) printf \"%s%s\", $i, (i<NF ? OFS : ORS)}",
	"{for(i=NF;i>0;i--) printf \"%s \", $i; print \"\"}",
	"{for(i=1;i<=NF;i++) c[$i]++} END{for(w in c) print c[w], w}", "{for(i=2;i<=NF;i+=2) $i=toupper($i); print}",
	"{a[NR]=$0} END{for(i=NR;i>0;i--) print a[i]}", "{a[$1] = a[$1] \",\" $2} END{for(k in a) print k a[k]}",
	"BEGIN{OFMT=\"%.2f\"} {print $1*1}", "{NF--; print}",
	"{x[$1,$2]++} END{for (k in x) {split(k, p, SUBSEP); print p[1]}}",
	"END{PROCINFO[\"sorted_in\"]=\"@ind_str_asc\"; for (k in a) print k}",
	"BEGIN{for(i=0;i<256;i++) printf \"%c\", i}", "BEGIN{for(i=0;i<3;i++) print i}",
	"{n=split($0,a,\",\"); for(i=1;i<=n;i++) print a[i]}", "{l[n++]=$0} END{for(i=0;i<n;i++) print l[i]}",
	"{line=$0; gsub(/\"/, \"\\\\\\\"\", line); print line}",
	"{c=0; for(i=1;i<=length($0);i++) if (substr($0,i,1)==\"x\") c++; print c}",
	"{for(i=1;i<=NF;i++) sub(/^/, \"x \")}", "{for(i=1;i<=NF;i++) for(j=1;j<=NF;j++) print}", "{for(k in a) split($0, a)}",
	"{for(i=1;i 2;i++) x}", "{NF*=1000;NF*=1000;NF*=1000}", "{a[s t]=1; for(k in a) s=k; for(k in a) t=k}",
	"{for(i=1;i<=NF;i++) $i=$i $i}", "{for(k in a) $k=1}", "{for(i=1;i<=NF;i++) gsub(/x/,\"xx\",$i)}",
	"BEGIN{system(\"touch x\")}", "{print > \"out\"}", "{print $1 > $2}", "{print >> \"out\"}", "{print | \"sh\"}",
	"{print |& \"sh\"}", "BEGIN{\"date\" | getline d}", "BEGIN{getline < \"/etc/passwd\"; print}",
	"BEGIN{while ((getline l < \"f\") > 0) print l}", "{getline; print}", "{print ENVIRON[\"HOME\"]}",
	"BEGIN{for(k in ENVIRON) print k}", "BEGIN{for (k in SYMTAB) print k}", "BEGIN{SYMTAB[\"OFMT\"]=\"x\"}",
	"BEGIN{ARGV[1]=\"/etc/passwd\"; ARGC=2}", "\"x\" in ENVIRON", "BEGIN{split(\"\", ARGV)}", "BEGIN{delete ARGV}",
	"BEGIN{PROCINFO[\"sorted_in\"]=\"f\"}", "BEGIN{PROCINFO[\"BUFFERPIPE\"]=1}", "BEGIN{for(ARGC in a) print}",
	"@include \"x\"\n{print}", "@load \"filefuncs\"; {print}", "BEGIN{f=\"system\"; @f(\"x\")}", "@namespace \"x\"",
	"{print @/x/}", "function f(x) {return f(x)} {print f(1)}", "func f(x) {return 1} 1", "BEGIN{close(\"x\")}",
	"BEGIN{fflush()}", "BEGIN{x = gensub(/a/, \"b\", 1)}", "BEGIN{print strftime(\"%Y\")}", "BEGIN{asort(a)}",
	"BEGIN { printf \"x\" > \"/dev/tcp\" }", "{print(1)>2}", "{print (1)(2) > \"x\"}", "{print a, b > \"x\"}",
	"{print a,\n b > \"x\"}", "{print a ? b > c : d}", "{printf \"%s\", $1 > \"x\"}",
	"{ if (1) print > \"x\"; else print }",
	"{ if (1) /\"/; print 1 > \"out\"; x = \"/\" }", "/[/]\"/ { print > \"out\" } /\"/", "/[/]/",
	"{x = length /\"/; print > \"o\"; y = \"/\"}", "{x++ /\"/; print > \"o\"; y = \"/\"}", "{print \"a\\\n\" }",
	"{print \"}", "/x", "{print 'x'}", "{print `x`}", "{print \\\n1}", "{print é}", "{x /= 2}", "{a = b /=/ c}",
	"BEGIN{while(1) print}", "BEGIN{for(;;) print}", "BEGIN{do print; while(1)}", "BEGIN{for(i=0;i<10;i--) print}",
	"BEGIN{for(i=0;i<10;i++) i--}", "BEGIN{for(i=0;i<10;i++) i=0}", "BEGIN{for(i=0;i<n;i++) n++}",
	"BEGIN{for(i=0;i<1e9;i++) print}", "BEGIN{for(i=0;i<1000;i++) for(j=0;j<1000;j++) print}",
	"{for(i=0;i<$1;i++) print}", "{for(i=1;i<=NF;i++) $(NF+1)=1}", "{for(i=1;i<=NF;i++) NF++}",
	"{for(i=1;i<=NF;i++) $0=$0 \" x\"}", "{for(i=1;i<=NF;i++) gsub(/x/,\"x x\")}", "{for(i=1;i<=NF;i++) $(i+1)=1}",
	"BEGIN{n=10000;m=n*10000;for(i=0;i<m;i++) print}", "{for(i=1;i<=length(a);i++) print a[i]; }",
	"BEGIN{n=9999; for(i=0;i<n;i++) for(j=0;j<n;j++) x=1}",
	"BEGIN{b=9999;c=b+b;d=c+c;e=d+d;f=e+e;for(i=0;i<f;i++) x=1}", "BEGIN{for(i=0;i<RLENGTH;i++) print}",
	"BEGIN{n=1;n*=10;for(i=0;i<n;i++) print}", "{for(i=0;i<=n;i++) m++; for(i=0;i<=m;i++) n++}",
	"{n = n + n + 1; for(i=0;i<n;i++) x=1}",
	"{s = s $0 \"\\n\"} END {printf \"%s\", s}",
	"{ out = (out == \"\" ? $1 : out \",\" $1) } END { print out }",
	"{a[$1] = a[$1] \",\" $2}", "{s = s $0; n[length(s)]++}",
	"{x = substr($0, 1, 5); y = x \"-\" $2; n[y]++}", "{x = prev $0; n[x]++; prev = $1}", "{t = (s $0); s = t}",
	"{s = toupper(s $0)}", "{split(s s, p, \"-\"); s = p[1]}", "{t = substr(s t, 1)}",
	"{x = (s = s $0)}", "{if ((s = s $0) ~ /x/) print}", "{s = sprintf(\"%s-\", s)}", "{x[1] = y[1] z[1]}",
	"{s = s s}", "{s = s $0 s}", "{a = a b; b = b a}", "{t = s s; s = t}", "{$0 = $0 $0 s; s = $0}",
	"{for(i=1;i<=NF;i++) $i = $0}", "{for(i=1;i<9000;i++) $0 = $0 $0}", "{gsub(/x/, \"xx\", s)}",
	"{gsub(/x/, \"&&\", s); s = s $0}", "BEGIN{s=\"x\"; for(i=0;i<99;i++) s = sprintf(\"%s%s\", s, s)}",
	"{a[1] = a[1] a[1]}", "{for(k in a) a[k \"x\"]=1; a[$1]=1}", "{for(k in a) b[n++]=1; for(k in b) a[n++]=1}",
	"BEGIN{s=\"xxxxxxxxxx\"; a=s s s s; b=a a a a; c=b b b b; d=c c c c; e=d d d d; f=e e e e; g=f f f f; print g}",
	"{s = s $0; t = t s; u = u t}",
	"{" + strings.Repeat("gsub(/./, \"aaaaaaaaaaaaaaaaaaaa\"); ", 4) + "}",
	"{s = s $0; gsub(/./, s)}",
	"{a[NR] = a[NR-1] $0}", "{a[NR] = p $0; p = a[NR]}", "{p = p $0; a[NR] = p}", "{a[NR] = p; p = p \"x\"}",
	"{s = s $0; a[s]}", "!a[s = s $0]++", "{s = sprintf(\"%s%s\", s, $0); t = s; u = t; a[NR, u] = 1}",
	"{s = s $0; split(s, p, \"\\n\"); a[NR] = p[1]}", "{a[NR] = toupper(s); s = s $0}",
	"{s = s $0; a[NR] = NR > 9 ? s : 1}",
	"{printf \"%99999999d\", 1}", "{printf \"%*d\", 99999999, 1}", "{printf $0}", "{printf $1, $2}",
	"{x = sprintf($1)}", "BEGIN{OFMT=\"%99999999d\"}", "BEGIN{CONVFMT=$1}", "BEGIN{x = sprintf(\"%999999999s\", 1)}",
	"BEGIN{f=\"%s\"; printf f, 1}", "{printf \"%1$s\", 1}", "{printf \"%n\"}",
	"$0 ~ $1", "{gsub($1, \"x\")}", "{split($0, a, $1)}", "/((a{1,1000}){1,1000}){1,1000}/", "BEGIN{FS=$1}",
	"BEGIN{re=\"a\"; re = re \"+\"} $0 ~ re", "/a\\173 1,1000\\175/", "BEGIN{NF=100000000}", "{$100000000=1}",
	"{print $100000000}", "{print $($1)}", "{$($1)=1}", "{NF=$1}", "{x=$1; print $x}",
	strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000), "{" + strings.Repeat("x = 1;", 2000) + "}",
	"/" + strings.Repeat("a{900}", 200) + "/", "{", "}", "{print", "BEGIN", "{print $1 $}", "{a[1]; a = 1}",
}

func TestAwkAssigned(t *testing.T) {
	for assigned, ok := range map[string]bool{
		"x=1": true, "name=some text": true, "re=^a.*b": true, "OFS=\\t": true, "FS=,": true, "OFMT=%.3f": false,
		"n=20": true, "x=": true,
		"ENVIRON=1": false, "NF=100000000": false, "OFMT=%99999999f": false, "CONVFMT=%99999999f": false,
		"FS=(a{1,50}){50}": false, "re=a\\1731,1000\\175": false, "n=99999999": false, "1x=2": false,
		"": false, "x": false,
	} {
		if err := Awk("$0 ~ re {print $n}", []string{assigned}); (err == nil) != ok {
			t.Errorf("awk -v %s: %v", assigned, err)
		}
	}
}
