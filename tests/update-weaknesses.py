#!/usr/bin/env python3
"""Brings the table of weaknesses up to date.

  tests/update-weaknesses.py PATH

PATH is MITRE's catalogue of the Common Weakness Enumeration as XML. The table was made from the file
`package/raw/cwe-archive.xml` of the npm package cwe-sdk 1.1.19, which is the catalogue 4.15 (`npm pack cwe-sdk@1.1.19`).
Writes crates/model/src/domain/review/weaknesses.tsv: one weakness a line, sorted by id, without those that are deprecated. Parents and
neighbours are the relationships of view 1000, Research Concepts. The other views sort weaknesses for a purpose, and
would make relatives of unlike weaknesses.
"""
import argparse, pathlib, xml.etree.ElementTree as ET

TABLE = pathlib.Path(__file__).resolve().parent.parent / "crates/model/src/domain/review/weaknesses.tsv"
NAMES = {"c": "http://cwe.mitre.org/cwe-7"}
HEADER = """\
# Weaknesses of the Common Weakness Enumeration {version} ({date}), https://cwe.mitre.org, by tests/update-weaknesses.py:
# id, parents, neighbours (peers, and weaknesses that one can lead to or can also be), name.
#
# Copyright (c) 2006-{year}, The MITRE Corporation. CWE is a trademark of The MITRE Corporation. MITRE grants a
# non-exclusive, royalty-free license to use CWE for research, development, and commercial purposes. Any copy made for
# such purposes is authorized on the condition that it reproduces MITRE's copyright designation and this license.
# CWE is provided "as is", without warranty of any kind (https://cwe.mitre.org/about/termsofuse.html).
"""


def related(weakness, natures):
    relations = weakness.iterfind("c:Related_Weaknesses/c:Related_Weakness", NAMES)
    ids = {int(r.get("CWE_ID")) for r in relations if r.get("View_ID") == "1000" and r.get("Nature") in natures}
    return ",".join(map(str, sorted(ids)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("path", type=pathlib.Path)
    catalogue = ET.parse(parser.parse_args().path).getroot()
    rows = {}
    for weakness in catalogue.iterfind("c:Weaknesses/c:Weakness", NAMES):
        if weakness.get("Status") == "Deprecated":
            continue
        number, name = int(weakness.get("ID")), " ".join(weakness.get("Name").split())
        parents, neighbours = related(weakness, ["ChildOf"]), related(weakness, ["PeerOf", "CanPrecede", "CanAlsoBe"])
        rows[number] = f"{number}\t{parents}\t{neighbours}\t{name}\n"
    date = catalogue.get("Date")
    header = HEADER.format(version=catalogue.get("Version"), date=date, year=date[:4])
    TABLE.write_text(header + "".join(rows[number] for number in sorted(rows)), encoding="utf-8")
    print(f"{len(rows)} weaknesses")


if __name__ == "__main__":
    main()
