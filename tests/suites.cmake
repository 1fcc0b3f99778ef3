# What a build tests. "all" is the suite of results. The others are for builds in which everything takes ten times as
# long: they test what only such a build can find, and leave the rest to the builds with "all", which run the same code
# (docs/decisions/0011-build-time.md). Nothing is left out in another place than this. What is compiled and left out carries
# the label "slow", as suites called *Slow* do: scripts/test --fast runs neither.
set(LAMINA_TEST_SUITE all CACHE STRING
  "Which tests: all, memory (with sanitizers), threads (with ThreadSanitizer), processor (under an emulator) or parts (without optional parts)")
set_property(CACHE LAMINA_TEST_SUITE PROPERTY STRINGS all memory threads processor parts)

set(suite_sources ".*")                # of the test program
set(suite_left_out "")                 # its tests: a filter of GoogleTest's
set(suite_cli ".*")                    # of the program: tests/cli/NAME_test.py
set(suite_cli_left_out "^$")           # of those
set(suite_cuda_emulated TRUE)          # the kernels for GPUs on the host
set(suite_fuzz_corpus TRUE)            # replayed by the test program
set(suite_thin FALSE)                  # fewer problems and thread counts of every kind (tests/thin.h)
if(LAMINA_SANITIZE OR NOT LAMINA_TEST_SUITE STREQUAL "all")
  set(suite_thin TRUE)
endif()
if(LAMINA_TEST_SUITE STREQUAL "memory")
  # Bytes from outside, files, threads, processes, everything with a lifetime, and the kernels at their edges.
  string(CONCAT suite_sources "^(base|data|layer|fuzz)/|^boost/(row_bins|tree_kernels)_|^cluster/communicator_|^conformance/(layer|distance|typed|reductions)_|^nn/(conjunctions|executor|network|parameter_array)_|"
    "^model/(answer|c_interface|many_threads|model|predictions|predictor|row_encoder|safetensors|zero_weights|matrix_file)_|^train/history_|^run/(run_control|session)_|^library_example_")
  # Guards around matrices find what GPU kernels write outside of them in the suite of results; compute-sanitizer in scripts/gpu-check.
  set(suite_cuda_emulated FALSE)
  set(suite_left_out
    *SameBitsForEverySlicing* LibraryExample.TunedPlans     # equal bits, of the code that other tests run
    *OfReals/* *ForwardOfEveryActivation/* *OfEverySlope/*  # rounding and formulas: their accesses are those of the integers
    RealDataTest.* KddCup99.RealFiles TrainSession.EveryBackend* TrainSession.DigitsEndToEnd)  # the same readers and steps for minutes
  # Of the program: what it does with files, flags and bytes that are wrong, and with ends in the middle.
  set(suite_cli "^(bad_data|config|gaps|golden|limits|two_runs)$")
elseif(LAMINA_TEST_SUITE STREQUAL "threads")
  # Teams and what they compute, sessions and searches that are watched and stopped from other threads, models that many threads use;
  # the window's workers are tests/gui.
  string(CONCAT suite_sources "^base/(team|team_choice|unfinished_files|file_claim)_|^cluster/(communicator|sharded_steps)_|^layer/neighbours_|"
    "^conformance/(layer|distance|reductions|update)_|^nn/(executor|parameter_array|training_steps)_|^model/(answer|c_interface|many_threads|predictor)_|"
    "^search/(search|shared_folder)_|^train/trainer_|^run/(run_control|session)_|^library_example_")
  set(suite_cuda_emulated FALSE)
  set(suite_fuzz_corpus FALSE)
  set(suite_left_out *SameBitsForEverySlicing* LibraryExample.TunedPlans  # equal bits, of the code that other tests run
    TrainSession.EveryBackendLearnsTheDigits)  # with the threads of a BLAS, which ThreadSanitizer does not understand
  set(suite_cli "^two_runs$")
elseif(LAMINA_TEST_SUITE STREQUAL "processor")
  # What depends on the processor: kernels, conversions, signs of char, orders of memory, and how it is trained and answered with.
  set(suite_sources "^base/(convert|team)_|^boost/tree_kernels_|^conformance/|^data/encode/|^nn/(conjunctions|training_steps)_|^model/(predictor|row_encoder|zero_weights)_|^run/resume_")
  set(suite_cuda_emulated FALSE)
  set(suite_fuzz_corpus FALSE)
elseif(LAMINA_TEST_SUITE STREQUAL "parts")
  # What is computed by other means where a part is missing, or with the kernels that a lesser processor has (LAMINA_ISA=avx2), and
  # what the program says of both. Every kernel of every instruction set against the oracle is in the suite of results.
  string(CONCAT suite_sources "^(boost|layer|rbf|tune)/|^base/(hardware|opened_library|team)_|^conformance/(implementations|instruction_sets)_|"
    "^nn/([a-qs-z]|residual)|^train/(abandon|block_order|history|int8_gradients|learning|routes|trainer)_|"
    "^model/(answer|c_interface|predictor|rows_together)_|^run/(kernel_training|resume|session|tree_training)_|^library_example_")
  set(suite_cuda_emulated FALSE)
  set(suite_fuzz_corpus FALSE)
  set(suite_thin FALSE)
  set(suite_cli "^(bad_settings|cuda_plugin|environment|first_pages|golden|help|layer|limits|methods|model|output|serve|tune|weights)$")
elseif(NOT LAMINA_TEST_SUITE STREQUAL "all")
  message(FATAL_ERROR "LAMINA_TEST_SUITE is \"${LAMINA_TEST_SUITE}\". Known: all, memory, threads, processor, parts.")
elseif(LAMINA_SANITIZE)  # all tests with sanitizers, preset tsan for one: without what takes minutes each; MPI libraries leak
  set(suite_left_out Paper2016.* Matrix.* Candidates.* DataFeed.Training* RecordedSteps.ClippedAndSmoothed RecordedSteps.EveryRule
    *SameBitsForEverySlicing* Fsvc/* LibraryExample.TunedPlans ZerosConformance*SCALAR* */ZerosConformance*SCALAR*)
  set(suite_cli_left_out "^(cluster|docs|encode|help_examples|paper_2016|recipes|tools|tune|weights)$")
endif()
