# SPDX-License-Identifier: Apache-2.0
# make demo    install what is missing, build, and optimize one kernel: no key, no GPU
# make test    install what is missing, build, and run the quick tests: four to five minutes on two cores once all is built
# make test-slow  the others, which take a quarter of an hour or more: larger searches, repositories, other people's clients (label `slow`)
# make check   make test and test-slow, the benchmarks compiled, the tests under sanitizers (those that can run there, there alone), and clang-tidy
#              (what CI runs)
# make check-long  what is too slow for CI: ten minutes of processes that share a journal and are killed, a program's own speed-up
#                  against the reported one, the documentation's examples at their own sizes and every CUDA kernel of the
#                  self-test, reports by the validator of the HTML standard, the Debian package, ten minutes of changed inputs for each
#                  reader of outside text, on an otherwise idle machine
# make fuzz    changed inputs for every reader of outside text, under sanitizers and guided by branches: SECONDS_EACH=600 JOBS=N at once
# make fuzz-kit    the same as a folder to carry to a machine that has time, with bench/scale beside it: build/fuzz-kit
# make check-gpu   what needs a CUDA device, about five minutes on an otherwise idle one
# make build   install what is missing, and build release binaries into build/release/bin
# make fetch   fetch what tests run against: the SurrealDB engine, MCP clients, checks of pages, Agno, NVRTC, grammars (make test does it too)
# make install build, and install to PREFIX (default /usr/local); make uninstall removes it again
# make wheel   make a Python wheel of the program and its module: build/release/accelopt-VERSION-py3-none-PLATFORM.whl
# make deb     build, and make a Debian package of it: build/release/accelopt_VERSION_ARCHITECTURE.deb

SHELL := /bin/bash
# The largest of the compilers takes 2.5 GB.
JOBS ?= $(shell awk -v cores=$$(nproc) '/MemAvailable/ { jobs = int($$2 / 2.5e6); print jobs < 1 ? 1 : jobs < cores ? jobs : cores }' /proc/meminfo)
# Many tests wait, for servers or for the machine's lock: two more than there are processors keep these busy.
TEST_JOBS ?= $(shell expr $$(nproc) + 2)
SECONDS_EACH ?= 600
# OFF: `make test` and `make test-slow` leave out the sets of unit tests that `make asan` runs.
SANITIZED_TESTS ?= ON
PREFIX ?= /usr/local
export CCACHE_SLOPPINESS := pch_defines,time_macros
LAUNCHER := $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache,)
# Where an earlier build of the preset $(1) was another compiler's.
anew = $(shell grep -qs 'CMAKE_CXX_COMPILER:.*clang' build/$(1)/CMakeCache.txt || echo --fresh)

.PHONY: fetch demo test test-build test-slow bench-build check check-long fuzz fuzz-kit check-gpu build install deb wheel uninstall deps deps-build asan asan-build tsan tsan-build tidy \
        format clean

demo: build
	build/release/bin/accelopt run suites/nkibench-cpu/matmul --workspace build/demo --iterations 4
	build/release/bin/accelopt best --workspace build/demo --output build/demo/matmul-best --force

# Fetching mostly waits, so it goes on while the compilers work.
test-build: deps
	@mkdir -p build && { scripts/fetch.sh > build/fetch.log 2>&1 & fetching=$$!; \
	  cmake --preset test $(LAUNCHER) -DACCELOPT_SANITIZED_TESTS=$(SANITIZED_TESTS) && cmake --build --preset test -j $(JOBS); built=$$?; \
	  wait $$fetching; cat build/fetch.log; exit $$built; }

bench-build: deps
	cmake --preset test $(LAUNCHER) -DACCELOPT_SANITIZED_TESTS=$(SANITIZED_TESTS)
	cmake --build --preset test -j $(JOBS) --target accelopt_benchmarks

test: test-build
	ctest --preset test -j $(TEST_JOBS) --no-tests=error

test-slow: test-build
	ctest --preset test-slow -j $(TEST_JOBS) --no-tests=error

build: deps-build
	cmake --preset release $(LAUNCHER) -DACCELOPT_TESTS=OFF -DACCELOPT_BENCH=OFF
	cmake --build --preset release -j $(JOBS)

check: SANITIZED_TESTS = OFF
check: test test-slow bench-build asan tsan tidy

check-long: deps fetch
	cmake --preset test $(LAUNCHER) -DACCELOPT_SANITIZED_TESTS=$(SANITIZED_TESTS)
	cmake --build --preset test -j $(JOBS) --target accelopt accelopt-arena accelopt-device accelopt-nvrtc steady_worker recorded_worker fuzz cli_test bench_transfer
	ctest --preset test -C long -L long -E '^long\.fuzz\.' --no-tests=error
	scripts/fuzz.sh $(SECONDS_EACH) $(JOBS) build/fuzz-findings build/test/bin/fuzz tests/fixtures

# With sanitizers, and following branches.
fuzz: deps
	cmake --preset fuzz $(LAUNCHER)
	cmake --build --preset fuzz -j $(JOBS) --target fuzz
	scripts/fuzz.sh $(SECONDS_EACH) $(JOBS) build/fuzz-findings build/fuzz/bin/fuzz tests/fixtures

# A folder that runs where nothing is installed but the C++ library: `build/fuzz-kit/run.sh SECONDS JOBS OUT`.
fuzz-kit: deps
	cmake --preset fuzz $(LAUNCHER)
	cmake --build --preset fuzz -j $(JOBS) --target fuzz
	cmake --preset release $(LAUNCHER) -DACCELOPT_TESTS=OFF -DACCELOPT_BENCH=ON
	cmake --build --preset release -j $(JOBS) --target bench_scale
	scripts/make-fuzz-kit.sh build/fuzz/bin/fuzz build/release/bench/scale build/fuzz-kit

check-gpu: deps fetch
	cmake --preset test $(LAUNCHER) -DACCELOPT_SANITIZED_TESTS=$(SANITIZED_TESTS)
	cmake --build --preset test -j $(JOBS) --target accelopt accelopt-arena accelopt-device accelopt-nvrtc
	ctest --preset test -L gpu --no-tests=error

asan-build: deps fetch
	cmake $(call anew,asan) --preset asan $(LAUNCHER)
	cmake --build --preset asan -j $(JOBS) --target accelopt_tests

asan: asan-build
	ctest --preset asan -j $(TEST_JOBS) --no-tests=error

tsan-build: deps fetch
	cmake $(call anew,tsan) --preset tsan $(LAUNCHER)
	cmake --build --preset tsan -j $(JOBS) --target accelopt_tests

tsan: tsan-build
	ctest --preset tsan -j $(TEST_JOBS) --no-tests=error

tidy: deps
	cmake --preset tidy
	scripts/tidy.sh build/tidy

fetch: deps
	@scripts/fetch.sh

format:
	git ls-files '*.cpp' '*.hpp' ':!suites' ':!exploits' ':!packages' ':!tests/blackbox/programs' ':!bench/kernels' ':!drivers' | xargs clang-format -i

install: build
	cmake --install build/release --prefix $(PREFIX)

deb: build
	scripts/make-deb.sh build/release build/release

wheel: deps-build
	scripts/make-wheel.sh build/release

uninstall:
	@test -f build/release/install_manifest.txt || { echo "make uninstall: nothing was installed from here" >&2; exit 1; }
	xargs -d '\n' rm -fv < build/release/install_manifest.txt
	rmdir --ignore-fail-on-non-empty -p $$(xargs -d '\n' -n 1 dirname < build/release/install_manifest.txt | sort -ru | grep /accelopt) 2>/dev/null || true
	rm -f build/release/install_manifest.txt

deps:
	@scripts/install-deps.sh

deps-build:
	@scripts/install-deps.sh --build

clean:
	rm -rf build
