# The learning curves of scripts/demo: loss on rows not trained on, against the time spent training, one line a backend.
# Needs the variables kind (svg or png) and backends (names separated by spaces).
if (kind eq "svg") { set terminal svg size 800,500 background "white" } else { set terminal pngcairo size 800,500 }
set output "demo/curves.".kind
set datafile separator ","
set title "Handwritten digits: the same training on each backend"
set xlabel "training time, s"
set ylabel "validation loss"
set logscale xy
set grid
time = 0
elapsed(epoch, seconds) = (time = (epoch == 1 ? 0 : time) + seconds)
plot for [b in backends] "demo/history-".b.".csv" \
  using (elapsed(column("epoch"), column("train_seconds"))):"validation_loss" with lines linewidth 2 title b
