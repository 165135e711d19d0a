# SPDX-License-Identifier: GPL-2.0
#
# Draw the cost of each operation beyond perf core's: gnuplot -e "shares='FILE'; output='FILE.svg';
# what='TITLE'". The file has lines "operation built-in ours".
set terminal svg size 1060,500 font "sans,11"
set output output
set title "The driver's share of each operation, ".what noenhanced
set ylabel "instructions"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set xtics rotate by -45 noenhanced
set rmargin 9
set key top left
set grid ytics
set logscale y
plot shares using 2:xtic(1) title "built-in", '' using 3 title "corepmu"
