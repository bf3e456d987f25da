# The commands of daily work; `just` lists them.

default:
    @just --list

# Types and lints, without building
check:
    cargo clippy --locked --all-targets --all-features -- -D warnings

# Everything but the fault table: two to three minutes
test *ARGS:
    cargo nextest run --locked --no-fail-fast -E 'not binary(faults)' {{ARGS}}

# A sample of the fault table; `just faults --include-ignored` runs all of it, `just faults undo` rows by name
faults *ARGS:
    cargo test --locked --test faults -- {{ARGS}}

# The real agent programs against a model server on loopback
real-agents *ARGS:
    tests/real_agents/run.sh {{ARGS}}

# One benchmark: start, merge, vote, review, snapshot, watch
bench NAME *ARGS:
    cargo bench --locked --bench {{NAME}} -- {{ARGS}}

# Accepts changed snapshots and JSON schemas; read the diff before committing
accept *ARGS:
    UPDATE_SCHEMA=1 INSTA_UPDATE=always cargo nextest run --locked {{ARGS}}

# Tokens of the program code, and the habits that pack it
size:
    .ci/size --by-folder

# Licences, sources and advisories of the dependencies
deny:
    cargo deny check

# All that has to pass before a change lands
ci:
    .ci/run

# Every fault, every real program, the pages in a browser, fuzzing: an hour
nightly:
    .ci/nightly
