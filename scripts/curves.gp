# The learning curves of scripts/demo: loss against training time, one line a backend.
# Needs the variables kind (svg or png) and backends (names separated by spaces).
if (kind eq "svg") { set terminal svg size 800,500 } else { set terminal pngcairo size 800,500 }
set output "demo/curves.".kind
set datafile separator ","
set title "Handwritten digits: the same training on each backend"
set xlabel "training time, s"
set ylabel "training loss"
set logscale y
set grid
plot for [b in backends] "demo/history-".b.".csv" using "seconds":"train_loss" with lines linewidth 2 title b
