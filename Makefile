# SPDX-License-Identifier: Apache-2.0
# make demo    install what is missing, build, and optimize one kernel: no key, no GPU
# make test    install what is missing, build, and run every test
# make check   make test, and the same under sanitizers and clang-tidy (what CI runs)
# make check-long  what is too slow for CI: ten minutes of processes that share a journal and are killed
# make build   install what is missing, and build release binaries into build/release/bin
# make surreal fetch the SurrealDB engine that tests of the knowledge store run against (make test does it too)
# make install build, and install to PREFIX (default /usr/local)

SHELL := /bin/bash
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
export CCACHE_SLOPPINESS := pch_defines,time_macros
LAUNCHER := $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache,)

.PHONY: surreal demo test check check-long build install deps deps-build asan tsan tidy format clean

demo: build
	build/release/bin/accelopt run suites/nkibench-cpu/matmul --workspace build/demo --iterations 4
	build/release/bin/accelopt best --workspace build/demo --output build/demo/matmul-best --force

test: deps surreal
	cmake --preset test $(LAUNCHER)
	cmake --build --preset test -j $(JOBS)
	ctest --preset test -j $(JOBS) --no-tests=error

build: deps-build
	cmake --preset release $(LAUNCHER) -DACCELOPT_TESTS=OFF -DACCELOPT_BENCH=OFF -DACCELOPT_WERROR=OFF
	cmake --build --preset release -j $(JOBS)

check: test asan tsan tidy

check-long: deps
	cmake --preset test $(LAUNCHER)
	cmake --build --preset test -j $(JOBS) --target accelopt accelopt-arena accelopt-card steady_worker
	ctest --preset test -C long -L long --no-tests=error

asan: deps surreal
	cmake --preset asan $(LAUNCHER)
	cmake --build --preset asan -j $(JOBS) --target accelopt_tests
	ctest --preset asan -j $(JOBS) --no-tests=error

tsan: deps surreal
	cmake --preset tsan $(LAUNCHER)
	cmake --build --preset tsan -j $(JOBS) --target accelopt_tests
	ctest --preset tsan -j $(JOBS) --no-tests=error

tidy: deps
	cmake --preset tidy
	scripts/tidy.sh build/tidy

surreal: deps
	@scripts/fetch-surreal.sh

format:
	git ls-files '*.cpp' '*.hpp' ':!suites' | xargs clang-format -i

install: build
	cmake --install build/release --prefix $(PREFIX)

deps:
	@scripts/install-deps.sh

deps-build:
	@scripts/install-deps.sh --build

clean:
	rm -rf build
