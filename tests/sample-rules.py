#!/usr/bin/env python3
"""Draws a sample of the embedded reviewer's findings in public repositories and counts its labels.

  tests/sample-rules.py --glee PROGRAM --repos DIR [--seed N] [--most N]

DIR has clones of the repositories that tests/labelled/README.md names, at its commits. Draws at most N findings a rule
(10) by the seed (26), and reads their labels from tests/labelled/public.tsv. Ends with 1 if a drawn place has no label, if
fewer than 80% of the places are true or worth a comment, or fewer than 90% of the mandatory ones.
"""
import argparse, collections, json, os, pathlib, random, subprocess, sys, tempfile

TABLE = pathlib.Path(__file__).resolve().parent / "labelled/public.tsv"
CONFIGURATION = "agents:\n  - {name: rules, role: reviewer, command: 'builtin:rules'}\n"

parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
parser.add_argument("--glee", required=True, type=os.path.abspath)
parser.add_argument("--repos", required=True, type=pathlib.Path)
parser.add_argument("--seed", default="26")
parser.add_argument("--most", default=10, type=int)
options = parser.parse_args()

rows = [line.split("\t") for line in TABLE.read_text().splitlines() if not line.startswith("#")]
labels = {tuple(row[:3]): row[3:] for row in rows}
by_rule = collections.defaultdict(list)
with tempfile.TemporaryDirectory() as home:
    folder = pathlib.Path(home, ".config/glee")
    folder.mkdir(parents=True)
    (folder / "config.yml").write_text(CONFIGURATION)
    for repository in ["caddy", "click", "gson", "ripgrep", "trpc"]:
        command = [options.glee, "review", ".", "--full", "--no-input", "--quiet", "--format", "json"]
        environment = {"HOME": home, "PATH": os.environ["PATH"]}
        review = subprocess.run(command, cwd=options.repos / repository, env=environment, stdout=subprocess.PIPE)
        for finding in json.loads(review.stdout)["findings"]:
            place = (repository, f"{finding['file']}:{finding['line']}", finding["rule"])
            by_rule[finding["rule"]].append((place, finding["mandatory"]))

drawn = []
for rule, findings in sorted(by_rule.items()):
    most = min(options.most, len(findings))
    drawn += random.Random(f"{options.seed} {rule}").sample(sorted(findings), most)
missing = [place for place, _ in drawn if place not in labels]
for place in missing:
    print("no label:", *place)
is_enough = not missing
for reader in (0, 1):
    for kind, least in [("all", 0.8), ("mandatory", 0.9)]:
        read = [labels[place][reader] for place, mandatory in drawn
                if place in labels and (mandatory or kind == "all")]
        good = sum(label != "wrong" for label in read)
        is_enough &= good >= least * len(read)
        print(f"reader {reader + 1}, {kind}: {good} of {len(read)} true or worth a comment")
sys.exit(not is_enough)
