# The learning curves of scripts/demo: left, loss by epoch of one backend; right, how fast each backend gets there.
# Needs the variables kind (svg or png), folder and backends (names separated by spaces).
if (kind eq "svg") { set terminal svg size 1000,450 background "white" } else { set terminal pngcairo size 1000,450 }
set output folder."/curves.".kind
set datafile separator ","
set grid
set autoscale fix
set offsets graph 0.02, graph 0.02, graph 0.1, graph 0.05
set key top right opaque
set multiplot layout 1,2 title "Handwritten digits: 64-1024-512-10"
last = word(backends, words(backends))
set title "loss by epoch (backend ".last.")"
set xlabel "epoch"
set ylabel "cross entropy"
plot folder."/history-".last.".csv" using "epoch":"train_loss" with linespoints linewidth 2 pointtype 7 pointsize 0.5 title "training", \
     "" using "epoch":"validation_loss" with linespoints linewidth 2 pointtype 5 pointsize 0.5 title "validation"
set title "the same training on each backend"
set xlabel "training time, s (logarithmic)"
set ylabel "validation loss"
set logscale x
time = 0
elapsed(epoch, seconds) = (time = (epoch == 1 ? 0 : time) + seconds)
plot for [i=1:words(backends)] folder."/history-".word(backends, i).".csv" \
  using (elapsed(column("epoch"), column("train_seconds"))):"validation_loss" with linespoints linewidth 2 pointtype i \
  pointsize 0.5 title word(backends, i)
unset multiplot
