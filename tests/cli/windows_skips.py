"""Tests that say nothing of the program for Windows, or that Wine cannot carry, each with the reason.

A file is given a reason for all of it, or names "Case.test" or "Case" with theirs.
"""

PAGES = "is of pages, which do not differ"
SCRIPT = "is of the scripts of this repository, not of the program"
PRELOADED = "puts a library before libc, which Wine's programs have not"
SIGNALS = "is of POSIX's signals; windows_test.py has Ctrl-C"
LIMITS = "sets a limit of POSIX (setrlimit), or fills /dev/full"
NAMES = "gives files names that Windows forbids (control characters, quotation marks, <, |)"
CURL = "downloads by curl, which Windows has and Wine has not"
SHELL = "starts a script of sh, whose end Wine neither tells nor brings about"
OTHER = "is of what the program for Windows leaves out"

SKIPS = {
    "cluster_test": OTHER,
    "c_source_test": {
        "CSourceTest.test_int8_of_methods_two_classes_and_numbers": "compares bits of exp() of Windows' and of this system's C library",
    },
    "config_test": {
        "ConfigTest.test_characters_outside_of_quotes": NAMES,
        "ConfigTest.test_text_is_written_so_that_it_reads_back": NAMES,
    },
    "encode_test": {
        "EncodeTest.test_a_full_disk_and_an_interrupt_leave_nothing": LIMITS,
        "EncodeTest.test_an_interrupt_ends_the_reading": SIGNALS,
        "EncodeTest.test_rows_pass_through_little_memory": "counts the 22 MB of Wine's own libraries, too",
    },
    "export_test": {"ExportTest.test_of_several_files_all_are_written_or_none": LIMITS},
    "crash_consistency_test": PRELOADED,
    "cuda_plugin_test": OTHER,
    "docs_test": SCRIPT,
    "example_test": "is of the library's example",
    "faults_test": PRELOADED,
    "first_pages_test": SCRIPT,
    "gpu_check_test": OTHER,
    "interrupt_test": {"InterruptTest.test_interrupt_saves_and_resume_ends_with_the_same_bits": SIGNALS},
    "kill_test": SIGNALS,
    "layer_test": {
        "LayerTest.test_an_output_larger_than_the_disk_or_allowed_leaves_nothing": LIMITS,
        "LayerTest.test_control_c_leaves_nothing_behind": SIGNALS,
    },
    "names_test": NAMES,
    "older_systems_test": SCRIPT,
    "others_files_test": {
        "OthersFilesTest.test_pictures_are_refused_before_searching_and_explaining": "sets TMPDIR, which Wine takes itself",
        "OthersFilesTest.test_pictures_are_refused_before_training": "sets TMPDIR, which Wine takes itself",
    },
    "output_test": {
        "OutputTest.test_an_input_that_is_cut_short_meanwhile": "cuts a mapped file short, which Windows refuses",
    },
    "package_test": SCRIPT,
    "paper_2016_test": {
        "BenchPaper2016Test.test_a_script_that_fails_is_a_column": SHELL,
        "BenchPaper2016Test.test_files_and_peers": SHELL,
        "BenchPaper2016Test.test_interrupt_ends_the_peers_and_writes_nothing": SHELL,
    },
    "page_test": PAGES,
    "release_test": SCRIPT,
    "serve_limits_test": {
        "ServeLimitsTest.test_a_full_disk_for_the_log_loses_lines_and_no_request": "takes /dev/full, which Windows has not",
        "ServeLimitsTest.test_nginx_brings_tls_and_users": OTHER,
    },
    "serve_test": {"ServeTest.test_unix_socket": OTHER},
    "signals_test": SIGNALS,
    "static_file_test": "is of the file for Linux",
    "tools_test": {
        "BenchMatrixTest.test_peers_of_a_program_alone": "copies the program, which is a script that starts Wine here",
        "BenchPaper2017Test.test_files": "looks for the advice that Debian's users get",
        "FetchTest.test_download_and_again": CURL,
        "InstructionLevelTest.test_devices_say_what_is_used_and_what_is_left_out": "asks for AMX, which is used on Linux alone",
    },
    "tune_test": {
        "TuneTest.test_no_folder_for_profiles": "leaves out the folder of caches, which Windows gives to every user",
        "TuneTest.test_control_c_is_heard_while_candidates_are_verified_and_in_the_sweep": SIGNALS,
    },
    "untrusted_test": {"UntrustedTest.test_no_text_is_a_command": NAMES},
    "terminal_test": "is of POSIX's terminals",
    "web_files_test": PAGES,
    "web_flows_test": PAGES,
    "web_large_test": PAGES,
    "web_test": PAGES,
    "web_views_test": PAGES,
}
