"""What changed between two lists of files."""


def changes(before, after):
    before, after = set(before), set(after)
    return {"added": sorted(before - after), "removed": sorted(after - before)}
