#!/usr/bin/env python3
"""Brings the packaged rules for secrets up to date.

  tests/update-secret-rules.py PATH [--check]

PATH is gitleaks' `config/gitleaks.toml` (https://github.com/gitleaks/gitleaks, MIT). Copies it to
crates/protocol/src/secrets/gitleaks.toml, writes the names of its rules to crates/protocol/src/secrets/upstream-ids.txt, and prints what
was added, removed and changed. With --check nothing is written, and the exit code says whether anything differs.
"""
import argparse, pathlib, sys, tomllib

OWN = pathlib.Path(__file__).resolve().parent.parent / "crates/protocol/src/secrets"


def rules(text):
    return {rule["id"]: rule for rule in tomllib.loads(text)["rules"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    text = args.path.read_text(encoding="utf-8")
    new, old = rules(text), rules((OWN / "gitleaks.toml").read_text(encoding="utf-8"))
    if not new:
        sys.exit(f"{args.path} has no rules")
    lines = [f"+ {name}" for name in new if name not in old]
    lines += [f"- {name}" for name in old if name not in new]
    for name in new:
        if name in old and new[name] != old[name]:
            keys = sorted(k for k in new[name].keys() | old[name].keys() if new[name].get(k) != old[name].get(k))
            lines.append(f"~ {name}: {', '.join(keys)}")
    print("\n".join(lines) if lines else "no rule differs")
    print(f"{len(new)} rules")
    if args.check:
        sys.exit(1 if lines else 0)
    (OWN / "gitleaks.toml").write_text(text, encoding="utf-8")
    (OWN / "upstream-ids.txt").write_text("".join(f"{name}\n" for name in new), encoding="utf-8")


if __name__ == "__main__":
    main()
