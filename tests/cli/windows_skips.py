"""Tests that say nothing of the program for Windows, or that Wine cannot carry, each with the reason.

A file is given a reason for all of it, or names "Case.test" or "Case" with theirs.
"""

SCRIPT = "is of the scripts of this repository, not of the program"
PRELOADED = "puts a library before libc, which Wine's programs have not"
SIGNALS = "is of POSIX's signals; windows_test.py has Ctrl-C"
NAMES = "gives files names that Windows forbids (control characters, quotation marks, <, |)"
OTHER = "is of what the program for Windows leaves out"

SKIPS = {
    "cluster_test": OTHER,
    "config_test": {
        "ConfigTest.test_characters_outside_of_quotes": NAMES,
        "ConfigTest.test_text_is_written_so_that_it_reads_back": NAMES,
    },
    "crash_consistency_test": PRELOADED,
    "cuda_plugin_test": OTHER,
    "docs_test": SCRIPT,
    "example_test": "is of the library's example",
    "faults_test": PRELOADED,
    "first_pages_test": SCRIPT,
    "gpu_check_test": OTHER,
    "kill_test": SIGNALS,
    "names_test": NAMES,
    "package_test": SCRIPT,
    "page_test": "is of pages, which do not differ",
    "release_test": SCRIPT,
    "serve_limits_test": {
        "ServeLimitsTest.test_a_full_disk_for_the_log_loses_lines_and_no_request": "takes /dev/full, which Windows has not",
        "ServeLimitsTest.test_nginx_brings_tls_and_users": OTHER,
    },
    "serve_test": {"ServeTest.test_unix_socket": OTHER},
    "signals_test": SIGNALS,
    "static_file_test": "is of the file for Linux",
    "terminal_test": "is of POSIX's terminals",
}
