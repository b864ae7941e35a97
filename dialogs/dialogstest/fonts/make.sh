#!/bin/sh
# Makes the fonts with which the golden images in Chinese are drawn: of Noto Sans CJK SC only the characters
# of nod's Chinese sentences and of the tests' samples, so that the images do not depend on what fonts a
# machine has. Run it when a test says that a character is missing.
# Needs pyftsubset (package fonttools) and Noto Sans CJK (package fonts-noto-cjk).
set -eu
cd "$(dirname "$0")"
for weight in Regular Bold; do
	cat ../../../assets/translations/zh-CN*.json ../../*_test.go | LC_ALL=C tr -d '\000-\037\041-\177' |
		pyftsubset "/usr/share/fonts/opentype/noto/NotoSansCJK-$weight.ttc" --font-number=2 \
			--text-file=/dev/stdin --unicodes-file=/dev/null --output-file="NotoSansSC-$weight.otf" \
			--layout-features= --no-hinting --desubroutinize
done
